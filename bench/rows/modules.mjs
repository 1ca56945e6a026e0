// Two hundred custom tools in one directory: `ready` does not wait for them, the first answer that lists tools does, and
// a reload costs what was edited. Without any, nothing of what loads modules is read.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, galley, workspace } from "../kit/agent.mjs";
import { alternate, expect, pluck, row, sleep } from "../kit/measure.mjs";

const count = 200;
const reloads = 6;
const place = join(workspace, "..", "modules");
const reporter = fileURLToPath(new URL("../kit/report-files.cjs", import.meta.url));
/** Of the loader: the transformer and the schema libraries that tools use. */
const loader = /[\\/](?:jiti|zod|typebox)\b/;

const withTools = {
  name: "galley with tools",
  args: (url) => [...galley.args(url), "--tool", join(place, "tools"), "-e", join(place, "again.ts")],
};

export async function modules() {
  writeModules();
  await expectNothingLoaded();
  const env = { GALLEY_AGENT_DIR: join(place, "agent") };
  const cold = await startOnce(withTools, { env });
  const samples = await alternate(5, {
    none: () => startOnce(galley),
    tools: () => startOnce(withTools, { env }),
  });
  const reloaded = await reloadTimes({ env });
  const against = (key) => ({ name: "no tools", samples: pluck(samples.none, key) });
  const mine = (key) => pluck(samples.tools, key);
  return [
    row({
      name: `ready with ${count} tools`,
      unit: "ms",
      samples: mine("readyMs"),
      against: against("readyMs"),
      limit: 1.15,
    }),
    row({ name: `first get_state with ${count} tools`, unit: "ms", samples: mine("ms"), against: against("ms") }),
    row({
      name: "the same when nothing is compiled yet",
      unit: "ms",
      samples: [cold.ms],
      against: { name: "compiled", samples: mine("ms") },
    }),
    row({
      name: `reload of ${count} tools after one was edited`,
      unit: "ms",
      samples: reloaded,
      against: { name: "the 50 ms that were set as a goal", samples: reloaded.map(() => 50) },
      limit: 1,
    }),
  ];
}

const toolText = (number, word) => `export default (pi) => ({
  name: "tool_${number}",
  description: "Says ${word}",
  approval: "read",
  parameters: pi.zod.object({ path: pi.zod.string().describe("A path"), times: pi.zod.number().default(1) }),
  async execute(toolCallId: string, params: { path: string }) {
    return { content: [{ type: "text", text: "${word} " + params.path }] };
  },
});
`;

function writeModules() {
  mkdirSync(join(place, "tools"), { recursive: true });
  mkdirSync(join(place, "agent"), { recursive: true });
  for (let number = 0; number < count; number++) writeTool(number, "once");
  writeFileSync(
    join(place, "again.ts"),
    `export default (pi) => pi.registerCommand("again", { handler: (args, ctx) => ctx.reload() });\n`,
  );
}

function writeTool(number, word) {
  writeFileSync(join(place, "tools", `tool-${number}.ts`), toolText(number, word));
}

async function startOnce(program, options) {
  const agent = new Agent(program, options);
  try {
    const { ready } = agent;
    const answered = agent.arrival('"command":"get_state","success":true');
    agent.send({ id: "1", type: "get_state" });
    const readyMs = (await ready) - agent.startedAt;
    const ms = (await answered) - agent.startedAt;
    expect(
      program === galley || (await toolsOf(agent)).has(`tool_${count - 1}`),
      "the first answer does not list the tools",
    );
    await agent.close();
    return { readyMs, ms };
  } finally {
    agent.kill();
  }
}

/** From the command to its answer, which comes when the tools are there. */
async function reloadTimes(options) {
  const agent = new Agent(withTools, options);
  const times = [];
  try {
    await state(agent);
    for (let round = 0; round <= reloads; round++) {
      const word = `word_${round}`;
      writeTool(7, word);
      agent.forget();
      const sentAt = performance.now();
      const answered = agent.arrival(`"id":"state_${round}"`);
      agent.send({ type: "prompt", message: "/again" }, { id: `state_${round}`, type: "get_state" });
      times.push((await answered) - sentAt);
      expect(JSON.stringify([...(await toolsOf(agent))]).includes(`Says ${word}`), "the edited tool is not there");
    }
    await agent.close();
  } finally {
    agent.kill();
  }
  return times.slice(1); // the first one finds nothing warm
}

async function state(agent) {
  const answered = agent.arrival('"command":"get_state","success":true');
  agent.send({ id: "0", type: "get_state" });
  await answered;
}

async function toolsOf(agent) {
  await sleep(50); // the rest of the line
  const answer = agent.frames().findLast(({ command }) => command === "get_state");
  return new Map(answer.data.dumpTools.map(({ name, description }) => [name, description]));
}

async function expectNothingLoaded() {
  for (const [program, wanted] of [
    [galley, false],
    [withTools, true], // the check can fail
  ]) {
    const agent = new Agent(program, { nodeArgs: ["--require", reporter] });
    try {
      await state(agent);
      const found = (await agent.loadedFiles()).filter((file) => loader.test(file));
      expect(found.length > 0 === wanted, `${program.name}: loaded ${found.join(", ") || "nothing of the loader"}`);
      await agent.close();
    } finally {
      agent.kill();
    }
  }
}
