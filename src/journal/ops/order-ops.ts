// The order in which step 6 carries out the ops, and where their temporary names are. Files go before the directory that
// they are in, and come after it; rolling back takes the reverse order. A name beside a target must survive all of step 6,
// so it is never in a directory that goes or comes there.

import { dirname } from "node:path";
import type { StoredOp } from "../records.js";
import { becomesDirectory, losesDirectory } from "./op-types.js";

type Op = Pick<StoredOp, "kind" | "path" | "before" | "after" | "type" | "beforeType">;

/** Paths of directories that step 6 removes or puts in place. */
export function unsteadyDirectories(ops: readonly Op[]): ReadonlySet<string> {
  const turned = ops.filter(becomesDirectory).map(({ path }) => path);
  const isBelow = belowTest(new Set(turned));
  const made = ops.filter((op) => op.type === "directory" && op.before === null && isBelow(op.path));
  return new Set([...turned, ...[...made, ...ops.filter(losesDirectory)].map(({ path }) => path)]);
}

/** The directory for the temporary names of a path. */
export function steadyDirectory(path: string, unsteady: ReadonlySet<string>): string {
  let directory = dirname(path);
  for (let at = directory; at !== dirname(at); at = dirname(at)) if (unsteady.has(at)) directory = dirname(at);
  return directory;
}

export function belowTest(paths: ReadonlySet<string>): (path: string) => boolean {
  if (paths.size === 0) return () => false;
  return (path) => {
    for (let at = dirname(path); ; at = dirname(at)) {
      if (paths.has(at)) return true;
      if (at === dirname(at)) return false;
    }
  };
}

/** Ops without directories keep their order. */
export function inOrder<T extends Op>(ops: readonly T[]): T[] {
  const isBelow = belowTest(new Set(ops.filter(becomesDirectory).map(({ path }) => path)));
  const rank = (op: T): [number, number] => {
    if (losesDirectory(op)) return [1, -op.path.length]; // the deepest first
    if (becomesDirectory(op)) return [2, 0];
    if (!isBelow(op.path)) return [0, 0];
    return op.type === "directory" ? [3, op.path.length] : [4, 0];
  };
  const ranked = ops.map((op) => ({ op, rank: rank(op) }));
  ranked.sort((a, b) => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1]);
  return ranked.map(({ op }) => op);
}
