// Links the entries of a file to a tree: every entry gets a unique id, a parent that exists and a time that is a string,
// and there is no cycle. Repairs depend on the file alone, so the next load makes the same ones.

import type { TypedObject } from "../../base/ndjson.js";
import type { SessionEntry } from "../../protocol/entries.js";
import { idOfLine } from "./migrate-entries.js";

export type LinkProblem = "no_id" | "duplicate_id" | "missing_parent" | "cycle";

interface Loose {
  readonly index: number;
  /** The parent that was named, if it is an id at all. */
  readonly parentId: unknown;
}

/** Changes the entries in place and reports each repair with the entry's index. */
export function linkEntries(
  entries: readonly TypedObject[],
  lines: readonly number[],
  report: (problem: LinkProblem, index: number) => void,
): readonly SessionEntry[] {
  const indexById = new Map<string, number>();
  /** For an id that the file uses more than once: the id that its newest entry got here. */
  const newest = new Map<string, string>();
  const copies = new Map<string, number>();
  const loose: Loose[] = [];

  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] as TypedObject;
    const { parentId } = entry;
    // A program that used an id twice means the later entry from then on: attaching its successors to the first one
    // would drop the later one from the history.
    const isKnown = typeof parentId === "string" && indexById.has(parentId);
    if (isKnown) entry.parentId = newest.get(parentId) ?? parentId;
    else if (parentId !== null) loose.push({ index, parentId });

    const written = typeof entry.id === "string" && entry.id !== "" ? entry.id : undefined;
    if (written === undefined) report("no_id", index);
    const wanted = written ?? idOfLine(lines[index] ?? index);
    let id = wanted;
    for (let copy = copies.get(wanted) ?? 1; indexById.has(id); copies.set(wanted, copy)) id = `${wanted}-${++copy}`;
    if (written !== undefined && id !== written) report("duplicate_id", index);
    entry.id = id;
    if (id !== wanted) newest.set(wanted, id);
    indexById.set(id, index);
    if (typeof entry.timestamp !== "string") entry.timestamp = "";
  }

  const forward: number[] = [];
  for (const { index, parentId } of loose) {
    if (typeof parentId === "string" && indexById.has(parentId)) {
      forward.push(index);
      continue;
    }
    report("missing_parent", index);
    attachToPrevious(entries, index);
  }
  // Only a link to a later line can close a cycle. Where one does, no such link is trusted.
  if (forward.length > 0 && hasCycle(entries, indexById))
    for (const index of forward) {
      report("cycle", index);
      attachToPrevious(entries, index);
    }
  // From here on the types hold for what every entry has; the rest is checked where it is used.
  return entries as readonly TypedObject[] as readonly SessionEntry[];
}

function attachToPrevious(entries: readonly TypedObject[], index: number): void {
  const entry = entries[index];
  if (entry) entry.parentId = entries[index - 1]?.id ?? null;
}

function hasCycle(entries: readonly TypedObject[], indexById: ReadonlyMap<string, number>): boolean {
  /** The first walk that met the entry, counted from 1; an entry met twice in one walk is on a cycle. */
  const walkedIn = new Uint32Array(entries.length);
  for (let start = 0; start < entries.length; start++) {
    let index: number | undefined = start;
    while (index !== undefined && walkedIn[index] === 0) {
      walkedIn[index] = start + 1;
      index = indexById.get(entries[index]?.parentId as string);
    }
    if (index !== undefined && walkedIn[index] === start + 1) return true;
  }
  return false;
}
