// Which changes cannot be made without others, because of the directories that they are in: a new file needs the directory
// that is made for it, and a directory can go only with everything in it. In one plan, and between plans.

import { dirname } from "node:path";
import { changesByPath, type Plan, type PlannedChange, typeAfter, typeBefore } from "./plan.js";

interface DirectoryIndex {
  /** Absolute paths at which the plan makes a directory, whatever is there before. */
  readonly made: ReadonlySet<string>;
  /** Absolute paths at which a directory goes. */
  readonly removed: ReadonlySet<string>;
}

const none: DirectoryIndex = { made: new Set(), removed: new Set() };
const indexes = new WeakMap<readonly PlannedChange[], DirectoryIndex>();

function directoriesIn(changes: readonly PlannedChange[]): DirectoryIndex {
  const known = indexes.get(changes);
  if (known) return known;
  const typed = changes.filter(({ type, stamp }) => type === "directory" || stamp.type === "directory");
  const made = typed.filter((change) => typeAfter(change) === "directory" && typeBefore(change) !== "directory");
  const index = typed.length === 0 ? none : { made: pathsOf(made), removed: pathsOf(typed.filter(removesDirectory)) };
  indexes.set(changes, index);
  return index;
}

function removesDirectory(change: PlannedChange): boolean {
  return typeBefore(change) === "directory" && typeAfter(change) !== "directory";
}

function pathsOf(changes: readonly PlannedChange[]): ReadonlySet<string> {
  return new Set(changes.map(({ path }) => path));
}

/** The chosen changes of a plan with what they need, in the plan's order. A discard takes what needs them instead. */
export function withNeeded(
  changes: readonly PlannedChange[],
  chosen: readonly PlannedChange[],
  action: "apply" | "discard",
): readonly PlannedChange[] {
  const { made, removed } = directoriesIn(changes);
  if (made.size === 0 && removed.size === 0) return chosen;
  const byPath = changesByPath({ changes });
  const taken = new Set(chosen);
  const take = (change: PlannedChange | undefined) => {
    if (!change || taken.has(change)) return;
    taken.add(change);
    waiting.push(change);
  };
  const waiting = [...chosen];
  for (let change = waiting.pop(); change; change = waiting.pop()) {
    const { path } = change;
    if (action === "apply") {
      if (typeBefore(change) === undefined) for (const at of above(path, made)) take(byPath.get(at));
      if (removed.has(path)) for (const other of changes) if (isBelow(other.path, path)) take(other);
    } else {
      if (typeAfter(change) === undefined) for (const at of above(path, removed)) take(byPath.get(at));
      // Without a directory of its own a file gets one anyway, unless something else is in its place.
      const isTurned = made.has(path) && typeBefore(change) !== undefined;
      if (isTurned) for (const other of changes) if (isBelow(other.path, path)) take(other);
    }
  }
  return changes.filter((change) => taken.has(change));
}

/** Absolute paths of the changes of a lower plan that a change of an upper one rests on. */
export function restsOnIn(upper: PlannedChange | undefined, path: string, lower: Plan): string[] {
  const byPath = changesByPath(lower);
  const own = byPath.has(path) ? [path] : [];
  if (!upper) return own;
  const { made } = directoriesIn(lower.changes);
  if (made.size > 0 && typeBefore(upper) === undefined) own.push(...above(path, made));
  if (removesDirectory(upper)) for (const { path: other } of lower.changes) if (isBelow(other, path)) own.push(other);
  return own;
}

function above(path: string, paths: ReadonlySet<string>): string[] {
  const found: string[] = [];
  if (paths.size === 0) return found;
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) if (paths.has(at)) found.push(at);
  return found;
}

function isBelow(path: string, directory: string): boolean {
  return path.startsWith(`${directory}/`);
}
