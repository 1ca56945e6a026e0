// From the spawn to the first answer: time, CPU, memory. Also `--version`, and many programs at once.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Agent, agents, besideOthers, environment, floor, galley, workspace } from "../kit/agent.mjs";
import { alternate, expect, pluck, row, sleep } from "../kit/measure.mjs";

const reporter = fileURLToPath(new URL("../kit/report-cpu.cjs", import.meta.url));
/** A service for the models file that is never asked. */
const nowhere = "http://127.0.0.1:9";
const settleMs = 300;
/** Many, as a start takes a few dozen milliseconds and the machine's speed changes from one to the next. */
const startRounds = 45;
const crowdSize = 20;

export async function start() {
  const samples = await alternate(startRounds, {
    bare: () => runTime(["-e", "0"]),
    ...agents(startOnce),
    withModel: () => startOnce(galley, { url: nowhere }),
  });
  const idle = await alternate(5, { floor: () => idleMemory(floor), galley: () => idleMemory(galley) });
  const cpu = await alternate(5, { floor: () => cpuOf(floor), galley: () => cpuOf(galley) });
  const bare = { name: "bare", samples: samples.bare };
  const against = (key) => ({ name: "floor", samples: pluck(samples.floor, key) });
  const mine = (key) => pluck(samples.galley, key);
  return [
    row({ name: "spawn to ready", unit: "ms", samples: mine("readyMs"), against: bare, limit: 1.6 }),
    row({
      name: "spawn to ready, with --model and a models file",
      unit: "ms",
      samples: pluck(samples.withModel, "readyMs"),
      against: bare,
      limit: 1.6,
    }),
    row({ name: "spawn to get_state answer", unit: "ms", samples: mine("ms"), against: against("ms"), limit: 1.3 }),
    ...besideOthers(samples, {
      ...{ name: "spawn to get_state answer", unit: "ms" },
      ...{ pick: (all) => pluck(all, "ms"), limit: 1 / 7 },
    }),
    row({
      name: "CPU by then",
      unit: "ms",
      samples: cpu.galley,
      against: { name: "floor", samples: cpu.floor },
      limit: 1.6,
    }),
    row({
      name: "idle RSS",
      unit: "MiB",
      samples: idle.galley,
      against: { name: "floor", samples: idle.floor },
      limit: 1.4,
    }),
  ];
}

export async function version() {
  const samples = await alternate(9, {
    bare: () => runTime(["-e", "0"]),
    galley: () => runTime([galley.args()[0], "--version"]),
  });
  const against = { name: "bare", samples: samples.bare };
  return [row({ name: "--version", unit: "ms", samples: samples.galley, against, limit: 1.15 })];
}

export async function processes() {
  const samples = await alternate(3, { floor: () => crowd(floor), galley: () => crowd(galley) });
  return ["ms", "MiB"].map((unit) =>
    row({
      name: unit === "ms" ? `${crowdSize} processes all ready` : `${crowdSize} processes, sum of RSS`,
      unit,
      samples: pluck(samples.galley, unit),
      against: { name: "floor", samples: pluck(samples.floor, unit) },
      limit: 1.6,
    }),
  );
}

async function startOnce(program, options) {
  const agent = new Agent(program, options);
  try {
    const ready = agent.ready;
    const answered = firstAnswer(agent);
    const readyMs = (await ready) - agent.startedAt;
    const ms = (await answered) - agent.startedAt;
    await agent.close();
    return { readyMs, ms };
  } finally {
    agent.kill();
  }
}

async function idleMemory(program) {
  const agent = new Agent(program);
  try {
    await firstAnswer(agent);
    await sleep(settleMs);
    const { rssMiB } = agent;
    await agent.close();
    return rssMiB;
  } finally {
    agent.kill();
  }
}

async function cpuOf(program) {
  const agent = new Agent(program, { nodeArgs: ["--require", reporter] });
  try {
    await firstAnswer(agent);
    return await agent.cpuMs();
  } finally {
    agent.kill();
  }
}

/** Asked before the program can listen, as a host in a hurry does. */
function firstAnswer(agent) {
  const answered = agent.arrival('"command":"get_state","success":true');
  agent.send({ id: "1", type: "get_state" });
  return answered;
}

async function crowd(program) {
  const startedAt = performance.now();
  const agents = Array.from({ length: crowdSize }, () => new Agent(program));
  try {
    const moments = await Promise.all(agents.map((agent) => agent.ready));
    await sleep(settleMs);
    return {
      ms: Math.max(...moments) - startedAt,
      MiB: agents.reduce((sum, agent) => sum + agent.rssMiB, 0),
    };
  } finally {
    for (const agent of agents) agent.kill();
  }
}

/** From the spawn to the exit. */
async function runTime(args) {
  const env = environment();
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { cwd: workspace, env, stdio: ["ignore", "pipe", "ignore"] });
  child.stdout.resume();
  const [code] = await once(child, "close");
  expect(code === 0, `node ${args.join(" ")} ended with ${code}`);
  return performance.now() - startedAt;
}
