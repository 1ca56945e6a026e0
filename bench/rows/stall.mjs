// The host stops reading in the middle of an answer: memory stays bounded, and everything arrives once it reads again.

import { floor, galley } from "../kit/agent.mjs";
import { alternate, pluck, row, sleep } from "../kit/measure.mjs";
import { burst, paced, pieces, withAgent } from "../kit/model.mjs";
import { verifyAnswer } from "../kit/verify.mjs";

const length = 8000;
const intervalMs = 10;
const lookEveryMs = 50;

/** The answer comes evenly over the pause, so that it is the reader that is slow and not the model. */
export async function stall({ isLong }) {
  const seconds = isLong ? 10 : 3;
  // Side by side: only memory is measured, and that takes no turns.
  const pairs = await alternate(3, { both: () => Promise.all([stalled(floor, seconds), stalled(galley, seconds)]) });
  return [
    row({
      name: `no reader for ${seconds} s in ${length.toLocaleString("en")} deltas, RSS growth`,
      unit: "MiB",
      samples: pluck(pairs.both, 1),
      against: { name: "floor", samples: pluck(pairs.both, 0) },
      limit: 1.5,
    }),
  ];
}

function stalled(program, seconds) {
  const text = pieces(length);
  const groupSize = Math.ceil((length * intervalMs) / (seconds * 1000));
  const { reply, play } = paced(text, { groupSize, intervalMs });
  return withAgent(program, { replies: [burst(["Ready."]), reply] }, async (agent) => {
    await agent.prompt("Are you there?");
    agent.forget();
    const before = agent.rssMiB;
    let most = before;
    const look = () => {
      most = Math.max(most, agent.rssMiB);
    };
    const watch = setInterval(look, lookEveryMs);
    try {
      const settled = agent.prompt("Go on.");
      agent.stopReading();
      await Promise.all([play(), sleep(seconds * 1000)]);
      agent.readOn();
      await settled;
      look();
    } finally {
      clearInterval(watch);
    }
    verifyAnswer(agent.frames(), text);
    return most - before;
  });
}
