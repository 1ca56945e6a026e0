// How much memory the programs took that the bench has running.

import { readdirSync, readFileSync } from "node:fs";

/** The sum of the peaks, in MiB, of galley and the processes it started. */
export function peakOfDescendants() {
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const status = readFileSync(`/proc/${pid}/status`, "utf8");
        const field = (name) => Number(new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(status)?.[1] ?? 0);
        return [{ pid: Number(pid), parent: field("PPid"), kiB: field("VmHWM") }];
      } catch {
        return []; // it ended a moment ago
      }
    });
  const below = (parent) =>
    processes.filter((each) => each.parent === parent).flatMap((each) => [each, ...below(each.pid)]);
  return below(process.pid).reduce((sum, { kiB }) => sum + kiB, 0) / 1024;
}
