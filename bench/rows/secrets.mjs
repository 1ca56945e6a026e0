// What masking costs: the same long answer with twenty secrets in the environment and with none.

import { galley } from "../kit/agent.mjs";
import { alternate, row } from "../kit/measure.mjs";
import { burst, pieces, withAgent } from "../kit/model.mjs";
import { verifyAnswer } from "../kit/verify.mjs";

const length = 10_000;
const rounds = 7;
const twenty = Object.fromEntries(
  Array.from({ length: 20 }, (_, index) => [
    `BENCH_SECRET_${index}`,
    `sk-${Buffer.from(`${index * 7919} bench ${index}`.padEnd(36, `${index}zq`)).toString("base64")}`,
  ]),
);

export async function secrets() {
  const samples = await alternate(rounds, { none: () => answer({}), twenty: () => answer(twenty) });
  return [
    row({
      name: "10,000 deltas masked with 20 secrets",
      unit: "ms",
      samples: samples.twenty,
      against: { name: "no secrets", samples: samples.none },
      limit: 1.2,
    }),
  ];
}

function answer(env) {
  const text = pieces(length);
  const replies = [burst(["Ready."]), burst(text)];
  return withAgent(galley, { replies, features: ["delta-updates"], env }, async (agent) => {
    await agent.prompt("Are you there?");
    agent.forget();
    const askedAt = performance.now();
    const settledAt = await agent.prompt("Go on.");
    verifyAnswer(agent.frames(), text);
    return settledAt - askedAt;
  });
}
