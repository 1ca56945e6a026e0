// Lines that are too long or too deep, and a reader that stops: memory stays bounded, and what comes next works.

import { readFileSync } from "node:fs";
import { replies, Scene } from "./scene.mjs";

const mebibyte = 2 ** 20;

/** Each is one line without its end. */
const giants = {
  "100 MB line": (write) => repeat(write, "x".repeat(mebibyte), 100),
  "1 GB without LF": (write) => repeat(write, "x".repeat(mebibyte), 1024),
  "10,000-deep nesting": (write) => write(`{"type":"abort","v":${"[".repeat(10_000)}${"]".repeat(10_000)}}`),
  "1,000,000 keys": (write) =>
    write(`{"type":"abort",${Array.from({ length: 1_000_000 }, (_, key) => `"${key}":0`).join(",")}}`),
};

export async function runGiants() {
  const figures = { lines: 0, "RSS growth, MiB": 0, "next answer, ms": 0, problems: [] };
  for (const [name, make] of Object.entries(giants)) {
    const scene = await Scene.open({ replies: [replies.text("Hi")] });
    try {
      scene.send({ id: "a", type: "get_state" });
      await scene.response("a");
      const before = memory(scene).nowBytes;
      const write = (text) => new Promise((resolve) => scene.child.stdin.write(text, resolve));
      await make(write);
      await write("\n");
      const started = performance.now();
      scene.send({ id: "b", type: "get_state" });
      await scene.response("b");
      const answerMs = performance.now() - started;
      const growth = (memory(scene).peakBytes - before) / mebibyte;
      figures.lines++;
      figures["RSS growth, MiB"] = Math.max(figures["RSS growth, MiB"], growth);
      figures["next answer, ms"] = Math.max(figures["next answer, ms"], answerMs);
      const refused = scene.frames.filter(({ command }) => command === "parse").length;
      if (refused !== 1) figures.problems.push(`${name}: ${refused} refusals`);
      if (scene.strict.problems.length > 0) figures.problems.push(`${name}: ${scene.strict.problems[0]}`);
    } finally {
      scene.close();
    }
  }
  return figures;
}

/** `count` deltas while nobody reads for `stopMs`, or one byte a second; afterwards the reader goes on. */
export async function runStoppedReader({ count, stopMs, features, isTrickling = false }) {
  const scene = await Scene.open({ replies: [deltas(count)] });
  try {
    if (features) scene.send({ id: "n", type: "negotiate_protocol", protocolVersion: 2, features });
    scene.send({ id: "p", type: "prompt", message: "Talk" });
    await scene.type("message_update");
    const before = memory(scene).nowBytes;
    scene.child.stdout.pause();
    const trickle = isTrickling ? setInterval(() => scene.child.stdout.read(1), 1000) : undefined;
    await new Promise((resolve) => setTimeout(resolve, stopMs));
    clearInterval(trickle);
    const stopped = memory(scene).peakBytes;
    scene.child.stdout.resume();
    await scene.until(() => scene.laws.settled === 1, "agent_settled", 600_000);
    const text = scene.frames.map(({ assistantMessageEvent: event }) => event?.delta ?? "").join("");
    const problems = [...scene.strict.problems, ...scene.laws.end().problems];
    if (text !== expected(count)) problems.push(`${text.length} characters came of ${expected(count).length}`);
    return {
      deltas: count,
      "stopped, s": stopMs / 1000,
      "RSS growth, MiB": (stopped - before) / mebibyte,
      frames: scene.frames.length,
      problems,
    };
  } finally {
    scene.close();
  }
}

/** SIGTERM while the host does not read, when the program has had time to be held up by that. */
export async function runSignalledReader({ count, stopMs }) {
  const scene = await Scene.open({ replies: [deltas(count)] });
  try {
    scene.send({ id: "p", type: "prompt", message: "Talk" });
    await scene.type("message_update");
    scene.child.stdout.pause();
    await new Promise((resolve) => setTimeout(resolve, stopMs));
    const ended = new Promise((resolve) => scene.child.once("exit", resolve)); // "close" would wait for our reading
    const since = performance.now();
    scene.child.kill("SIGTERM");
    const code = await ended;
    return { deltas: count, "until the end, ms": performance.now() - since, "exit code": code - 143 };
  } finally {
    scene.close();
  }
}

const piece = (index) => `${String(index).padStart(6, "0")} `;
const expected = (count) => Array.from({ length: count }, (_, index) => piece(index)).join("");

function deltas(count) {
  return async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const event = (delta, finish = null) =>
      `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    let goOn = () => {};
    for (const name of ["drain", "close"]) response.on(name, () => goOn());
    for (let index = 0; index < count && !response.destroyed; index++)
      if (!response.write(event({ content: piece(index) })))
        await new Promise((resolve) => {
          goOn = resolve;
        });
    response.end(`${event({}, "stop")}data: [DONE]\n\n`);
  };
}

async function repeat(write, text, times) {
  for (let time = 0; time < times; time++) await write(text);
}

function memory({ child }) {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  const of = (name) => Number(status.match(new RegExp(`^${name}:\\s+(\\d+) kB`, "m"))?.[1]) * 1024;
  return { nowBytes: of("VmRSS"), peakBytes: of("VmHWM") };
}
