// Makes a tree of whatever a file holds: every entry gets an id of its own, a parent that exists and a time that is a
// text, and no walk to the root goes round in a circle. Repairs depend on the file alone, so a repaired link holds at
// the next load, too.

import type { TypedObject } from "../../base/ndjson.js";
import type { SessionEntry } from "../../protocol/entries.js";
import { idOfLine } from "./migrate-entries.js";

export type LinkProblem = "no_id" | "duplicate_id" | "missing_parent" | "cycle";

interface Loose {
  readonly index: number;
  /** The parent that was named, if it is an id at all. */
  readonly parentId: unknown;
}

/** Changes the entries in place and tells each repair, with the entry's index. */
export function linkEntries(
  entries: readonly TypedObject[],
  lines: readonly number[],
  report: (problem: LinkProblem, index: number) => void,
): readonly SessionEntry[] {
  const indexById = new Map<string, number>();
  /** By an id that the file uses more than once: what the newest entry that has it is called here. */
  const newest = new Map<string, string>();
  const copies = new Map<string, number>();
  const loose: Loose[] = [];

  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] as TypedObject;
    const { parentId } = entry;
    // A program that gave an id twice meant the later entry ever after: hanging its successors on the first one
    // would cut the later one out of the history.
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
  // Only a link to a later line can close a circle. Where one does, no such link is to be trusted.
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
  /** The walk that first came by, counted from 1; an entry met twice in one walk is on a circle. */
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
