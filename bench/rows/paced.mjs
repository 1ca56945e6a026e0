// A long answer at the pace of a quick model, in the plain protocol: what merging saves against an agent that sends the
// whole message, twice, with every delta.

import { galley } from "../kit/agent.mjs";
import { row } from "../kit/measure.mjs";
import { paced, pieces, withAgent } from "../kit/model.mjs";
import { verifyAnswer } from "../kit/verify.mjs";

const length = 8000;
const perSecond = 200;

export async function pacedAnswer() {
  const text = pieces(length);
  const { reply, play } = paced(text, { groupSize: 1, intervalMs: 1000 / perSecond });
  const sample = await withAgent(galley, { replies: [reply] }, async (agent) => {
    agent.forget();
    const settled = agent.prompt("Take your time.");
    await play();
    await settled;
    const frames = agent.frames();
    verifyAnswer(frames, text);
    return { MB: agent.stdoutBytes / 1e6, everyMB: everySnapshotBytes(frames, text) / 1e6 };
  });
  return [
    row({
      name: `${length.toLocaleString("en")} deltas at ${perSecond} per second, whole messages`,
      unit: "MB",
      samples: [sample.MB],
      against: { name: "every snapshot", samples: [sample.everyMB] },
      limit: 1 / 3,
    }),
  ];
}

/** One update per delta, each as long as the first update of this run would be with that much more text in both places. */
function everySnapshotBytes(frames, deltas) {
  const first = frames.find((frame) => frame.assistantMessageEvent?.type === "text_delta");
  const { delta } = first.assistantMessageEvent;
  const emptyBytes = Buffer.byteLength(JSON.stringify(first)) + 1 - 3 * delta.length;
  let bytes = 0;
  let textBytes = 0;
  for (const piece of deltas) {
    textBytes += piece.length;
    bytes += emptyBytes + piece.length + 2 * textBytes;
  }
  return bytes;
}
