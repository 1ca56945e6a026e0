// One visit: a secret by one door, a session that hears it back by every path, and a look at everything that was left.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { canary, lateDoors, oddDoors, openDoor } from "./doors.mjs";
import { filesBelow, hasTrace, joinedDeltas, tracesOf } from "./leaks.mjs";
import * as replies from "./replies.mjs";

const bin = fileURLToPath(new URL("../../bin/galley.js", import.meta.url));
const patienceMs = 60_000;

/** Writes down what extensions are shown, and fails with it, so that the log is told. */
const watcher = `import { appendFileSync } from "node:fs";
export default (pi) => {
  const seen = (event) => appendFileSync(process.env.HOME + "/seen.jsonl", JSON.stringify(event) + "\\n");
  for (const name of ["message_update", "message_end", "tool_result", "tool_execution_end", "agent_end"]) pi.on(name, (event) => seen(event));
  pi.on("turn_end", ({ message }) => { throw new Error("watched: " + JSON.stringify(message.content)); });
};
`;

/** Figures: `hits` of the secret, `unreached` places where not even the decoy showed, `inexact` written files. */
export async function visit(name, { directory, random }) {
  const isOdd = oddDoors.has(name);
  const [secret, decoy] = [canary(random, { isOdd }), canary(random, { isOdd })];
  const content = `${secret}\n${decoy}\n${replies.formsOf(secret)}\n${replies.formsOf(decoy)}\n`;
  const said = `${replies.formsOf(secret)} and ${replies.formsOf(decoy)}`;
  const place = mkdtempSync(join(directory, "visit-"));
  const server = await replies.startScriptedServer([
    ...replies.conversation({ said, content }),
    replies.cutReply(secret, decoy),
    replies.refusal({ said }),
    replies.plainAnswer({ said }),
    replies.plainAnswer({ said }),
    replies.refusal({ said }),
    ...replies.stagedWrite({ content }),
  ]);
  const here = openDoor(name, { url: server.url, secret, directory: place });
  writeFileSync(join(here.agentDir, "extensions/watcher.ts"), watcher);
  const problems = [];
  try {
    const texts = await visitAll(here, { secret, decoy, isLate: lateDoors.has(name) });
    const sent = server.requests.filter(({ headers }) =>
      Object.values(headers).some((value) => `${value}`.includes(secret)),
    );
    if (!isOdd && sent.length === 0) problems.push(`${name}: the service was never sent the secret`);
    const written = ["out.txt", "staged.txt"].map((file) => readFileSync(join(here.project, file), "utf8"));
    const inexact = written.filter((text) => text !== content).length;
    const traces = { secret: tracesOf(secret), decoy: tracesOf(decoy) };
    let [hits, unreached] = [0, 0];
    for (const [where, text] of Object.entries({ ...texts, ...filesOf(here) })) {
      const trace = hasTrace(text, traces.secret);
      if (trace !== undefined) {
        hits++;
        problems.push(`${name}: ${where} holds ${JSON.stringify(trace)}: ${around(text, trace)}`);
      }
      if (hasTrace(text, traces.decoy) === undefined && !where.startsWith("?")) {
        unreached++;
        problems.push(`${name}: ${where} does not even hold the decoy`);
      }
    }
    await server.close();
    return { hits, unreached, inexact, places: Object.keys(texts).length, problems };
  } finally {
    await server.close().catch(() => {});
    rmSync(place, { recursive: true, force: true });
  }
}

function around(text, trace) {
  const at = text.indexOf(trace);
  return JSON.stringify(text.slice(Math.max(0, at - 160), at + trace.length + 40));
}

/** Everything that came out, by name. */
async function visitAll(here, { secret, decoy, isLate }) {
  const galley = (args) => runProgram(here, args);
  const hosted = await converse(here, { secret, decoy });
  const session = hosted.sessionFile;
  const exported = await galley(["--export", session, "again.html"]);
  const json = await galley(["--mode", "json", ...here.args, "-p", "Answer me."]);
  const text = await galley([...here.args, "-p", "Answer me."]);
  const failed = await galley([...here.args, "-p", "Answer me."]);
  const staged = await galley([...here.args, "--set", "staging=all", "-p", "Stage it."]);
  const pending = await galley(["pending", "--json"]);
  const [{ id }] = JSON.parse(pending.stdout).actions;
  const shown = await galley(["show", id]);
  const applied = await galley(["apply", id]);
  return {
    ...hosted.texts,
    "json mode": json.stdout,
    "the printed answer": text.stdout,
    "stderr of a failed run": failed.stderr,
    "stderr of a run with a preview": staged.stderr,
    // Without a session no command is run for its answer.
    ...(isLate ? {} : { "galley show": shown.stdout }),
    "?the verbs": [exported, pending, applied].map(({ stdout, stderr }) => stdout + stderr).join(""),
    "?other stderr": `${json.stderr}${text.stderr}${failed.stdout}${staged.stdout}`,
  };
}

/** The files that were left, joined by kind; a session's plans and undo records hold exact bytes by design. */
function filesOf({ home }) {
  const isExact = (path) => /auth\.json$|models\.json$|(?:out|staged)\.txt$|\.plan$|undo|journal/.test(path);
  const kinds = {
    "session files": /sessions\/.*\.jsonl$/,
    "artifacts of commands": /\.bash\.log$/,
    "the exported page": /page\.html$/,
    "the page of --export": /again\.html$/,
    "what extensions saw": /seen\.jsonl$/,
    "the log": /galley\.log$/,
  };
  const texts = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, ""]));
  texts["?other files"] = "";
  for (const { path, text } of filesBelow(home, { except: isExact })) {
    const kind = Object.keys(kinds).find((name) => kinds[name].test(path)) ?? "?other files";
    texts[kind] += `${path}\n${text}\n`;
  }
  return texts;
}

/** A host's session; what it was sent, by kind of frame. */
async function converse(here, { secret, decoy }) {
  const host = new Host(here);
  await host.command({ type: "prompt", message: "Say it." }, "agent_settled");
  await host.command({ type: "prompt", message: `Be cut off at ${decoy} and ${secret}.` }, "agent_settled");
  await host.command({ type: "prompt", message: "Fail." }, "agent_settled");
  await host.command({ type: "bash", command: "cat out.txt" });
  const { data } = await host.command({ type: "get_state" });
  await host.command({ type: "get_messages" });
  await host.command({ type: "export_html", outputPath: "page.html" });
  await host.close();
  const frames = host.lines.map((line) => JSON.parse(line));
  const of = (test) => host.lines.filter((_, index) => test(frames[index])).join("\n");
  const deltas = joinedDeltas(frames);
  const isResponse = (command) => (frame) => frame.type === "response" && frame.command === command;
  const texts = {
    "text deltas": deltas.text_delta,
    "thinking deltas": deltas.thinking_delta,
    "argument deltas": deltas.toolcall_delta,
    "message_update frames": of(({ type }) => type === "message_update"),
    "message_end frames": of(({ type }) => type === "message_end"),
    "tool frames": of(({ type }) => type.startsWith("tool_execution")),
    "a failed reply": of(({ message }) => message?.stopReason === "error"),
    "the answer to bash": of(isResponse("bash")),
    "the answer to get_messages": of(isResponse("get_messages")),
    "extension_error frames": of(({ type }) => type === "extension_error"),
    "?all frames": host.lines.join("\n"),
    "stderr of the server": host.stderr,
  };
  return { texts, sessionFile: data.sessionFile };
}

class Host {
  lines = [];
  stderr = "";
  #child;
  #rest = "";
  #waiters = [];
  #ids = 0;

  constructor({ project, env, args }) {
    this.#child = spawn(process.execPath, [bin, "--mode", "rpc", ...args], { cwd: project, env });
    this.#child.stdout.setEncoding("utf8").on("data", (text) => this.#take(text));
    this.#child.stderr.setEncoding("utf8").on("data", (text) => {
      this.stderr += text;
    });
    this.#child.stdin.on("error", () => {}); // its end says more
    this.ended = new Promise((resolve) => this.#child.once("close", resolve));
  }

  /** Resolves with the answer, or with the first frame of the type after it. */
  command(command, type) {
    const id = `${++this.#ids}`;
    const isAnswer = (frame) => frame.type === "response" && frame.id === id;
    const answer = this.#arrival(type === undefined ? isAnswer : (frame) => frame.type === type, command.type);
    this.#child.stdin.write(`${JSON.stringify({ id, ...command })}\n`);
    return answer;
  }

  async close() {
    this.#child.stdin.end();
    await this.ended;
  }

  #arrival(test, what) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no end of ${what}: ${this.stderr.slice(-2000)}`)), patienceMs);
      this.#waiters.push((frame) => {
        if (!test(frame)) return false;
        clearTimeout(timer);
        resolve(frame);
        return true;
      });
    });
  }

  #take(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    for (const line of lines) {
      this.lines.push(line);
      const frame = JSON.parse(line);
      this.#waiters = this.#waiters.filter((waiter) => !waiter(frame));
    }
  }
}

function runProgram({ project, env }, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...args], { cwd: project, env });
    const out = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"])
      child[stream].setEncoding("utf8").on("data", (text) => {
        out[stream] += text;
      });
    child.once("error", reject);
    child.once("close", (code) => resolve({ ...out, code }));
    child.stdin.end();
  });
}
