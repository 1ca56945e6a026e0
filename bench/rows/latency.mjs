// How long a prompt takes to become a request, and the first delta of the answer to become a frame.

import { agents, besideOthers } from "../kit/agent.mjs";
import { alternate, expect, pluck, row, sleep } from "../kit/measure.mjs";
import { Gate, gated, withAgent } from "../kit/model.mjs";

/** Many: some of the noise is a process's own, or that of the moment in which it runs. */
const rounds = 15;
const warmPrompts = 16;
const marker = "the-first-delta";

export async function prompt() {
  const samples = await alternate(rounds, agents(prompts));
  const warm = (key) => (all) => all.flatMap((sample) => pluck(sample.warm, key));
  const compare = (name, pick, limit) =>
    row({
      name,
      unit: "ms",
      samples: samples.galley.flatMap(pick),
      against: { name: "floor", samples: samples.floor.flatMap(pick) },
      limit,
    });
  return [
    compare("prompt to HTTP request, first", ({ first }) => first.requestMs, 2),
    compare("prompt to HTTP request, warm", ({ warm }) => pluck(warm, "requestMs"), 2),
    compare("first delta to stdout", ({ warm }) => pluck(warm, "deltaMs"), 1.5),
    ...besideOthers(samples, { name: "prompt to HTTP request, warm", unit: "ms", pick: warm("requestMs"), limit: 0.6 }),
    ...besideOthers(samples, { name: "first delta to stdout", unit: "ms", pick: warm("deltaMs"), limit: 1 }),
    row({
      name: "request body for a one-line prompt",
      unit: "bytes",
      samples: pluck(samples.galley, "bodyBytes"),
      against: { name: "at most", samples: [8000] },
      limit: 1,
    }),
  ];
}

async function prompts(program) {
  const gates = Array.from({ length: 1 + warmPrompts }, () => ({ before: new Gate(), after: new Gate() }));
  const replies = gates.map(({ before, after }) => gated(before, [marker], after));
  return withAgent(program, { replies }, async (agent, server) => {
    const moments = [];
    for (const pair of gates) moments.push(await onePrompt(agent, pair));
    const [first, ...warm] = moments;
    return { first, warm, bodyBytes: Number(server.requests[0].headers["content-length"]) };
  });
}

async function onePrompt(agent, { before, after }) {
  const askedAt = performance.now();
  const settled = agent.prompt("Say something.");
  const event = await Promise.race([before.reached.then(() => "asked"), settled]);
  const requestMs = performance.now() - askedAt;
  expect(event === "asked", "the run settled without asking the model");
  await sleep(5); // the program has seen the head of the answer and waits
  const arrived = agent.arrival(marker);
  const sentAt = performance.now();
  before.open();
  const deltaMs = (await arrived) - sentAt;
  after.open(); // only now: the end of the answer must not share the delta's way
  await settled;
  return { requestMs, deltaMs };
}
