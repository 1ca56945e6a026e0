// How much memory the programs took that the bench has running. Pages that several of them share (the text of Node, mostly)
// count once: the sum of what each has resident would count them for every process.

import { readdirSync, readFileSync } from "node:fs";

const everyMs = 100;

/** Looks on until `stop`, which answers the most that galley and the processes it has started took at a time, in MiB. */
export function watchMemory() {
  let mostMiB = 0;
  const look = () => {
    mostMiB = Math.max(mostMiB, memoryOfDescendants());
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

function memoryOfDescendants() {
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const parent = field(`/proc/${pid}/status`, "PPid");
      return parent === undefined ? [] : [{ pid: Number(pid), parent }];
    });
  const below = (parent) =>
    processes.filter((each) => each.parent === parent).flatMap((each) => [each, ...below(each.pid)]);
  const shares = below(process.pid).map(({ pid }) => field(`/proc/${pid}/smaps_rollup`, "Pss") ?? 0);
  return shares.reduce((sum, kiB) => sum + kiB, 0) / 1024;
}

/** Undefined for a process that ended a moment ago. */
function field(path, name) {
  try {
    return Number(new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(readFileSync(path, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}
