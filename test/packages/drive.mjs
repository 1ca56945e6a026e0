// Runs in the box: one agent with one package. Starts it twice (cold, then warm), uses it as a host would, and prints what
// it saw as one JSON document. node drive.mjs '{"command": [...], "folder": "...", "steps": {...}}'

import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { once } from "./compare.mjs";
import { promptOf, startModelServer } from "./model-server.mjs";

const { command, folder, steps = {}, isTimed, isUsed = true, expected } = JSON.parse(process.argv[2]);
const home = process.env.HOME;
const cwd = `${home}/project`;
const agentDir = `${home}/.pi/agent`;
const limitMs = 60_000;

for (const path of [cwd, agentDir]) mkdirSync(path, { recursive: true });
const server = await startModelServer();
const models = [
  { id: "scripted", name: "Scripted", reasoning: false, input: ["text"], contextWindow: 100000, maxTokens: 4000 },
];
const acme = { baseUrl: server.url, api: "openai-completions", apiKey: "key", models };
writeFileSync(`${agentDir}/models.json`, JSON.stringify({ providers: { acme } }));
writeFileSync(`${agentDir}/settings.json`, JSON.stringify({ defaultProvider: "acme", defaultModel: "scripted" }));
writeFileSync(`${cwd}/a.txt`, "hello\n");

/** The agent as a host drives it. */
function start() {
  const began = performance.now();
  const [program, ...args] = command;
  const extension = folder ? ["-e", folder] : [];
  const child = spawn(program, [...args, "--mode", "rpc", ...extension], { cwd, stdio: ["pipe", "pipe", "pipe"] });
  const frames = [];
  const waiting = new Set();
  let [stderr, rest, id, code] = ["", "", 0, undefined];
  const ended = new Promise((resolve) => {
    child.on("close", (exit, signal) => {
      code = exit ?? signal;
      look();
      resolve(code);
    });
  });
  child.stdin.on("error", () => {});
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  child.stdout.setEncoding("utf8").on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) take(line);
  });
  function take(line) {
    let frame;
    try {
      frame = JSON.parse(line);
    } catch {
      frame = { type: "not_json", line };
    }
    frames.push(frame);
    const isDialog = ["select", "confirm", "input", "editor"].includes(frame.method);
    if (frame.type === "extension_ui_request" && isDialog)
      write({ type: "extension_ui_response", id: frame.id, cancelled: true });
    look();
  }
  function look() {
    for (const entry of waiting) {
      const found = frames.find((frame, index) => index >= entry.from && entry.test(frame));
      if (!found && code === undefined) continue;
      waiting.delete(entry);
      found ? entry.resolve(found) : entry.reject(new Error(`ended with ${code}`));
    }
  }
  function write(frame) {
    child.stdin.write(`${JSON.stringify(frame)}\n`);
  }
  function until(test, from, what, ms = limitMs) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no ${what} in ${ms / 1000} s`)), ms);
      const settle = (done) => (value) => {
        clearTimeout(timer);
        done(value);
      };
      waiting.add({ test, from, resolve: settle(resolve), reject: settle(reject) });
      look();
    });
  }
  return {
    frames,
    spent: () => performance.now() - began,
    stderr: () => stderr,
    ask(type, fields = {}) {
      id += 1;
      const own = `q${id}`;
      const from = frames.length;
      write({ id: own, type, ...fields });
      return until((frame) => frame.type === "response" && frame.id === own, from, type);
    },
    until: (test, from, what, ms) => until(test, from, what, ms),
    async end() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
      const exit = await ended;
      clearTimeout(timer);
      return exit;
    },
  };
}

async function timed() {
  const agent = start();
  try {
    await agent.ask("get_commands");
    return Math.round(agent.spent());
  } catch {
    return null;
  } finally {
    await agent.end();
  }
}

const report = {};
if (isTimed) report.coldMs = await timed();
if (!isUsed) await print({ ...report, warmMs: await timed() });

const agent = start();
try {
  await use();
} catch (error) {
  report.failure = error.message;
}
report.exit = await agent.end();
report.stderr = agent.stderr();
report.errors = agent.frames.filter(({ type }) => type === "extension_error" || type === "not_json");
await print(report);

async function use() {
  const { data } = await agent.ask("get_commands");
  report.warmMs = Math.round(agent.spent());
  report.commands = data.commands.map(({ name, source, description }) => ({ name, source, description }));
  report.start = asked(0);
  report.read = await prompt([
    ["read", { path: "a.txt" }],
    ["edit", { path: "a.txt", edits: [{ oldText: "hello", newText: "world" }] }],
  ]);
  report.file = readFileSync(`${cwd}/a.txt`, "utf8");
  report.bash = await prompt([["bash", { command: "cat a.txt" }]]);
  const first = server.requests.find(({ messages }) =>
    messages.some(({ content }) => JSON.stringify(content)?.includes("Do: ")),
  );
  report.tools = first.tools?.map(({ function: { name, description, parameters } }) => ({
    name,
    description,
    parameters,
  }));
  report.system = first.messages
    .filter(({ role }) => role === "system" || role === "developer")
    .map(({ content }) => content)
    .join("\n");
  report.calls = [];
  for (const call of steps.calls ?? []) report.calls.push(await prompt([call]));
  report.ran = [];
  for (const [index, text] of (steps.commands ?? []).entries()) report.ran.push(await runCommand(text, index));
  const from = agent.frames.length;
  const { success, data: began, error } = await agent.ask("new_session");
  report.newSession = { success, cancelled: began?.cancelled, error };
  const again = await agent.ask("get_commands");
  report.commandsAgain = again.data.commands.map(({ name }) => name);
  const requests = server.requests.length;
  report.after = await prompt([["read", { path: "a.txt" }]]);
  report.toolsAgain = server.requests[requests].tools?.map(({ function: { name } }) => name);
  report.afterNew = asked(from);
}

async function prompt(calls) {
  const from = agent.frames.length;
  const { success, error } = await agent.ask("prompt", { message: promptOf(calls) });
  if (!success) return { error };
  await agent.until(({ type }) => type === "agent_settled", from, "agent_settled");
  const since = agent.frames.slice(from);
  const ends = since.filter(({ type }) => type === "tool_execution_end");
  return {
    results: ends.map(({ toolName, isError, result }) => ({
      toolName,
      isError,
      text: (result?.content ?? []).map(({ text, type }) => text ?? `[${type}]`).join("\n"),
    })),
    added: since.flatMap(({ type, message }) =>
      type === "message_end" && message.role === "custom" ? [message.customType] : [],
    ),
    asked: asked(from),
  };
}

/** Hosts are not told when a command is over: it is when all that pi did was seen, or where that is not known, when it is quiet. */
async function runCommand(text, index) {
  const from = agent.frames.length;
  const { success, error } = await agent.ask("prompt", { message: text });
  const seen = () => ({ command: text, success, error, ...whatHappened(agent.frames.slice(from)), asked: asked(from) });
  const wanted = expected?.[index];
  if (wanted) await agent.until(() => holds(seen(), wanted), 0, text, 10_000).catch(() => {});
  else await quiet(from);
  return seen();
}

function holds(seen, wanted) {
  return seen.said.length >= wanted.said.length && once(seen.asked).length >= wanted.asked.length;
}

async function quiet(from) {
  for (let before = -1; before !== agent.frames.length && agent.spent() < limitMs * 3; ) {
    const types = agent.frames.slice(from).map(({ type }) => type);
    const [begun, ended] = ["agent_start", "agent_settled"].map((one) => types.filter((type) => type === one).length);
    before = begun > ended ? -1 : agent.frames.length;
    await new Promise((resolve) => setTimeout(resolve, 700));
  }
}

function whatHappened(frames) {
  const messages = frames.flatMap(({ type, message }) => (type === "message_end" ? [message] : []));
  const said = messages
    .filter(({ role }) => role === "custom" || role === "assistant")
    .map(
      ({ role, customType = role, content }) =>
        `${customType}: ${typeof content === "string" ? content : JSON.stringify(content)}`,
    );
  return { said, errors: frames.flatMap(({ type, error }) => (type === "extension_error" ? [error] : [])) };
}

/** What the user was shown or asked. */
function asked(from) {
  return agent.frames
    .slice(from)
    .filter(({ type }) => type === "extension_ui_request")
    .map(({ type: _, id: __, ...rest }) => rest);
}

/** Ends the program. */
function print(value) {
  return new Promise(() => {
    process.stdout.write(`${JSON.stringify(value)}\n`, () => process.exit(0));
  });
}
