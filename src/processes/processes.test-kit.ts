// For tests that start real processes and look for them afterwards.

import { readdirSync, readFileSync } from "node:fs";

/** The processes that live and have this text in their environment or command line. */
export function alive(tag: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        if (/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"))) return false;
        return ["environ", "cmdline"].some((file) => readFileSync(`/proc/${pid}/${file}`, "latin1").includes(tag));
      } catch {
        return false; // gone meanwhile
      }
    });
}

export async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error(`not within 15 s: ${isSo}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
