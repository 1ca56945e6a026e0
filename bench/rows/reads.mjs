// A loop of tool calls: the model asks for the same file a hundred times, once per turn. The floor makes the same round
// trips and reads the same file, so what is left is what a call costs with us.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { agents, besideOthers, workspace } from "../kit/agent.mjs";
import { callLoop, overheadRow } from "../kit/call-loop.mjs";
import { alternate, row } from "../kit/measure.mjs";

const calls = 100;
const path = join(workspace, "notes.txt");
const line = "A line of the file that the model keeps asking for.";

export async function reads() {
  writeFileSync(path, `${line}\n`.repeat(20));
  const loop = (program) => callLoop(program, { calls, tool: "read", args: { path }, wanted: line });
  const samples = await alternate(7, agents(loop));
  const against = { name: "floor", samples: samples.floor };
  return [
    row({ name: `${calls} read calls in a row`, unit: "ms", samples: samples.galley, against, limit: 2 }),
    ...besideOthers(samples, { name: `${calls} read calls in a row`, unit: "ms" }),
    overheadRow("a read call, over the floor", samples, calls),
  ];
}
