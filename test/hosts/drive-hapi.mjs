// Runs in the box: a scripted model, and a person's side of the published hub (a web page's requests), which starts `pi` as the
// user's agent. Prints what that person saw, as one JSON document.

import { spawn } from "node:child_process";
import { scriptedPlace } from "./scripted-place.mjs";

const [hapi, agentDir, cwd, thinks] = process.argv.slice(2);
const server = await scriptedPlace({ agentDir, cwd, thinks });

const token = "a-token-of-this-test-alone";
const env = { ...process.env, CLI_API_TOKEN: token, HAPI_API_URL: "http://127.0.0.1:3006" };
const start = (...args) => spawn(hapi, args, { cwd, env, stdio: ["ignore", "ignore", "inherit"] });
/** Until there is an answer; the test's own time limit ends what never comes. */
async function until(look) {
  for (;;) {
    const found = await look().catch(() => undefined);
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

let jwt;
async function ask(path, body) {
  const headers = { "content-type": "application/json", authorization: `Bearer ${jwt}` };
  const method = body === undefined ? "GET" : "POST";
  const answer = await fetch(`${env.HAPI_API_URL}/api${path}`, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return await answer.json();
}

const hub = start("hub");
jwt = await until(async () => (await ask("/auth", { accessToken: token })).token);

/** What the page shows once the answer holds `text`, when a program was started with `args`. */
async function converse(args, prompt, text) {
  const agent = start("pi", ...args);
  const { id } = await until(async () => (await ask("/sessions")).sessions.find(({ active }) => active));
  await ask(`/sessions/${id}/messages`, { text: prompt });
  const messages = await until(async () => {
    const page = await ask(`/sessions/${id}/messages?limit=100`);
    return JSON.stringify(page).includes(text) && page.messages;
  });
  const { session } = await ask(`/sessions/${id}`);
  const models = await ask(`/sessions/${id}/pi-models`);
  agent.kill();
  await until(async () => (await ask("/sessions")).sessions.every(({ active }) => !active));
  return { messages: messages.map(({ content }) => content.content), session, models };
}

const first = await converse([], "What is in a.txt?", "It says hello.");
const second = await converse(["--resume", first.session.metadata.piSessionId], "And again?", "Again.");
console.log(JSON.stringify({ first, second, requests: server.requests.map(({ body }) => body.messages.length) }));
hub.kill();
process.exit(0);
