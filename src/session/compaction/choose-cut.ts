// Where a compaction cuts the path: what is summarised, what is kept word for word. Pure. Promises: a tool call and its
// results stay together, and nothing falls between the previous compaction's kept part and this one's span.

import type { CompactionEntry, SessionEntry } from "../../protocol/entries.js";
import { messageOfEntry } from "../../record/entry-message.js";
import { contextStart, entryTokens, latestCompactionIndex, prunedIds } from "../context-usage.js";

export interface Cut {
  /** Its summary stands for everything before the span. */
  readonly previous: CompactionEntry | undefined;
  /** Whole turns. */
  readonly history: readonly SessionEntry[];
  /** The beginning of the turn that the cut goes through; empty when it falls between turns. */
  readonly turnHead: readonly SessionEntry[];
  readonly firstKeptEntryId: string;
}

export type CutProblem = "Already compacted" | "Nothing to compact (session too small)";

/** `path` runs from the root to the leaf; about `keepTokens` of its end are kept. */
export function chooseCut(path: readonly SessionEntry[], keepTokens: number): Cut | { readonly problem: CutProblem } {
  const compaction = latestCompactionIndex(path);
  if (compaction >= 0 && !path.slice(compaction + 1).some(messageOfEntry)) return { problem: "Already compacted" };
  const start = contextStart(path);
  const point = cutPoint(path, start, keepTokens);
  const kept = point === undefined ? start : withMetadata(path, start, point);
  const first = path[kept];
  const hasContent = path.slice(start, kept).some((entry) => entryTokens(entry) > 0);
  if (point === undefined || !first || !hasContent) return { problem: "Nothing to compact (session too small)" };
  const turn = turnStart(path, start, point);
  return {
    previous: compaction >= 0 ? (path[compaction] as CompactionEntry) : undefined,
    history: path.slice(start, Math.min(turn, kept)),
    turnHead: path.slice(Math.min(turn, kept), kept),
    firstKeptEntryId: first.id,
  };
}

/** May what is kept begin with this entry? Only where the context reaches back to it and no call is torn apart. */
export function isCutPoint(path: readonly SessionEntry[], entryId: string): boolean {
  const start = contextStart(path);
  const index = path.findIndex(({ id }) => id === entryId);
  if (index < start) return false;
  const first = path.slice(index).find(messageOfEntry);
  return (first === undefined || canBeginWith(first)) && !openCalls(path, start)[index];
}

/** The valid point nearest to where the kept part is large enough: at or after it, else before it. */
function cutPoint(path: readonly SessionEntry[], start: number, keepTokens: number): number | undefined {
  const wanted = walkBack(path, start, keepTokens);
  if (wanted === undefined) return undefined;
  const isOpen = openCalls(path, start);
  const isValid = (index: number) => canBeginWith(path[index]) && !isOpen[index];
  for (let index = wanted; index < path.length; index++) if (isValid(index)) return index;
  // The end is one large result: its call is kept with it.
  for (let index = wanted - 1; index >= start; index--) if (isValid(index)) return index;
  return undefined;
}

/** Undefined when all of it fits. */
function walkBack(path: readonly SessionEntry[], start: number, keepTokens: number): number | undefined {
  const pruned = prunedIds(path);
  let tokens = 0;
  for (let index = path.length - 1; index >= start; index--) {
    tokens += entryTokens(path[index] as SessionEntry, pruned);
    if (tokens >= keepTokens) return index;
  }
  return undefined;
}

/** True at an index when a call before it has its result at or behind it. */
function openCalls(path: readonly SessionEntry[], start: number): boolean[] {
  const change: number[] = [];
  /** Where each call was made. Some services use an id again; the newest call takes the result. */
  const calls = new Map<string, number>();
  for (let index = start; index < path.length; index++) {
    const message = messageOfEntry(path[index] as SessionEntry);
    if (message?.role === "assistant") {
      for (const block of message.content) if (block.type === "toolCall") calls.set(block.id, index);
    } else if (message?.role === "toolResult") {
      const made = calls.get(message.toolCallId);
      if (made === undefined) continue; // an orphan result has no call to stay with
      change[made + 1] = (change[made + 1] ?? 0) + 1;
      change[index + 1] = (change[index + 1] ?? 0) - 1;
    }
  }
  let open = 0;
  return Array.from(path, (_, index) => {
    open += change[index] ?? 0;
    return open > 0;
  });
}

function canBeginWith(entry: SessionEntry | undefined): boolean {
  const role = entry && messageOfEntry(entry)?.role;
  return role !== undefined && (role === "assistant" || turnStarters.has(role));
}

function isTurnStart(entry: SessionEntry): boolean {
  const role = messageOfEntry(entry)?.role;
  return role !== undefined && turnStarters.has(role);
}

const turnStarters: ReadonlySet<string> = new Set([
  "user",
  "developer",
  "bashExecution",
  "pythonExecution",
  "custom",
  "hookMessage",
  "branchSummary",
]);

/** Metadata directly before the point (a model change, say) is about what follows, so it is kept too. */
function withMetadata(path: readonly SessionEntry[], start: number, point: number): number {
  let kept = point;
  for (let entry = path[kept - 1]; kept > start && entry && isMetadata(entry); entry = path[kept - 1]) kept--;
  return kept;
}

function isMetadata(entry: SessionEntry): boolean {
  return entry.type !== "compaction" && messageOfEntry(entry) === undefined;
}

/** Where the turn that holds the point begins; the point itself when that is a start, or when no start is left. */
function turnStart(path: readonly SessionEntry[], start: number, point: number): number {
  for (let index = point; index >= start; index--) if (isTurnStart(path[index] as SessionEntry)) return index;
  return point;
}
