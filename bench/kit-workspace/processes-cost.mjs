// What a command costs here, against a bare Node program that does nothing but start `bash -c true`.

import { spawn } from "node:child_process";

const commands = 100;

/** Milliseconds for 100 commands, the median of the rounds. Rounds take turns, so that noise hits both. */
export async function measureCost({ module, directory, rounds }) {
  const { createNodeProcesses, silentLog } = await import(module);
  const times = { ours: [], bare: [] };
  for (let round = 0; round < rounds; round++) {
    const processes = createNodeProcesses({ env: process.env, log: silentLog });
    // With the watcher's start in it.
    times.ours.push(await timeOf(() => processes.run({ command: { shell: "true" }, cwd: directory })));
    await processes.shutdown();
    times.bare.push(await timeOf(() => bare(directory)));
  }
  const ours = middle(times.ours);
  const bareMs = middle(times.bare);
  return { ours: Math.round(ours), bare: Math.round(bareMs), ratio: ours / bareMs };
}

async function timeOf(run) {
  const started = performance.now();
  for (let index = 0; index < commands; index++) await run();
  return performance.now() - started;
}

function bare(cwd) {
  return new Promise((resolve) => {
    const child = spawn("bash", ["-c", "true"], { cwd });
    child.stdout.resume();
    child.stderr.resume();
    child.on("close", resolve);
  });
}

function middle(times) {
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
}
