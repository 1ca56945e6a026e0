// A hundred commands in a row, each the shortest there is, and a hundred calls of a tool that does nothing. The floor
// makes the same round trips, starts the same shell and does as little.

import { floor, galley } from "../kit/agent.mjs";
import { callLoop, overheadRow } from "../kit/call-loop.mjs";
import { alternate, row } from "../kit/measure.mjs";

const calls = 100;

export async function commands() {
  const run = (program) => callLoop(program, { calls, tool: "bash", args: { command: "true" }, wanted: "(no output)" });
  const idle = (program) => callLoop(program, { calls, tool: "todo_write", args: { ops: [] }, wanted: "" });
  const shell = await alternate(7, { floor: () => run(floor), galley: () => run(galley) });
  const nothing = await alternate(7, { floor: () => idle(floor), galley: () => idle(galley) });
  const against = { name: "floor", samples: shell.floor };
  return [
    row({ name: `${calls} bash true calls`, unit: "ms", samples: shell.galley, against, limit: 1.5 }),
    overheadRow("a bash call, over the floor", shell, calls),
    overheadRow("a trivial call, over the floor", nothing, calls),
  ];
}
