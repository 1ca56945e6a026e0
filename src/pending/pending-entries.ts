// Pending actions as entries of a session: one when an action is pushed, one when it ends. What is pending in a file is
// a fold over them; the plan itself is an artifact beside the file.

import { isDeepStrictEqual } from "node:util";
import { isObject } from "../base/json.js";
import type { ApplyOwner, RunMark } from "../preview/change-writer.js";
import { neededBy } from "../preview/settle.js";
import type { SessionEntry } from "../protocol/entries.js";
import type { Decider, FileStamp, PendingAction, PendingOutcome } from "../protocol/pending.js";
import type { EntryFields } from "../record/record-options.js";

export const pendingActionType = "pending_action";

export interface PushedData {
  readonly event: "pushed";
  readonly id: string;
  readonly label: string;
  readonly sourceToolName: string;
  readonly toolCallId?: string;
  readonly kind: PendingAction["kind"];
  readonly files?: FileStamp[];
  readonly details?: unknown;
  readonly planRef?: string;
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly dependsOn?: string[];
  readonly isForReview?: true;
  /** The run that staged it. */
  readonly run?: RunMark;
  /** The owning session: a copy of the file has the entry, but not the action. */
  readonly session: string;
}

interface SettledData {
  readonly event: "settled";
  readonly id: string;
  readonly outcome: PendingOutcome;
  readonly by: Decider;
  readonly reason: string;
  readonly error?: string;
}

export function pushedEntry(
  action: PendingAction,
  own: { isForReview: boolean; run?: RunMark | undefined; session: string },
): EntryFields {
  const { id, label, sourceToolName, toolCallId, kind, files, details, createdAt, expiresAt, dependsOn } = action;
  const data: PushedData = {
    event: "pushed",
    id,
    label,
    sourceToolName,
    ...(toolCallId === undefined ? {} : { toolCallId }),
    kind,
    ...(files === undefined ? {} : { files }),
    ...(details === undefined ? {} : { details }),
    ...(kind === "plan" ? { planRef: `${id}.plan` } : {}),
    createdAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(dependsOn === undefined ? {} : { dependsOn }),
    ...(own.isForReview ? { isForReview: true } : {}),
    ...(own.run ? { run: own.run } : {}),
    session: own.session,
  };
  return { type: "custom", customType: pendingActionType, data };
}

/** For an action that was recreated under another id; the last entry about it counts. */
export function renewedEntry(
  open: readonly PushedData[],
  action: PendingAction,
  isForReview: boolean,
): EntryFields | undefined {
  const known = open.find(({ id }) => id === action.id);
  const isSame = known?.label === action.label && isDeepStrictEqual(known.details, action.details);
  const { session, run } = known ?? {};
  return session !== undefined && !isSame ? pushedEntry(action, { isForReview, run, session }) : undefined;
}

export function settledEntry(settled: Omit<SettledData, "event">): EntryFields {
  const { id, outcome, by, reason, error } = settled;
  const data = { event: "settled", id, outcome, by, reason, ...(error === undefined ? {} : { error }) };
  return { type: "custom", customType: pendingActionType, data };
}

/**
 * The end entries of what one change applied, as far as they are not on record; dependencies come first. The caller
 * writes them together; if only some of them reach the disk, the next call returns the rest.
 */
export function appliedEntries(
  open: readonly PushedData[],
  { pendingId, alsoApplied = [], isPart }: Pick<ApplyOwner, "pendingId" | "alsoApplied" | "isPart">,
  { by, reason }: { by: Decider; reason: string },
): { id: string; reason: string; entry: EntryFields }[] {
  const below = alsoApplied.map((id) => ({ id, reason: neededBy(pendingId) }));
  return [...below, ...(isPart ? [] : [{ id: pendingId, reason }])]
    .filter(({ id }) => open.some((pushed) => pushed.id === id))
    .map((ended) => ({ ...ended, entry: settledEntry({ ...ended, outcome: "applied", by }) }));
}

export interface PendingFold {
  /** Pushed and not settled, the oldest first. */
  readonly open: readonly PushedData[];
  /** Every id that was ever used. */
  readonly ids: readonly string[];
}

/**
 * `entries` in the order of the file; only what this session staged itself is open. Entries of another form, or of a
 * later version, are skipped.
 */
export function foldPending(entries: Iterable<SessionEntry>, session: string): PendingFold {
  const open = new Map<string, PushedData>();
  const ids = new Set<string>();
  for (const entry of entries) {
    if (entry.type !== "custom" || entry.customType !== pendingActionType || !isObject(entry.data)) continue;
    const { event, id } = entry.data;
    if (typeof id !== "string") continue;
    ids.add(id);
    if (event === "settled") open.delete(id);
    else if (isPushedData(entry.data) && entry.data.session === session) open.set(id, entry.data);
  }
  return { open: [...open.values()], ids: [...ids] };
}

/** Whether an entry says that this action was staged. */
export function isPushed(entry: SessionEntry, id: string): boolean {
  if (entry.type !== "custom" || entry.customType !== pendingActionType || !isObject(entry.data)) return false;
  return isPushedData(entry.data) && entry.data.id === id;
}

function isPushedData(data: object): data is PushedData {
  const { event, label, sourceToolName, kind, createdAt } = data as Partial<PushedData>;
  return (
    event === "pushed" &&
    typeof label === "string" &&
    typeof sourceToolName === "string" &&
    (kind === "plan" || kind === "closure") &&
    typeof createdAt === "number"
  );
}
