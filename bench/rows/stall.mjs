// The host stops reading in the middle of an answer: memory stays bounded, and everything arrives once it reads again.

import { floor, galley } from "../kit/agent.mjs";
import { alternate, row, sleep } from "../kit/measure.mjs";
import { burst, paced, pieces, withAgent } from "../kit/model.mjs";
import { verifyAnswer } from "../kit/verify.mjs";

const length = 8000;
const intervalMs = 10;
const sampleEveryMs = 50;

/** The answer comes evenly over the pause, so that it is the reader that is slow and not the model. */
export async function stall({ isLong }) {
  const seconds = isLong ? 10 : 3;
  const samples = await alternate(3, { floor: () => stalled(floor, seconds), galley: () => stalled(galley, seconds) });
  const against = { name: "floor", samples: samples.floor };
  const name = `no reader for ${seconds} s in 8,000 deltas, RSS growth`;
  return [row({ name, unit: "MiB", samples: samples.galley, against, limit: 1.5 })];
}

function stalled(program, seconds) {
  const text = pieces(length);
  const groupSize = Math.ceil((length * intervalMs) / (seconds * 1000));
  const { reply, play } = paced(text, { groupSize, intervalMs });
  return withAgent(program, { replies: [burst(["Ready."]), reply] }, async (agent) => {
    await agent.prompt("Are you there?");
    agent.forget();
    const before = agent.rssMiB;
    const settled = agent.prompt("Go on.");
    agent.stopReading();
    const played = play();
    let most = before;
    const end = performance.now() + seconds * 1000;
    while (performance.now() < end) {
      await sleep(sampleEveryMs);
      most = Math.max(most, agent.rssMiB);
    }
    agent.readOn();
    await played;
    await settled;
    verifyAnswer(agent.frames(), text);
    return most - before;
  });
}
