// Runs the built program as its users do, for the build: to see which units are used when, and to keep what V8 compiled.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const runner = fileURLToPath(new URL("warm-cache.cjs", import.meta.url));
const patienceMs = 60_000;
/** Long enough to be looked for in everything that is said: what does that is part of every usual run. */
const key = "sk-build-0123456789abcdefghijklmnop";

/** From the start to the first answer, without a key and with one. Resolves with the ids of units. */
export async function runStart() {
  const starts = [{}, { ANTHROPIC_API_KEY: key }].map((keys) =>
    inHome((home) =>
      drive(home, { keys }, async (send) => {
        await send({ type: "get_state" }, '"command":"get_state"');
      }),
    ),
  );
  return (await Promise.all(starts)).flat();
}

/** Two prompts and their answers. `keep`: files whose code cache is written. */
export function runPrompts(dist, keep) {
  return inSession(dist, { calls: [], keep }, async () => {});
}

/** What most sessions do, with the tools that are called most. */
export function runSession(dist, keep = []) {
  const calls = [
    ["read", { path: "notes.txt" }],
    ["bash", { command: "true" }],
  ];
  return inSession(dist, { calls, keep }, async (send) => {
    await send({ type: "get_messages" }, '"command":"get_messages"');
    const state = await send({ type: "get_state" }, '"command":"get_state"');
    const { sessionFile } = JSON.parse(state.split("\n").find((line) => line.includes('"get_state"'))).data;
    await send({ type: "new_session" }, '"command":"new_session"');
    await send({ type: "switch_session", sessionPath: sessionFile }, '"command":"switch_session"');
    await send({ type: "get_messages" }, '"command":"get_messages"');
  });
}

/** The other tools. */
export function runTools(dist, keep = []) {
  const calls = [
    ["ls", {}],
    ["grep", { pattern: "line" }],
    ["find", { pattern: "*.txt" }],
    ["write", { path: "a.js", content: "call(1);\n" }],
    ["edit", { path: "a.js", old_text: "1", new_text: "2" }],
    ["ast_grep", { pat: ["call($A)"], path: "." }],
    ["ast_edit", { ops: [{ pat: "call($A)", out: "send($A)" }], paths: ["."] }],
    ["resolve", { action: "apply", reason: "It is meant." }],
  ];
  return inSession(dist, { calls, keep }, async () => {});
}

/** A one-shot run, to its end. */
export function runPrint() {
  return inHome((home) => drive(home, { mode: "print", args: ["-p", "help"] }, async () => {}));
}

/** The terminal program, from its start to the first frame; with `keep` also a word that is typed, and leaving. */
export function runTerminal(keep = []) {
  return inHome((home) =>
    drive(home, { keep, args: [], mode: "terminal", keys: { TERM: "xterm-256color" } }, async (_send, type) => {
      await type("", "\u001b[?2026l");
      if (keep.length > 0) await type("help", "help");
      type("\u0003\u0003", "").catch(() => {}); // twice Ctrl-C leaves
    }),
  );
}

/** A model that makes these calls in one prompt, whatever `act` sends, and another prompt. */
function inSession(dist, { calls, keep }, act) {
  return inHome(async (home) => {
    const { openAi, startScriptedServer } = await import(pathToFileURL(join(dist, "testing.js")).href);
    writeFileSync(join(home, "notes.txt"), "A line.\n");
    const made = calls.map(([name, args], index) => openAi.toolCalls([{ id: `${index}`, name, arguments: args }]));
    const server = await startScriptedServer([...made, openAi.text("Done."), openAi.text("Bye.")]);
    const provider = { baseUrl: `${server.url}/v1`, api: "openai-completions", apiKey: key, models: [{ id: "m" }] };
    mkdirSync(join(home, "agent"));
    writeFileSync(join(home, "agent/models.json"), JSON.stringify({ providers: { local: provider } }));
    const units = await drive(home, { keep, args: ["--model", "local/m"] }, async (send) => {
      await send({ type: "get_state" }, '"command":"get_state"');
      // A tool may fail where the platform lacks something: then less is kept of it.
      await send({ type: "prompt", message: "Work." }, '"type":"agent_settled"');
      await act(send);
      await send({ type: "prompt", message: "Talk." }, '"type":"agent_settled"');
    });
    await server.close();
    return units;
  });
}

async function inHome(work) {
  const home = mkdtempSync(join(tmpdir(), "galley-build-"));
  try {
    return await work(home);
  } finally {
    rmSync(home, { recursive: true });
  }
}

/** `send` and `type` resolve with what has come on stdout since, when this text is in it. */
async function drive(home, { keep = [], args = [], keys = {}, mode = "rpc" }, act) {
  const report = join(home, "report.json");
  const env = { PATH: process.env.PATH, HOME: home, TMPDIR: home, GALLEY_AGENT_DIR: join(home, "agent"), ...keys };
  const way = mode === "rpc" ? ["--mode", "rpc"] : [];
  const child = spawn(process.execPath, [runner, report, keep.join(","), mode, ...way, ...args], {
    cwd: home,
    env,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const tooLate = setTimeout(() => child.kill("SIGKILL"), patienceMs);
  const ended = once(child, "close");
  let output = "";
  let errors = "";
  let look = () => {};
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  child.stdout.on("data", (chunk) => {
    output += chunk;
    look();
  });
  const failed = ended.then(([code]) => {
    throw new Error(`The built program does not run (${code}): ${errors}`);
  });
  failed.catch(() => {}); // heard of below, or not to be heard of
  const type = (keys, text) => {
    if (keys !== "") output = "";
    const seen = new Promise((resolve) => {
      look = () => output.includes(text) && resolve(output);
    });
    if (keys !== "") child.stdin.write(keys);
    look();
    return Promise.race([seen, failed]);
  };
  const send = (command, text) => type(`${JSON.stringify(command)}\n`, text);
  await act(send, type);
  if (mode !== "terminal") child.stdin.end();
  const [code] = await ended;
  clearTimeout(tooLate);
  if (code !== 0) await failed;
  return JSON.parse(readFileSync(report, "utf8")).units;
}
