// Runs in the box: a scripted model, and an editor's side of the Agent Client Protocol towards the published adapter, which
// starts `pi` itself. Prints what the editor saw, as one JSON document.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { scriptedPlace } from "./scripted-place.mjs";

const [adapter, agentDir, cwd, thinks] = process.argv.slice(2);
const server = await scriptedPlace({ agentDir, cwd, thinks });

/** One run of the adapter: requests one after the other, each made from the answers so far. */
async function converse(requests) {
  const child = spawn(process.execPath, [adapter], { cwd, stdio: ["pipe", "pipe", "inherit"] });
  const seen = { answers: [], updates: [] };
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const next = () => {
    const request = requests[seen.answers.length];
    if (!request) return child.stdin.end();
    const [method, params] = request(seen.answers);
    send({ id: seen.answers.length, method, params });
  };
  next();
  for await (const line of createInterface({ input: child.stdout })) {
    const message = JSON.parse(line);
    if (message.method === "session/update") seen.updates.push(message.params.update);
    else if (message.method) send({ id: message.id, result: {} });
    else {
      seen.answers.push(message.result ?? { error: message.error });
      next();
    }
  }
  return seen;
}

const initialize = () => ["initialize", { protocolVersion: 1, clientCapabilities: {} }];
const prompt =
  (text) =>
  ([, session]) => ["session/prompt", { sessionId: session.sessionId ?? loaded, prompt: [{ type: "text", text }] }];
let loaded;
const first = await converse([initialize, () => ["session/new", { cwd, mcpServers: [] }], prompt("What is in a.txt?")]);
loaded = first.answers[1].sessionId;
const load = () => ["session/load", { sessionId: loaded, cwd, mcpServers: [] }];
const second = await converse([initialize, load, prompt("And again?")]);
console.log(JSON.stringify({ first, second, requests: server.requests.length }));
process.exit(0);
