// What the model tables cost a start: with a key for the service that has the largest one, against no key at all.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Agent, galley, root } from "../kit/agent.mjs";
import { alternate, expect, pluck, row } from "../kit/measure.mjs";

const rounds = 25;

export async function models() {
  const catalog = join(root, "dist/catalog");
  const bySize = readdirSync(catalog).sort((a, b) => statSync(join(catalog, b)).size - statSync(join(catalog, a)).size);
  expect(bySize[0] === "openrouter.json", `The largest table is ${bySize[0]}.`);
  const samples = await alternate(rounds, {
    without: () => startOnce({}),
    withKey: () => startOnce({ OPENROUTER_API_KEY: "k" }),
  });
  const compared = (key) => ({
    unit: "ms",
    samples: pluck(samples.withKey, key),
    against: { name: "no key", samples: pluck(samples.without, key) },
  });
  return [
    row({ name: "spawn to ready, with a key for the largest table", ...compared("readyMs"), limit: 1.25 }),
    row({ name: "spawn to get_state answer, which reads it", ...compared("ms") }),
  ];
}

async function startOnce(env) {
  const agent = new Agent(galley, { env });
  try {
    const ready = agent.ready;
    const answered = agent.arrival('"command":"get_state"');
    agent.send({ id: "1", type: "get_state" });
    const readyMs = (await ready) - agent.startedAt;
    const ms = (await answered) - agent.startedAt;
    await agent.close();
    return { readyMs, ms };
  } finally {
    agent.kill();
  }
}
