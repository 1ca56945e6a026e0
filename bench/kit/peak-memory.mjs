// How much memory the programs took that the bench has running. Pages that several of them share (the text of Node, mostly)
// count once, at the process that has most of them: the sum of what each has resident would count them for every process.

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
      const [parent] = fields(`/proc/${pid}/status`, ["PPid"]);
      return parent === undefined ? [] : [{ pid: Number(pid), parent }];
    });
  const below = (parent) =>
    processes.filter((each) => each.parent === parent).flatMap((each) => [each, ...below(each.pid)]);
  const sizes = below(process.pid).map(({ pid }) => {
    const [all = 0, clean = 0, dirty = 0] = fields(`/proc/${pid}/smaps_rollup`, [
      "Rss",
      "Private_Clean",
      "Private_Dirty",
    ]);
    return { own: clean + dirty, shared: Math.max(0, all - clean - dirty) };
  });
  // Not their proportional share: that falls with every other Node on the machine.
  return (sizes.reduce((sum, { own }) => sum + own, 0) + Math.max(0, ...sizes.map(({ shared }) => shared))) / 1024;
}

/** Of one reading, in their order; none of a process that ended a moment ago. */
function fields(path, names) {
  try {
    const text = readFileSync(path, "utf8");
    return names.map((name) => Number(new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(text)?.[1]));
  } catch {
    return [];
  }
}
