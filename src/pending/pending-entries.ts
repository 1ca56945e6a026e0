// Pending actions as entries of a session: one when an action is pushed, one for every step that changes it, one when it
// ends. What is pending in a file is a fold over them; the plans themselves are artifacts beside the file.

import { isObject } from "../base/json.js";
import type { AppliedActions, ChangeMade, RunMark } from "../plans/change-writer.js";
import type { PartStep, PlanStep } from "../plans/plan-step.js";
import type { SessionEntry } from "../protocol/entries.js";
import type { Decider, FileStamp, PendingAction, PendingOutcome } from "../protocol/pending.js";
import type { EntryFields } from "../record/record-options.js";
import { neededBy } from "./decide/words.js";
import { isStepData, type StepData } from "./step-data.js";

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
  /** Of the plan's text; absent in older files. */
  readonly planSha256?: string;
  /** Default: 1. */
  readonly revision?: number;
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly dependsOn?: string[];
  readonly isForReview?: true;
  readonly run?: RunMark;
  /** The owning session: a copy of the file has the entry, but not the action. */
  readonly session: string;
}

/** What is pending according to the entries. */
export interface OpenAction extends PushedData {
  /** The steps since it was pushed, in their order. */
  readonly steps: readonly StepData[];
  /** There is an entry about it that this version cannot read. */
  readonly isUnreadable?: true;
}

interface SettledData {
  readonly event: "settled";
  readonly id: string;
  readonly outcome: PendingOutcome;
  readonly by: Decider;
  readonly reason: string;
  readonly error?: string | undefined;
  /** The change by which a plan was applied. */
  readonly changeId?: string;
}

/** The name of the artifact that holds the plan of a revision, or the files that the revision changed. */
export function planRefOf(id: string, revision: number): string {
  return revision === 1 ? `${id}.plan` : `${id}.${revision}.plan`;
}

export function pushedEntry(
  action: PendingAction,
  own: { isForReview: boolean; run?: RunMark | undefined; session: string; planSha256: string | undefined },
): EntryFields {
  const { id, label, sourceToolName, toolCallId, kind, files, details, createdAt, expiresAt, dependsOn } = action;
  const { revision } = action;
  const data: PushedData = {
    event: "pushed",
    id,
    label,
    sourceToolName,
    toolCallId,
    kind,
    files,
    details,
    ...(kind === "plan" ? { planRef: planRefOf(id, revision), planSha256: own.planSha256 } : {}),
    ...(revision === 1 ? {} : { revision }),
    createdAt,
    expiresAt,
    dependsOn,
    ...(own.isForReview ? { isForReview: true } : {}),
    ...(own.run ? { run: own.run } : {}),
    session: own.session,
  };
  return entryOf(data);
}

/** The plan of a renewed action is pushed again. */
export function stepEntry(step: Exclude<PlanStep, { event: "renewed" }>, planSha256?: string): EntryFields {
  if (step.event === "part") return entryOf(step);
  const { changes: _, ...told } = step;
  return entryOf({ ...told, planRef: planRefOf(step.id, step.revision), planSha256 });
}

export function settledEntry(settled: Omit<SettledData, "event">): EntryFields {
  const { id, outcome, by, reason, error, changeId } = settled;
  return entryOf({ event: "settled", id, outcome, by, reason, error, changeId });
}

/** The end of what only the process that staged it could do. */
export function orphaned({ id, label, sourceToolName }: PushedData) {
  const reason = `Pending action ${id} (${label}) did not survive the restart. Run ${sourceToolName} again.`;
  return { id, outcome: "orphaned", by: "runtime", reason } as const;
}

function entryOf(data: object): EntryFields {
  return { type: "custom", customType: pendingActionType, data };
}

/** What one change did to an action. */
export interface AppliedEntry {
  readonly id: string;
  readonly reason: string;
  /** Absent where the action ended. */
  readonly step?: PartStep;
  readonly entry: EntryFields;
}

/**
 * The entries about what one change applied, as far as they are not on record; dependencies come first. The caller
 * writes them together; if only some of them reach the disk, the next call returns the rest.
 */
export function appliedEntries(
  open: readonly OpenAction[],
  { pendingId, alsoApplied = [], isPart, parts = [] }: AppliedActions,
  { changeId, by, reason }: ChangeMade,
): AppliedEntry[] {
  const taken = parts.map((part): AppliedEntry => {
    const step: PartStep = { event: "part", action: "apply", by, ...part, changeId };
    return { id: part.id, reason: part.reason, step, entry: stepEntry(step) };
  });
  const below = alsoApplied.map((id) => ({ id, reason: neededBy(pendingId) }));
  const ended = [...below, ...(isPart ? [] : [{ id: pendingId, reason }])].map(
    (end): AppliedEntry => ({ ...end, entry: settledEntry({ ...end, outcome: "applied", by, changeId }) }),
  );
  return [...taken, ...ended].filter(({ id, step }) =>
    open.some((pushed) => pushed.id === id && (!step || revisionOf(pushed) < step.revision)),
  );
}

export function revisionOf({ revision = 1, steps }: OpenAction): number {
  return steps.at(-1)?.revision ?? revision;
}

export interface PendingFold {
  /** Pushed and not settled, the oldest first. */
  readonly open: readonly OpenAction[];
  /** Every id that was ever used, with its highest revision. */
  readonly ids: ReadonlyMap<string, number>;
}

/**
 * `entries` in the order of the file; only what this session staged itself is open. Entries of another form, or of a
 * later version, are skipped.
 */
export function foldPending(entries: Iterable<SessionEntry>, session: string): PendingFold {
  const open = new Map<string, OpenAction & { steps: StepData[]; isUnreadable?: true }>();
  const ids = new Map<string, number>();
  for (const entry of entries) {
    const data = pendingData(entry);
    if (!data) continue;
    const { event, id, revision = 1 } = data;
    ids.set(id, Math.max(ids.get(id) ?? 1, Number.isSafeInteger(revision) ? Number(revision) : 1));
    const known = open.get(id);
    if (event === "settled") open.delete(id);
    else if (isPushedData(data)) {
      if (data.session === session) open.set(id, { ...data, steps: [] });
    } else if (known && !isStepData(data)) known.isUnreadable = true;
    else if (known && isStepData(data) && data.revision > revisionOf(known)) known.steps.push(data);
  }
  return { open: [...open.values()], ids };
}

/** How an action ended, if these entries say so. */
export function endOnRecord(entries: readonly SessionEntry[], id: string): PendingOutcome | undefined {
  let end: PendingOutcome | undefined;
  for (const entry of entries) {
    const data = pendingData(entry);
    if (data?.id === id) end = data.event === "settled" ? (data.outcome as PendingOutcome) : undefined;
  }
  return end;
}

/** Whether an entry says that this action was staged. */
export function isPushed(entry: SessionEntry, id: string): boolean {
  const data = pendingData(entry);
  return data?.id === id && isPushedData(data);
}

/** What an entry says about a pending action; its members are not checked yet. */
export function pendingData(entry: SessionEntry): (Record<string, unknown> & { readonly id: string }) | undefined {
  if (entry.type !== "custom" || entry.customType !== pendingActionType || !isObject(entry.data)) return undefined;
  return typeof entry.data.id === "string" ? (entry.data as Record<string, unknown> & { id: string }) : undefined;
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
