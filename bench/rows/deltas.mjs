// Long answers, as fast as the service can send them: time and bytes for each length, with small updates and with whole
// messages; memory afterwards; and that four times the length costs about four times as much.

import { floor, galley } from "../kit/agent.mjs";
import { alternate, pluck, row, sleep } from "../kit/measure.mjs";
import { burst, pieces, withAgent } from "../kit/model.mjs";
import { verifyAnswer } from "../kit/verify.mjs";

const lengths = [500, 2000, 8000];
const rounds = 7;
/** After an answer of this length memory is looked at, once it has come to rest. */
const rssLength = 2000;
const settleMs = 200;

export async function deltas() {
  const byLength = new Map();
  for (const length of lengths)
    byLength.set(
      length,
      await alternate(rounds, {
        floor: () => answer(floor, length),
        small: () => answer(galley, length, ["delta-updates"]),
        whole: () => answer(galley, length),
      }),
    );
  return [...lengths.flatMap((length) => lengthRows(length, byLength.get(length))), ...growthRows(byLength)];
}

function lengthRows(length, samples) {
  const compare = (form, key, limit) =>
    row({
      name: `${length.toLocaleString("en")} deltas, ${form === "small" ? "delta-updates" : "whole messages"}`,
      unit: key,
      samples: pluck(samples[form], key),
      against: { name: "floor", samples: pluck(samples.floor, key) },
      limit,
    });
  return [
    compare("small", "ms", 2),
    compare("small", "MB", 1.3),
    compare("whole", "ms"),
    compare("whole", "MB"),
    ...(length === rssLength ? [{ ...compare("small", "MiB", 1.5), name: "RSS after 2,000 deltas" }] : []),
  ];
}

function growthRows(byLength) {
  const step = (from, to, limit) =>
    ["ms", "MB"].map((unit) =>
      row({
        name: `growth of an answer, ${from.toLocaleString("en")} to ${to.toLocaleString("en")} deltas`,
        unit,
        samples: pluck(byLength.get(to).small, unit),
        against: { name: from.toLocaleString("en"), samples: pluck(byLength.get(from).small, unit) },
        limit,
      }),
    );
  return [...step(500, 2000, 4.6), ...step(2000, 8000, 4.4)];
}

/** A process of its own for each answer, after one short answer that opens the connection and loads the code. */
function answer(program, length, features) {
  const text = pieces(length);
  const replies = [burst(["Ready."]), burst(text)];
  return withAgent(program, { replies, features }, async (agent) => {
    await agent.prompt("Are you there?");
    agent.forget();
    const askedAt = performance.now();
    const settledAt = await agent.prompt("Go on.");
    if (length === rssLength) await sleep(settleMs);
    const sample = { ms: settledAt - askedAt, MB: agent.stdoutBytes / 1e6, MiB: agent.rssMiB };
    verifyAnswer(agent.frames(), text);
    return sample;
  });
}
