// How much memory the programs took that the bench has running.

import { readdirSync, readFileSync } from "node:fs";

const everyMs = 100;

/** Looks on until `stop`, which answers the most that galley and the processes it has started took, in MiB. */
export function watchMemory() {
  let mostMiB = 0;
  const look = () => {
    mostMiB = Math.max(mostMiB, peaksOfDescendants());
  };
  const timer = setInterval(look, everyMs);
  return {
    stop() {
      clearInterval(timer);
      look();
      return mostMiB;
    },
  };
}

/** The peak of each process that runs now, in all: a process that has ended since gave its memory back. */
function peaksOfDescendants() {
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
