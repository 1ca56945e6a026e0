// Whether a process still does anything. One that has ended and was not yet waited for keeps its number: some systems'
// first process collects such processes once a second only, and a test that waits for it waits for nothing.

import { readFileSync } from "node:fs";

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !isZombie(pid);
}

function isZombie(pid: number): boolean {
  if (process.platform !== "linux") return false;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z"); // the name before it may hold anything
  } catch {
    return true; // it has gone meanwhile
  }
}
