// Child processes that do not want to die, in short: a killed galley, stubborn commands, floods. The long form runs the
// same functions of bench/kit-workspace/processes.mjs with larger numbers.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { beforeAll, expect, it } from "vitest";
import {
  buildProcessesModule,
  exhaustDescriptors,
  runFlood,
  runForkBomb,
  runGalleyKills,
  runStops,
} from "../../bench/kit-workspace/processes.mjs";
import { isLong, runs } from "../../test/kit/runs.js";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";

const directory = temporaryDirectory();
let module = "";

beforeAll(async () => {
  module = await buildProcessesModule(directory);
});

it("F-50: SIGKILL to galley leaves no process and no watcher", async () => {
  const {
    kills,
    seen,
    slowestMs: _slowestMs,
    ...rest
  } = await runGalleyKills({ module, directory, count: runs(24), seed: 1 });
  expect(rest).toEqual({ survivors: 0, watchersLeft: 0, problems: [] });
  expect(kills).toBe(runs(24));
  expect(seen).toBeGreaterThan(runs(24));
}, 60_000);

it("the watcher does not keep a program from its end", async () => {
  const script = `
    const { createNodeProcesses, silentLog } = await import(${JSON.stringify(module)});
    const processes = createNodeProcesses({ env: process.env, log: silentLog });
    const run = () => processes.run({ command: { shell: "true" }, cwd: "/", mergesOutput: true });
    console.log(await run(), await run());`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "ignore" });
  expect(await once(child, "close")).toEqual([0, null]);
});

it("F-51: aborts and timeouts are answered in 3 s and leave no process", async () => {
  const {
    stops,
    slowestMs: _slowestMs,
    ...rest
  } = await runStops({ module, directory, count: isLong ? 10 : 5, seed: 1 });
  expect(rest).toEqual({ survivors: 0, late: 0, descriptorsLeaked: 0, problems: [] });
  expect(stops).toBe(isLong ? 10 : 5);
}, 60_000);

it("F-51: a program with nothing else to do still waits for the stop it asked for", async () => {
  const line = "sh -c 'trap : TERM; while :; do sleep 1; done' >/dev/null 2>&1 & wait";
  const script = `
    const { createNodeProcesses, silentLog } = await import(${JSON.stringify(module)});
    const processes = createNodeProcesses({ env: process.env, log: silentLog });
    console.log(await processes.run({ command: { shell: ${JSON.stringify(line)} }, cwd: "/", timeoutMs: 100 }));
    await processes.shutdown();`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  expect(await once(child, "close")).toEqual([0, null]);
  expect(said).toBe("{ exitCode: 143, stopped: 'timed_out' }\n");
});

it("F-52: many processes, and another command beside them", async () => {
  const { processes, survivors } = await runForkBomb({ module, directory, depth: 5 });
  expect(survivors).toBe(0);
  expect(processes).toBeGreaterThanOrEqual(32);
}, 60_000);

it("F-52: much output in little memory", async () => {
  const { bytes, grownBytes } = await runFlood({ module, directory, bytes: 200_000_000 });
  expect(bytes).toBe(200_000_000);
  expect(grownBytes).toBeLessThan(64 * 1024 * 1024);
}, 60_000);

it("F-52: no descriptor left, for a command and for galley itself", async () => {
  const { opened, fine, refused, ...rest } = await exhaustDescriptors({ module, directory });
  expect(opened).toBeGreaterThan(3900);
  expect(opened).toBeLessThan(4096);
  expect(rest).toEqual({ otherwise: 0, fineAfterwards: true });
  expect(fine).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
}, 60_000);
