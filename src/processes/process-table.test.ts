import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, it } from "vitest";
import { systemClock } from "../base/clock.js";
import { groupOf, isGroupAlive, killMarked, signalGroup, threadCount, whenGroupGone } from "./process-table.js";

const started: ChildProcess[] = [];
/** Everybody has it, also who went to a session of its own. */
const tag = `process-table-${process.pid};`;

afterEach(async () => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  await killMarked(tag);
});

/** Resolves once the program says a word, so it is known to run. */
async function start(line: string, env: Record<string, string> = {}) {
  const child = spawn("/bin/sh", ["-c", line], {
    detached: true,
    env: { PATH: process.env.PATH, TAG: tag, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  started.push(child);
  const [said] = await once(child.stdout, "data");
  return { child, pid: child.pid ?? 0, said: String(said) };
}

it("C-4: signals no group whose founder is another process", async () => {
  const { child, pid } = await start("echo ready; exec sleep 100");
  const group = groupOf(pid);
  expect(Number(group.startTime)).toBeGreaterThan(0);
  expect(isGroupAlive(group)).toBe(true);
  const earlier = { pid, startTime: `${Number(group.startTime) - 1}` };
  expect(isGroupAlive(earlier)).toBe(false);
  signalGroup(earlier, "SIGKILL");
  expect(isGroupAlive(group)).toBe(true);
  signalGroup(group, "SIGTERM");
  expect(await once(child, "exit")).toEqual([null, "SIGTERM"]);
  expect(isGroupAlive(group)).toBe(false);
});

it("knows a group that outlived its founder", async () => {
  const { child, pid } = await start("sleep 100 >/dev/null & echo ready; wait");
  const group = groupOf(pid);
  process.kill(pid, "SIGKILL");
  await once(child, "exit");
  expect(isGroupAlive(group)).toBe(true);
  expect(await whenGroupGone(group, systemClock, 20)).toBe(false);
  signalGroup(group, "SIGKILL");
  expect(await whenGroupGone(group, systemClock, 3000)).toBe(true);
});

it("does not wait for zombie processes", async () => {
  // The one who started the group becomes a program that never looks after children.
  const { said } = await start("setsid sh -c 'echo $$; exec sleep 0.2' & exec sleep 100");
  const group = groupOf(Number(said));
  expect(isGroupAlive(group)).toBe(true);
  expect(await whenGroupGone(group, systemClock, 3000)).toBe(true);
  expect(() => process.kill(-group.pid, 0)).not.toThrow(); // the system still counts it
});

it("C-2: kills the processes with the marker, and no others", async () => {
  const marker = `test-${process.pid}:1;`;
  const line = "setsid sh -c 'echo ready; exec sleep 100'";
  const marked = await start(line, { GALLEY_RUN: marker });
  const other = await start(line, { GALLEY_RUN: `test-${process.pid}:11;` });
  const ended = once(marked.child, "exit");
  await killMarked(marker);
  expect((await ended)[1] ?? "by a child").toBeTruthy();
  expect(isGroupAlive(groupOf(marked.pid))).toBe(false);
  expect(isGroupAlive(groupOf(other.pid))).toBe(true);
});

it("counts threads", () => {
  expect(threadCount()).toBeGreaterThan(5);
});
