// What the record's path says about pending actions: which ids are in use, which actions belong to it, and which
// previews a compaction left in the model's context. Reads only.

import type { StoredAction } from "../plans/stored-action.js";
import type { SessionRecord } from "../record/record.js";
import { foldPending } from "./pending-entries.js";

/** Every id that the record uses with its highest revision, and whether something on its path is still pending. */
export function idsOnRecord({ tree, sessionId }: SessionRecord): {
  ids: ReadonlyMap<string, number>;
  hasOpen: boolean;
} {
  const { ids } = foldPending(tree.custom, sessionId);
  // Most records have none, and then the path need not be walked.
  return { ids, hasOpen: ids.size > 0 && foldPending(tree.pathTo(), sessionId).open.length > 0 };
}

/** True for an action that is open on the path. `open`: the ids that are pending there. */
export function isOnPath({ tree }: SessionRecord, open: ReadonlySet<string>): (stored: StoredAction) => boolean {
  const path = new Set(tree.pathTo().map(({ id }) => id));
  return ({ action: { id, entryId } }) => open.has(id) && (entryId === undefined || path.has(entryId));
}

/** True for an action whose preview the latest compaction removed from the context. */
export function isCompactedAway({ tree }: SessionRecord): (stored: StoredAction) => boolean {
  const path = tree.pathTo();
  const last = path.findLast((entry) => entry.type === "compaction");
  const from = path.findIndex(({ id }) => id === last?.firstKeptEntryId);
  const kept = new Set(from < 0 ? [] : path.slice(from).map(({ id }) => id));
  return ({ action }) => action.entryId === undefined || !kept.has(action.entryId);
}
