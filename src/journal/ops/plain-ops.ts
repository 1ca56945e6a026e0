// The ops of a change set in their plain form: a rename is a creation and a deletion, and every directory that has to come
// with a path that becomes one is an op of its own. Refuses sets whose ops cannot all be true together.

import { dirname } from "node:path";
import { refusal } from "../apply-failures.js";
import type { ChangeOp } from "../change-set.js";
import { belowTest } from "./order-ops.js";

export type PlainOp = Exclude<ChangeOp, { kind: "rename" }> & { readonly movedFrom?: string };

export function plainOps(op: ChangeOp): PlainOp[] {
  if (op.kind !== "rename") return [op];
  const { path, shownPath, beforeHash, beforeBytes, beforeType, force = false, to, shownTo, kind: _, ...content } = op;
  const type = beforeType === undefined ? {} : { beforeType };
  const seen = { beforeHash, force, ...type, beforeBytes };
  return [
    { kind: "create", path: to, shownPath: shownTo, movedFrom: path, ...content },
    { kind: "delete", path, shownPath, ...seen },
  ];
}

/** Files and links that become directories. */
export function turnedPaths(ops: readonly PlainOp[]): ReadonlySet<string> {
  const turned = ops.filter((op) => op.kind === "modify" && op.type === "directory" && op.beforeType !== "directory");
  return new Set(turned.map(({ path }) => path));
}

/**
 * Below a path that becomes a directory nothing can be made before step 6. So the directories that files need there are
 * ops too, although the plan does not name them.
 */
export function withDirectoriesBelow(given: readonly PlainOp[]): PlainOp[] {
  const ops = withTurned(given);
  const turned = turnedPaths(ops);
  const isBelow = belowTest(turned);
  const known = new Set(ops.map(({ path }) => path));
  const made: PlainOp[] = [];
  for (const { kind, path, shownPath } of ops) {
    if (kind !== "create" || !isBelow(path)) continue;
    let shown = dirname(shownPath);
    for (let at = dirname(path); !known.has(at); at = dirname(at)) {
      known.add(at);
      made.push({ kind: "create", type: "directory", path: at, shownPath: shown, bytes: new Uint8Array() });
      shown = dirname(shown);
    }
  }
  return [...ops, ...made];
}

/** A file or link that is deleted while something is made below its path becomes a directory. */
function withTurned(ops: readonly PlainOp[]): PlainOp[] {
  const needed = directoriesAbove(ops.filter(({ kind }) => kind === "create"));
  return ops.map((op) => {
    if (op.kind !== "delete" || op.beforeType === "directory" || !needed.has(op.path)) return op;
    return { ...op, kind: "modify", type: "directory", bytes: new Uint8Array() };
  });
}

/** Something is left below a path that will not be a directory. */
export function refuseImpossible(ops: readonly PlainOp[]): void {
  const needed = directoriesAbove(ops.filter(({ kind }) => kind !== "delete"));
  const blocked = ops.find((op) => (op.kind === "delete" || op.type !== "directory") && needed.has(op.path));
  if (blocked) throw refusal(blocked.shownPath, "another file needs a directory there");
}

function directoriesAbove(ops: readonly PlainOp[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { path } of ops)
    for (let at = dirname(path); at !== dirname(at) && !found.has(at); at = dirname(at)) found.add(at);
  return found;
}
