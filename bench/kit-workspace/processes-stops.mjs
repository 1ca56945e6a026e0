// Aborts and timeouts of commands that do not want to stop. Each is answered in time, and then nobody is left.

import { readdirSync } from "node:fs";
import { randomFrom } from "../kit-session/random.mjs";
import { stubbornKinds } from "./processes-kinds.mjs";
import { bearers, killAll } from "./processes-seen.mjs";

const lanes = 10;
const limitMs = 3000;

export async function runStops({ module, directory, count, seed }) {
  const { createNodeProcesses, silentLog } = await import(module);
  const processes = createNodeProcesses({ env: process.env, log: silentLog });
  const random = randomFrom(seed);
  const figures = { stops: 0, survivors: 0, late: 0, slowestMs: 0 };
  const problems = [];
  const names = Object.keys(stubbornKinds);
  let round = 0;

  const stop = async () => {
    const number = round++;
    const name = names[number % names.length];
    const tag = `galleystop${process.pid}x${seed}x${number}x`;
    const isTimeout = random.below(2) === 1;
    const controller = new AbortController();
    const timeoutMs = 150 + random.below(200);
    let said = "";
    let stoppedAt = performance.now() + timeoutMs;
    const end = await processes.run({
      command: { shell: stubbornKinds[name](tag) },
      cwd: directory,
      env: { TAG: tag },
      mergesOutput: random.below(2) === 1,
      signal: controller.signal,
      timeoutMs: isTimeout ? timeoutMs : undefined,
      onOutput(chunk) {
        if (said.length < 1000) said += Buffer.from(chunk).toString();
        if (!isTimeout && !controller.signal.aborted && said.includes("ready")) {
          stoppedAt = performance.now();
          controller.abort();
        }
        return undefined;
      },
    });
    const tookMs = performance.now() - stoppedAt;
    const left = bearers(tag);
    figures.stops++;
    figures.slowestMs = Math.max(figures.slowestMs, Math.round(tookMs));
    figures.survivors += left.length;
    if (tookMs > limitMs) figures.late++;
    if (left.length > 0 || tookMs > limitMs)
      problems.push(`${name}: ${left.length} left after ${Math.round(tookMs)} ms`);
    if (end.stopped !== (isTimeout ? "timed_out" : "aborted")) problems.push(`${name}: ${JSON.stringify(end)}`);
    killAll(left);
  };
  const lane = async () => {
    while (round < count) await stop();
  };

  await processes.run({ command: { shell: "true" }, cwd: directory }); // the watcher is there from here on
  const before = readdirSync("/proc/self/fd").length;
  await Promise.all(Array.from({ length: lanes }, lane));
  for (let turns = 0; turns < 10; turns++) await new Promise(setImmediate); // descriptors are closed in the background
  const descriptorsLeaked = Math.max(0, readdirSync("/proc/self/fd").length - before);
  await processes.shutdown();
  return { ...figures, descriptorsLeaked, problems };
}
