// What became of pending actions, as the record of the conversation tells it: for a page that is read after the decisions.

import { isObject } from "../base/json.js";
import type { SessionEntry } from "../protocol/entries.js";
import type { PendingOutcome } from "../protocol/pending.js";
import { pendingData } from "./pending-entries.js";

export interface StateOnRecord {
  readonly id: string;
  /** `pending` only in the session that staged it: of a copy it is not known what happened in the original. */
  readonly state: PendingOutcome | "pending" | "undone";
  /** Only some of its files or hunks were applied. */
  readonly isPart: boolean;
}

interface Staged {
  readonly id: string;
  /** The call that staged it, or the entry where no call did: a command of the user, an undo. */
  readonly stagedBy: string;
  readonly isOwn: boolean;
  /** The changes that it takes back. */
  readonly undoes: readonly string[];
  /** The changes by which it was applied. */
  readonly changeIds: string[];
  hasParts: boolean;
  outcome?: PendingOutcome;
}

/** By the call that staged them, or the entry. `path`: the entries of the conversation, in order. */
export function statesOnRecord(path: readonly SessionEntry[], session: string): Map<string, StateOnRecord[]> {
  const all = new Map<string, Staged>();
  for (const entry of path) {
    const data = pendingData(entry);
    const known = data && all.get(data.id);
    if (data?.event === "pushed") all.set(data.id, { ...readPushed(data, entry), isOwn: data.session === session });
    else if (known && data.event === "settled") {
      known.outcome = data.outcome as PendingOutcome;
      if (typeof data.changeId === "string") known.changeIds.push(data.changeId);
    } else if (known && data.event === "part" && typeof data.changeId === "string") {
      known.changeIds.push(data.changeId);
      known.hasParts = true;
    }
  }
  const takenBack = takenBackIn([...all.values()]);
  const states = new Map<string, StateOnRecord[]>();
  for (const { id, stagedBy, isOwn, changeIds, hasParts, outcome } of all.values()) {
    if (!isOwn && outcome === undefined) continue;
    const isUndone = changeIds.length > 0 && changeIds.every((change) => takenBack.has(change));
    const isPart = hasParts && outcome !== "applied" && !isUndone;
    const state = isUndone ? "undone" : isPart ? "applied" : (outcome ?? "pending");
    states.set(stagedBy, [...(states.get(stagedBy) ?? []), { id, state, isPart }]);
  }
  return states;
}

function readPushed(data: Record<string, unknown> & { id: string }, entry: SessionEntry): Omit<Staged, "isOwn"> {
  const { id, toolCallId, sourceToolName, details } = data;
  const { changeId, changeIds = [changeId] } = isObject(details) ? details : {};
  const undoes = sourceToolName === "undo" && Array.isArray(changeIds) ? changeIds : [];
  return {
    id,
    stagedBy: typeof toolCallId === "string" ? toolCallId : entry.id,
    undoes: undoes.filter((change) => typeof change === "string"),
    changeIds: [],
    hasParts: false,
  };
}

/** By changes that were not taken back themselves: what takes back is always the later one. */
function takenBackIn(all: readonly Staged[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { undoes, changeIds } of all.toReversed())
    if (changeIds.some((change) => !found.has(change))) for (const change of undoes) found.add(change);
  return found;
}
