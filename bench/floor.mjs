// The floor: the least that a program without any library must do for each row of the bench, so that a ratio to it says
// what our own design costs. It speaks as much of the protocol as the bench asks for and checks nothing.

import { fdatasync, openSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

const [, , baseUrl, sessionPath] = process.argv;
let history = [];
let log;
let rest = "";

write({ type: "ready" });
if (sessionPath) await open(sessionPath);
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const line of lines) void serve(JSON.parse(line));
});
process.stdin.on("end", () => process.exit(0));

async function serve({ id, type, message, sessionPath }) {
  if (type === "switch_session") await open(sessionPath);
  // The model is asked while the disk works: what must be safe before the answer is the prompt.
  if (type === "prompt") {
    append({ role: "user", content: message });
    const safe = synced();
    void run();
    await safe;
  }
  write({ id, type: "response", command: type, success: true, data: dataOf(type) });
}

function dataOf(type) {
  if (type === "get_state") return { isStreaming: false, messageCount: history.length };
  return type === "get_messages" ? { messages: history } : undefined;
}

/** The messages of a session file. */
async function open(path) {
  const entries = (await readFile(path, "utf8"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  history = entries.flatMap(({ message }) => (message ? [message] : []));
}

/** A session is kept: one line for each message, on disk where somebody relies on it. */
function append(message) {
  history.push(message);
  log ??= openSync(join(process.env.GALLEY_AGENT_DIR, `floor-${process.pid}.jsonl`), "ax");
  writeSync(log, `${JSON.stringify({ type: "message", message })}\n`);
}

function synced() {
  return new Promise((resolve, reject) => fdatasync(log, (error) => (error ? reject(error) : resolve())));
}

async function run() {
  for (;;) {
    const reply = await ask();
    append(reply);
    write({ type: "message_end", message: reply });
    if (reply.tool_calls.length === 0) break;
    const running = reply.tool_calls.map(({ function: call }) => work(JSON.parse(call.arguments)));
    for (const [index, { id }] of reply.tool_calls.entries()) {
      const content = await running[index];
      append({ role: "tool", tool_call_id: id, content });
      void synced();
      write({ type: "tool_execution_end", toolCallId: id, result: content });
    }
  }
  await synced();
  write({ type: "agent_settled" });
}

/** A file to read, a command to run, or nothing at all. */
async function work({ path, command }) {
  if (path !== undefined) return await readFile(path, "utf8");
  if (command === undefined) return "";
  await synced(); // what is about to run is on record
  const { spawn } = await import("node:child_process");
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        output += chunk;
      });
    child.once("error", reject);
    child.once("close", () => resolve(output || "(no output)"));
  });
}

async function ask() {
  const http = await import("node:http"); // on first use, as the rows about the start do without it
  const body = JSON.stringify({ model: "m", stream: true, messages: history });
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const call = http.request(`${baseUrl}/v1/chat/completions`, { method: "POST", headers }, (answer) =>
      forward(answer).then(resolve, reject),
    );
    call.on("error", reject);
    call.end(body);
  });
}

/** One frame for each delta, one write for each chunk of the answer; waits while the reader is slow. */
async function forward(answer) {
  const reply = { role: "assistant", content: "", tool_calls: [] };
  let pending = "";
  answer.setEncoding("utf8");
  for await (const text of answer) {
    const lines = (pending + text).split("\n");
    pending = lines.pop();
    let frames = "";
    for (const line of lines) {
      if (!line.startsWith("data: ") || line === "data: [DONE]") continue;
      const delta = JSON.parse(line.slice(6)).choices[0]?.delta;
      if (delta?.content) frames += frameOf(reply, delta.content);
      for (const part of delta?.tool_calls ?? []) addCall(reply.tool_calls, part);
    }
    if (frames !== "" && !process.stdout.write(frames)) await drained();
  }
  return reply;
}

function frameOf(reply, delta) {
  reply.content += delta;
  const assistantMessageEvent = { type: "text_delta", contentIndex: 0, delta };
  return `${JSON.stringify({ type: "message_update", assistantMessageEvent })}\n`;
}

function addCall(calls, { index, id, function: { name, arguments: fragment } }) {
  calls[index] ??= { id, type: "function", function: { name, arguments: "" } };
  calls[index].function.arguments += fragment;
}

function drained() {
  return new Promise((resolve) => process.stdout.once("drain", resolve));
}

function write(frame) {
  process.stdout.write(`${JSON.stringify(frame)}\n`);
}
