// The model service of the bench: galley's own scripted server on a real socket, and the replies that it plays.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Agent, root } from "./agent.mjs";

const { Gate, many, sse, startScriptedServer } = await import(pathToFileURL(join(root, "dist/testing.js")).href);

export { Gate };

const deltasPerWrite = 20;

/** The pieces of an answer of `count` deltas, all different, so that a lost or doubled one shows. */
export function pieces(count) {
  return Array.from({ length: count }, (_, index) => `${String(index).padStart(4, "0")} `);
}

/** The deltas as fast as the socket takes them. */
export function burst(deltas) {
  return { steps: [...deltaSteps(deltas), ...finish("stop")] };
}

/** Waits at a gate before the deltas and at another before the end. */
export function gated(before, deltas, after) {
  return { steps: [before.step, ...deltaSteps(deltas), after.step, ...finish("stop")] };
}

/** The deltas in groups at an even pace; `play` resolves when the last group was let go. */
export function paced(deltas, { groupSize, intervalMs }) {
  const groups = Array.from({ length: Math.ceil(deltas.length / groupSize) }, (_, index) => ({
    gate: new Gate(),
    deltas: deltas.slice(index * groupSize, (index + 1) * groupSize),
  }));
  const reply = {
    steps: [...groups.flatMap((group) => [group.gate.step, ...deltaSteps(group.deltas)]), ...finish("stop")],
  };
  return { reply, play: () => openInTurn(groups, intervalMs) };
}

export function toolCall(id, name, args) {
  const call = { index: 0, id, type: "function", function: { name, arguments: JSON.stringify(args) } };
  return { steps: [sse(chunk({ tool_calls: [call] })), ...finish("tool_calls")] };
}

/** Several calls of one tool in one reply. */
export function toolCalls(count, name, args) {
  const calls = Array.from({ length: count }, (_, index) => ({
    ...{ index, id: `call_${index}`, type: "function" },
    function: { name, arguments: JSON.stringify(args) },
  }));
  return { steps: [sse(chunk({ tool_calls: calls })), ...finish("tool_calls")] };
}

/**
 * Starts the service and a program that uses it, acts, and closes both. Fails unless every scripted reply was asked for
 * and played to its end.
 */
export async function withAgent(program, { replies, features, env }, act) {
  const server = await startScriptedServer(replies);
  const agent = new Agent(program, { url: server.url, env });
  try {
    await agent.ready;
    if (features) {
      const agreed = agent.arrival('"command":"negotiate_protocol","success":true');
      agent.send({ type: "negotiate_protocol", protocolVersion: 2, features });
      await agreed;
    }
    const result = await act(agent, server);
    await agent.close();
    await server.close();
    return result;
  } finally {
    agent.kill();
    await server.close().catch(() => {}); // the failure that led here says more than the unplayed rest
  }
}

/** Written out before the clock runs, and several in one write: what the service costs is not the program's time. */
function deltaSteps(deltas) {
  const writes = [];
  for (let first = 0; first < deltas.length; first += deltasPerWrite)
    writes.push(
      deltas
        .slice(first, first + deltasPerWrite)
        .map((content) => `data: ${JSON.stringify(chunk({ content }))}\n\n`)
        .join(""),
    );
  return [many(writes.length, (index) => writes[index])];
}

function chunk(delta, finishReason = null) {
  return { id: "chatcmpl-1", choices: [{ index: 0, delta, finish_reason: finishReason }] };
}

function finish(reason) {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  return [sse(chunk({}, reason)), sse({ id: "chatcmpl-1", choices: [], usage }), sse("[DONE]")];
}

/** By the time passed, not by the number of ticks: a late timer must not slow the pace. */
function openInTurn(groups, intervalMs) {
  const startedAt = performance.now();
  let next = 0;
  return new Promise((resolve) => {
    const timer = setInterval(
      () => {
        const due = Math.min(groups.length, Math.floor((performance.now() - startedAt) / intervalMs) + 1);
        for (; next < due; next++) groups[next].gate.open();
        if (next < groups.length) return;
        clearInterval(timer);
        resolve();
      },
      Math.min(intervalMs, 5),
    );
  });
}
