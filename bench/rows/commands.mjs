// A hundred commands in a row, each the shortest there is, a hundred calls of a tool that does nothing, and twenty commands
// of one reply. The floor makes the same round trips, starts the same shell, all at the same time, and does as little.

import { agents, besideOthers, floor, galley } from "../kit/agent.mjs";
import { callLoop, overheadRow } from "../kit/call-loop.mjs";
import { alternate, expect, row } from "../kit/measure.mjs";
import { burst, toolCalls, withAgent } from "../kit/model.mjs";

const calls = 100;
const atOnce = 20;

export async function commands() {
  const run = (program) => callLoop(program, { calls, tool: "bash", args: { command: "true" }, wanted: "(no output)" });
  const idle = (program) => callLoop(program, { calls, tool: "todo_write", args: { ops: [] }, wanted: "" });
  const shell = await alternate(7, { floor: () => run(floor), galley: () => run(galley) });
  const nothing = await alternate(7, { floor: () => idle(floor), galley: () => idle(galley) });
  const sleeping = await alternate(5, agents(together));
  const many = { name: `${atOnce} bash calls of one reply, sleep 0.2`, unit: "ms" };
  const against = { name: "floor", samples: shell.floor };
  return [
    row({ name: `${calls} bash true calls`, unit: "ms", samples: shell.galley, against, limit: 1.5 }),
    row({ ...many, samples: sleeping.galley, against: { name: "floor", samples: sleeping.floor }, limit: 2 }),
    ...besideOthers(sleeping, { ...many, limit: 1 }),
    overheadRow("a bash call, over the floor", shell, calls),
    overheadRow("a trivial call, over the floor", nothing, calls),
  ];
}

/** From the prompt to the end; all commands are in one reply. */
function together(program) {
  const replies = [burst(["Ready."]), toolCalls(atOnce, "bash", { command: "sleep 0.2" }), burst(["Done."])];
  return withAgent(program, { replies }, async (agent, server) => {
    await agent.prompt("Warm up.");
    const askedAt = performance.now();
    const settledAt = await agent.prompt("Go on.");
    const results = server.requests.at(-1).body.messages.filter(({ role }) => role === "tool");
    expect(results.length === atOnce, "not every command gave its result");
    return settledAt - askedAt;
  });
}
