// The same tool call over and over, one per turn, and what one of them costs beyond the floor.

import { expect, row } from "./measure.mjs";
import { burst, toolCall, withAgent } from "./model.mjs";

const goalMs = 3;

/** The time from the prompt to the end; `wanted` is in every result. The first call is made before the clock runs. */
export function callLoop(program, { calls, tool, args, wanted }) {
  const replies = Array.from({ length: calls + 1 }, (_, index) => toolCall(`call_${index}`, tool, args));
  const script = [replies[0], burst(["Ready."]), ...replies.slice(1), burst(["Done."])];
  return withAgent(program, { replies: script }, async (agent, server) => {
    await agent.prompt("Warm up.");
    const askedAt = performance.now();
    const settledAt = await agent.prompt("Go on.");
    const results = server.requests.at(-1).body.messages.filter(({ role }) => role === "tool");
    const isRight = ({ content }) => JSON.stringify(content).includes(wanted);
    expect(results.length === calls + 1 && results.every(isRight), "not every call gave its result");
    return settledAt - askedAt;
  });
}

/** Sorted before they are taken from each other, so that the quartile of the differences is that of the two quartiles. */
export function overheadRow(name, { galley, floor }, calls) {
  const [ours, least] = [galley, floor].map((samples) => samples.toSorted((a, b) => a - b));
  const samples = ours.map((total, index) => (total - least[index]) / calls);
  const against = { name: `the goal of ${goalMs} ms`, samples: samples.map(() => goalMs) };
  return row({ name, unit: "ms", samples, against, limit: 1 });
}
