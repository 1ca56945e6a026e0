// The answers of a host out of order, twice, late, to nobody and of the wrong kind: to dialogs of an extension and to
// calls of its own tools, in the real program. Plain JavaScript, so that the test and the long run share it.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { StrictReader } from "../../test/kit/strict-frames.mjs";
import { dialogMethods, planCall, planDialog, randomOf } from "./answer-plans.mjs";

const bin = fileURLToPath(new URL("../../bin/galley.js", import.meta.url));
const perRound = 200;
const timedTool = "probe_timed";

/** Opens all dialogs that it is told to at once, and tells what came of each. */
const storm = `export default (pi) => pi.registerCommand("storm", { handler: async (args, ctx) => {
  const told = await Promise.all(JSON.parse(args).map(async ({ key, method, timeout, abortAfterMs }) => {
    let isLate = false;
    const controller = new AbortController();
    if (abortAfterMs) setTimeout(() => controller.abort(), abortAfterMs);
    const extra = { signal: controller.signal, timeout, onTimeout: () => { isLate = true; } };
    const second = { select: ["a", "b"], confirm: "?" }[method];
    return [key, (await ctx.ui[method](key, second, extra)) ?? null, isLate];
  }));
  ctx.ui.notify(JSON.stringify(told));
} });`;

/** At least `count` answers. Rejects when the program ends on its own; a round that does not end is a hang. */
export async function runAnswers({ seed, count, patienceMs = 20_000 }) {
  const home = mkdtempSync(join(tmpdir(), "galley-answers-"));
  const model = await startModel();
  const child = startProgram(home, model.url);
  const host = new Host(child, patienceMs);
  const figures = { rounds: 0, answers: 0, dialogs: 0, calls: 0, hangs: 0, wrong: 0, consents: 0 };
  const problems = [];
  const random = randomOf(seed);
  const started = performance.now();
  try {
    await host.until((frame) => frame.type === "ready");
    const parameters = { type: "object", properties: { key: { type: "string" } }, required: ["key"] };
    const tool = { name: "probe", description: "Probe", parameters };
    await host.ask({ type: "set_host_tools", tools: [tool, { ...tool, name: timedTool, timeoutMs: 20 }] });
    while (figures.answers < count && problems.length < 10) {
      const play = random.chance(0.6) ? playDialogs : playCalls;
      figures.rounds++;
      await play({ host, model, random, figures, problems });
    }
    const elapsedMs = performance.now() - started;
    const { code, stderr } = await host.end();
    const notes = stderr.split("\n").filter((line) => line !== "" && !/ was ignored$/.test(line));
    host.strict.verify();
    return { ...figures, elapsedMs, exitCode: code, stderr: notes.join("\n"), problems };
  } catch (error) {
    if (!(error instanceof Hang)) throw error;
    return {
      ...figures,
      hangs: figures.hangs + 1,
      elapsedMs: 0,
      exitCode: null,
      stderr: host.stderr,
      problems: [error.message],
    };
  } finally {
    child.kill("SIGKILL");
    model.close();
    rmSync(home, { recursive: true, force: true });
  }
}

async function playDialogs({ host, random, figures, problems }) {
  const plans = new Map();
  const spec = Array.from({ length: perRound }, (_, index) => {
    const method = random.pick(dialogMethods);
    const plan = planDialog(random, method);
    const key = `d${index}`;
    plans.set(key, { ...plan, method });
    const { timeout, abortAfterMs } = plan;
    return { key, method, timeout, abortAfterMs };
  });
  const byId = new Map();
  host.send(random, [{ id: "storm", type: "prompt", message: `/storm ${JSON.stringify(spec)}` }]);
  const told = await host.until((frame) => {
    if (frame.type !== "extension_ui_request") return false;
    if (frame.method === "notify") return true;
    if (frame.method === "cancel") {
      const late = plans.get(byId.get(frame.targetId))?.afterCancel?.(frame.targetId) ?? [];
      figures.answers += late.length;
      host.send(random, late);
      return false;
    }
    byId.set(frame.id, frame.title);
    if (byId.size === perRound)
      figures.answers += host.send(
        random,
        inAnyOrder(
          random,
          [...byId].map(([id, key]) => plans.get(key).answers(id)),
        ),
      );
    return false;
  });
  figures.dialogs += perRound;
  for (const [key, answer, isLate] of JSON.parse(told.message)) {
    const { kind, method, outcome, isLate: wasLate = false } = plans.get(key);
    if (answer === true && outcome !== true) figures.consents++;
    if (answer === outcome && isLate === wasLate) continue;
    figures.wrong++;
    problems.push(
      `${method}, ${kind}: ${JSON.stringify([answer, isLate])} instead of ${JSON.stringify([outcome, wasLate])}`,
    );
  }
}

async function playCalls({ host, model, random, figures, problems }) {
  await host.ask({ type: "new_session" });
  const isAborted = random.chance(0.2);
  const plans = new Map();
  for (let index = 0; index < perRound / 4; index++) plans.set(`c${index}`, planCall(random, "probe"));
  model.calls = [...plans].map(([id, { isMissing }]) => ({ id, name: isMissing && !isAborted ? timedTool : "probe" }));
  const byId = new Map();
  const ends = new Map();
  host.send(random, [{ id: "calls", type: "prompt", message: "Go" }]);
  await host.until((frame) => {
    if (frame.type === "host_tool_call") {
      byId.set(frame.id, frame.toolCallId);
      if (byId.size < plans.size) return false;
      const answered = random.shuffled([...byId]).slice(0, isAborted ? random.below(plans.size) : plans.size);
      const keys = new Set(answered.map(([, key]) => key));
      for (const [key, plan] of plans) plan.isLeft = !keys.has(key);
      const answers = inAnyOrder(
        random,
        answered.map(([id, key]) => plans.get(key).answers(id)),
      );
      figures.answers += host.send(random, [...answers, ...(isAborted ? [{ id: "abort", type: "abort" }] : [])]);
    }
    if (frame.type === "host_tool_cancel")
      figures.answers += host.send(random, plans.get(byId.get(frame.targetId))?.afterCancel?.(frame.targetId) ?? []);
    if (frame.type === "tool_execution_end") ends.set(frame.toolCallId, frame);
    return frame.type === "agent_settled";
  });
  figures.calls += plans.size;
  for (const [key, { kind, outcome, isError = false, isLeft, isMissing }] of plans) {
    const { result, isError: hasFailed } = ends.get(key) ?? {};
    const text = result?.content[0]?.text;
    const due = isAborted && (isLeft || isMissing) ? /^Host tool ".*" was aborted$/ : outcome;
    const isDue = due instanceof RegExp ? due.test(text) && hasFailed : text === due && hasFailed === isError;
    if (isDue) continue;
    figures.wrong++;
    problems.push(`call, ${kind}: ${JSON.stringify(text)} instead of ${due}`);
  }
}

/** Each list keeps its own order. */
function inAnyOrder(random, lists) {
  const rests = lists.map((list) => [...list]).filter((list) => list.length > 0);
  const frames = [];
  while (rests.length > 0) {
    const index = random.below(rests.length);
    frames.push(rests[index].shift());
    if (rests[index].length === 0) rests.splice(index, 1);
  }
  return frames;
}

class Hang extends Error {}

class Host {
  strict = new StrictReader();
  stderr = "";
  #child;
  #patienceMs;
  #rest = "";
  #frames = [];
  #wake = () => {};
  #exit;

  constructor(child, patienceMs) {
    this.#child = child;
    this.#patienceMs = patienceMs;
    child.stderr.setEncoding("utf8").on("data", (text) => {
      this.stderr += text;
    });
    child.stdin.on("error", () => {});
    child.stdout.setEncoding("utf8").on("data", (text) => {
      const lines = (this.#rest + text).split("\n");
      this.#rest = lines.pop();
      for (const line of lines) {
        this.strict.read(line);
        this.#frames.push(JSON.parse(line));
      }
      this.#wake();
    });
    this.#exit = new Promise((resolve) => child.on("close", (code) => resolve(code)));
  }

  /** How many frames that were; some lines are cut in two on their way. */
  send(random, frames) {
    const bytes = Buffer.from(frames.map((frame) => `${JSON.stringify(frame)}\n`).join(""));
    const cut = random.chance(0.2) ? random.below(bytes.length + 1) : bytes.length;
    this.#child.stdin.write(bytes.subarray(0, cut));
    if (cut < bytes.length) this.#child.stdin.write(bytes.subarray(cut));
    return frames.length;
  }

  /** The frame that ends it, after everything before was looked at. */
  async until(isEnd) {
    const deadline = performance.now() + this.#patienceMs;
    for (;;) {
      while (this.#frames.length > 0) {
        const frame = this.#frames.shift();
        if (isEnd(frame)) return frame;
      }
      if (this.#child.exitCode !== null) throw new Error(`galley ended with ${this.#child.exitCode}: ${this.stderr}`);
      if (performance.now() > deadline) throw new Hang("a round did not end");
      await new Promise((resolve) => {
        this.#wake = resolve;
        setTimeout(resolve, 500).unref();
      });
    }
  }

  async ask(command) {
    this.#child.stdin.write(`${JSON.stringify({ id: "ask", ...command })}\n`);
    return this.until((frame) => frame.type === "response" && frame.id === "ask");
  }

  async end() {
    this.#child.stdin.end();
    return { code: await this.#exit, stderr: this.stderr };
  }
}

function startProgram(home, modelUrl) {
  const agentDir = join(home, "agent");
  const cwd = join(home, "project");
  for (const directory of [agentDir, cwd]) mkdirSync(directory);
  writeFileSync(join(cwd, "storm.mjs"), storm);
  const provider = { baseUrl: `${modelUrl}/v1`, api: "openai-completions", auth: "none", models: [{ id: "calls" }] };
  writeFileSync(join(agentDir, "models.yml"), JSON.stringify({ providers: { acme: provider } }));
  const args = ["--mode", "rpc", "--no-session", "--model", "acme/calls", "-e", "storm.mjs"];
  return spawn(process.execPath, [bin, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: home, GALLEY_AGENT_DIR: agentDir },
    stdio: ["pipe", "pipe", "pipe"],
  });
}

/** A model on the loopback that makes the calls it is told to, and then has nothing more to say. */
async function startModel() {
  const model = { calls: [], url: "", close: () => server.close() };
  const server = createServer(async (request, response) => {
    for await (const _ of request); // the answer does not depend on it
    const calls = model.calls;
    model.calls = [];
    const delta =
      calls.length === 0
        ? { content: "Done." }
        : {
            tool_calls: calls.map(({ id, name }, index) => ({
              index,
              id,
              type: "function",
              function: { name, arguments: JSON.stringify({ key: id }) },
            })),
          };
    const chunk = (fields, reason = null) =>
      `data: ${JSON.stringify({ id: "x", choices: [{ index: 0, delta: fields, finish_reason: reason }] })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`${chunk(delta)}${chunk({}, calls.length === 0 ? "stop" : "tool_calls")}data: [DONE]\n\n`);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  model.url = `http://127.0.0.1:${server.address().port}`;
  return model;
}
