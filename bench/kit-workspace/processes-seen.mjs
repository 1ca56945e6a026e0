// Who is alive, asked of the system: nothing here trusts what the code under test says about itself.

import { readdirSync, readFileSync } from "node:fs";

/** Processes that bear the tag in the environment they were started with, or on their command line. */
export function bearers(tag) {
  return processes().filter(
    (pid) => !isDead(pid) && ["environ", "cmdline"].some((file) => read(pid, file).includes(tag)),
  );
}

/** The watchers that a process started. */
export function watchersOf(parent) {
  return processes().filter(
    (pid) =>
      read(pid, "cmdline").includes("\0galley-reaper\0") &&
      / [A-Z] (\d+) /.exec(read(pid, "stat"))?.[1] === `${parent}`,
  );
}

export function isWatcher(pid) {
  return read(pid, "cmdline").includes("\0galley-reaper\0");
}

/** How long it took until nobody was left, in milliseconds; undefined if somebody was after the limit. */
export async function untilNone(isNone, limitMs) {
  const started = performance.now();
  while (!isNone()) {
    if (performance.now() - started > limitMs) return undefined;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return performance.now() - started;
}

export function killAll(pids) {
  for (const pid of pids) {
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // gone meanwhile
    }
  }
}

function processes() {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
}

function isDead(pid) {
  return /\) [ZX] /.test(read(pid, "stat"));
}

function read(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}
