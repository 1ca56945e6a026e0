// A hundred commands in a row, each the shortest there is, against a bare loop that starts the same shell as often.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { galley, workspace } from "../kit/agent.mjs";
import { alternate, expect, row } from "../kit/measure.mjs";
import { burst, toolCall, withAgent } from "../kit/model.mjs";

const calls = 100;

export async function commands() {
  const samples = await alternate(5, { bare: bareLoop, galley: commandLoop, reads: listLoop });
  const perCall = samples.reads.map((total) => total / calls);
  const against = { name: "spawn loop", samples: samples.bare };
  return [
    row({ name: `${calls} bash true calls`, unit: "ms", samples: samples.galley, against }),
    row({
      name: "a trivial call through the loop",
      unit: "ms",
      samples: perCall,
      against: { name: "the 3 ms that were set as a goal", samples: perCall.map(() => 3) },
      limit: 1,
    }),
  ];
}

async function bareLoop() {
  const startedAt = performance.now();
  for (let call = 0; call < calls; call++)
    await once(spawn("bash", ["-c", "true"], { cwd: workspace, stdio: ["ignore", "pipe", "pipe"] }), "close");
  return performance.now() - startedAt;
}

const commandLoop = () => loop("bash", { command: "true" }, "(no output)");
const listLoop = () => loop("todo_write", { ops: [] }, "");

function loop(tool, args, wanted) {
  const replies = Array.from({ length: calls }, (_, index) => toolCall(`call_${index}`, tool, args));
  return withAgent(galley, { replies: [...replies, burst(["Done."])] }, async (agent, server) => {
    const askedAt = performance.now();
    const settledAt = await agent.prompt("Run it.");
    const results = server.requests.at(-1).body.messages.filter(({ role }) => role === "tool");
    const isRight = ({ content }) => JSON.stringify(content).includes(wanted);
    expect(results.length === calls && results.every(isRight), "not every call gave its result");
    return settledAt - askedAt;
  });
}
