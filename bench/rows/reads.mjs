// A loop of tool calls: the model asks for the same file a hundred times, once per turn.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { floor, galley, workspace } from "../kit/agent.mjs";
import { alternate, expect, row } from "../kit/measure.mjs";
import { burst, toolCall, withAgent } from "../kit/model.mjs";

const calls = 100;
const path = join(workspace, "notes.txt");
const line = "A line of the file that the model keeps asking for.";

export async function reads() {
  writeFileSync(path, `${line}\n`.repeat(20));
  const samples = await alternate(5, { floor: () => readLoop(floor), galley: () => readLoop(galley) });
  const against = { name: "floor", samples: samples.floor };
  return [row({ name: `${calls} read calls in a row`, unit: "ms", samples: samples.galley, against, limit: 2 })];
}

function readLoop(program) {
  const replies = Array.from({ length: calls }, (_, index) => toolCall(`call_${index}`, "read", { path }));
  return withAgent(program, { replies: [...replies, burst(["Done."])] }, async (agent, server) => {
    const askedAt = performance.now();
    const settledAt = await agent.prompt("Read it.");
    const results = server.requests.at(-1).body.messages.filter(({ role }) => role === "tool");
    const isRight = ({ content }) => JSON.stringify(content).includes(line);
    expect(results.length === calls && results.every(isRight), "not every call read the file");
    return settledAt - askedAt;
  });
}
