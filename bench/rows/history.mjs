// What a long history costs: opening it, asking for it, and going on after it. The floor parses the same file, holds its
// messages and serialises all of them for each request.

import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, agents, besideOthers, floor, galley, workspace } from "../kit/agent.mjs";
import { alternate, expect, row, sleep } from "../kit/measure.mjs";
import { Gate, gated, withAgent } from "../kit/model.mjs";

const entries = 5000;
const rounds = 7;
const laterPrompts = 6;
const lastText = "The last word of the conversation.";
const sizes = { "2.5 MB": 330, "21.9 MB": 5500 };

export async function history() {
  const scratch = mkdtempSync(join(tmpdir(), "galley-bench-history-"));
  try {
    const files = Object.entries(sizes).map(([size, characters]) => ({
      size,
      path: makeSession(join(scratch, `${size}.jsonl`), characters),
    }));
    return [...(await working(files)), ...(await resuming(files.at(-1)))];
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

async function working(files) {
  const samples = await alternate(
    rounds,
    agents((program) => workAll(program, files)),
  );
  const compare = (name, key, limit) =>
    row({
      name,
      unit: "ms",
      samples: samples.galley.flatMap((sample) => sample[key]),
      against: { name: "floor", samples: samples.floor.flatMap((sample) => sample[key]) },
      limit,
    });
  const count = entries.toLocaleString("en");
  return [
    ...files.map(({ size }) => compare(`switch_session, ${size}`, size, 1.2)),
    ...files.flatMap(({ size }) =>
      besideOthers(samples, {
        ...{ name: `switch_session, ${size}`, unit: "ms" },
        ...{ pick: (all) => all.map((sample) => sample[size]), limit: 1 / 1.5 },
      }),
    ),
    compare(`get_messages, ${count} entries`, "messagesMs", 1.2),
    compare(`prompt to HTTP request after ${count} entries, first`, "firstMs", 1.3),
    compare(`prompt to HTTP request after ${count} entries, next`, "nextMs", 1.3),
  ];
}

/** Each session in a process of its own: what one leaves behind, the next would have to clear away. */
async function workAll(program, [small, large]) {
  const switchMs = await withAgent(program, { replies: [] }, (agent) => switchTo(agent, large.path));
  return { ...(await work(program, small)), [large.size]: switchMs };
}

async function work(program, { size, path }) {
  const gates = Array.from({ length: 1 + laterPrompts }, () => new Gate());
  const replies = gates.map((gate) => gated(gate, ["Yes."], gate));
  return withAgent(program, { replies }, async (agent, server) => {
    const sample = { [size]: await switchTo(agent, path), messagesMs: await getMessages(agent) };
    const prompts = [];
    for (const gate of gates) prompts.push(await promptToRequest(agent, gate));
    [sample.firstMs, ...sample.nextMs] = prompts;
    const { messages } = server.requests.at(-1).body;
    const asked = messages.filter(({ role }) => role !== "system").length;
    expect(asked === entries + 2 * laterPrompts + 1, `the model was shown ${asked} messages`);
    return sample;
  });
}

/** To a copy: what is said later goes into the file. */
async function switchTo(agent, path) {
  const sessionPath = join(workspace, `history-${switches++}.jsonl`);
  copyFileSync(path, sessionPath);
  await agent.state(); // not everything of a start is done when it says that it is ready
  const arrived = agent.arrival('"command":"switch_session","success":true');
  const askedAt = performance.now();
  agent.send({ type: "switch_session", sessionPath });
  return (await arrived) - askedAt;
}

let switches = 0;

/** Until the last message: the beginning of a long line says nothing about its end. */
async function getMessages(agent) {
  agent.forget();
  const arrived = agent.arrival(lastText);
  const askedAt = performance.now();
  agent.send({ type: "get_messages" });
  const ms = (await arrived) - askedAt;
  await sleep(50); // the rest of the line
  const answer = agent.frames().find(({ command }) => command === "get_messages");
  expect(answer.data.messages.length === entries, `${answer.data.messages.length} messages were told`);
  return ms;
}

async function promptToRequest(agent, gate) {
  const askedAt = performance.now();
  const settled = agent.prompt("Go on.");
  const event = await Promise.race([gate.reached.then(() => "asked"), settled]);
  const ms = performance.now() - askedAt;
  expect(event === "asked", "the run settled without asking the model");
  gate.open();
  await settled;
  return ms;
}

async function resuming({ size, path }) {
  const start = (program, ...more) => startWith({ ...program, args: () => [...program.args(), ...more] });
  const samples = await alternate(rounds, {
    floor: () => start(floor, "", path),
    galley: () => start(galley, "--session", path),
  });
  const against = { name: "floor", samples: samples.floor };
  return [row({ name: `start resuming ${size}`, unit: "ms", samples: samples.galley, against, limit: 1.3 })];
}

async function startWith(program) {
  const agent = new Agent(program);
  try {
    const arrived = agent.arrival('"command":"get_state","success":true');
    agent.send({ type: "get_state" });
    const ms = (await arrived) - agent.startedAt;
    await sleep(50); // the rest of the line
    const { data } = agent.frames().find(({ command }) => command === "get_state");
    expect(data.messageCount === entries, `${data.messageCount} messages were resumed`);
    await agent.close();
    return ms;
  } finally {
    agent.kill();
  }
}

/**
 * As an agent works: a question, a call, its result, an answer. The service told of few tokens, so nothing has to be
 * summarised.
 */
function makeSession(path, characters) {
  const timestamp = "2026-01-01T00:00:00.000Z";
  const header = { type: "session", version: 3, id: "bench", timestamp, cwd: workspace };
  const text = "A line of a long conversation. ".repeat(Math.ceil(characters / 31)).slice(0, characters);
  const lines = Array.from({ length: entries }, (_, index) => ({
    type: "message",
    id: idOf(index),
    parentId: index === 0 ? null : idOf(index - 1),
    timestamp,
    message: messageAt(index, index < entries - 1 ? text : lastText),
  }));
  writeFileSync(path, [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}

function idOf(index) {
  return index.toString(16).padStart(8, "0");
}

function messageAt(index, text) {
  const kind = index % 4;
  if (kind === 0) return question(text, index);
  const name = "read";
  const id = `call_${index - (index % 4)}`;
  const call = { type: "toolCall", id, name, arguments: { path: `src/${index}.ts`, limit: 100 } };
  if (kind === 1)
    return { ...answer(text, index), content: [{ type: "text", text: "Looking." }, call], stopReason: "toolUse" };
  if (kind === 2)
    return {
      role: "toolResult",
      toolCallId: id,
      toolName: name,
      content: [{ type: "text", text }],
      isError: false,
      timestamp: index,
    };
  return answer(text, index);
}

function question(text, timestamp) {
  return { role: "user", content: [{ type: "text", text }], timestamp };
}

function answer(text, timestamp) {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    api: "openai-completions",
    provider: "bench",
    model: "m",
    usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost },
    stopReason: "stop",
    timestamp,
  };
}
