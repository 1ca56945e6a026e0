// What a record says is pending, with the plans that are stored beside it and what the steps since made of them. Reads
// only: the owner of the session decides what happens to actions that did not survive.

import { GalleyError, messageOf } from "../base/errors.js";
import { decodePlan, type Plan } from "../plans/plan.js";
import type { StoredAction } from "../plans/stored-action.js";
import type { SessionEntry } from "../protocol/entries.js";
import type { SessionRecord } from "../record/record.js";
import type { ArtifactStore } from "../record/store/artifacts.js";
import { foldPending, type OpenAction, type PushedData, planRefOf, revisionOf } from "./pending-entries.js";
import { type ReadPlanText, type Replayed, replayStep } from "./replay-steps.js";

export type PendingRecord = Pick<SessionRecord, "tree" | "sessionId"> & {
  readonly artifacts: Pick<ArtifactStore, "readPlan">;
};

export interface PendingOnRecord {
  /** With those whose plan can no longer be read: they can only be discarded. */
  readonly found: readonly StoredAction[];
  /** Closures: they ended with their process. */
  readonly lost: readonly PushedData[];
}

/** What is known of an action beside its entry. */
type Found = Replayed & Pick<StoredAction, "misfit" | "damage">;

export async function readPending({ tree, artifacts, sessionId }: PendingRecord): Promise<PendingOnRecord> {
  const path = tree.pathTo();
  const { open } = foldPending(path, sessionId);
  const results = open.length === 0 ? new Map<string, string>() : resultEntries(path);
  const found: StoredAction[] = [];
  for (const pushed of open)
    if (pushed.kind === "plan")
      found.push(storedAction(pushed, await planOnRecord(pushed, artifacts), results.get(pushed.toolCallId ?? "")));
  return { found, lost: open.filter(({ kind }) => kind !== "plan") };
}

async function planOnRecord(pushed: OpenAction, { readPlan }: PendingRecord["artifacts"]): Promise<Found> {
  const { id, label, planRef = planRefOf(id, 1), planSha256 } = pushed;
  let plan: Plan;
  try {
    const text = await readPlan(planRef, planSha256);
    if (text === undefined) throw new GalleyError("not_found", "it is not there");
    plan = decodePlan(text);
  } catch (error) {
    const damage = `its plan is damaged: ${messageOf(error)}`;
    const none: Plan = { changes: [], applied: { text: "" } };
    return { plan: none, label, revision: revisionOf(pushed), misfit: misfitText(id, damage), damage };
  }
  return replay(pushed, plan, readPlan);
}

/** As far as the steps fit; what does not fit can only be discarded. */
async function replay(open: OpenAction, plan: Plan, readText: ReadPlanText): Promise<Found> {
  const { id, label, revision = 1, steps, isUnreadable } = open;
  let left: Replayed = { plan, label, revision };
  try {
    for (const step of steps) left = await replayStep(left, step, readText);
  } catch (error) {
    const damage = `its record does not fit its plan (${messageOf(error)})`;
    return { ...left, revision: revisionOf(open), misfit: misfitText(id, damage), damage };
  }
  const cause = "its record does not fit its plan (another version of galley wrote it)";
  return isUnreadable ? { ...left, misfit: misfitText(id, cause) } : left;
}

function misfitText(id: string, cause: string): string {
  return `Pending action ${id} cannot be applied: ${cause}. Discard it and preview again.`;
}

/** The entry that holds the result of each tool call. */
function resultEntries(path: readonly SessionEntry[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const entry of path)
    if (entry.type === "message" && entry.message.role === "toolResult") found.set(entry.message.toolCallId, entry.id);
  return found;
}

function storedAction(
  pushed: PushedData,
  { plan, label, revision, edited, misfit, damage }: Found,
  entryId: string | undefined,
): StoredAction {
  const { id, sourceToolName, toolCallId, details, createdAt, expiresAt, dependsOn, isForReview, run } = pushed;
  const files = plan.changes.length === 0 ? (pushed.files ?? []) : plan.changes.map((change) => change.stamp);
  return {
    work: { kind: "plan", plan },
    isForReview: isForReview ?? false,
    ...(run ? { run } : {}),
    ...(edited?.size ? { edited } : {}),
    damage,
    ...(misfit === undefined ? {} : { misfit, stalePaths: new Set(files.map(({ path }) => path)) }),
    action: {
      id,
      label,
      sourceToolName,
      kind: "plan",
      files,
      createdAt,
      entryId,
      status: misfit === undefined ? "pending" : "stale",
      revision,
      attempts: 0,
      lastError: misfit,
      toolCallId,
      details,
      expiresAt,
      dependsOn,
    },
  };
}
