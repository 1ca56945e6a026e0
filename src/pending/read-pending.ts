// What a record says is pending, with the plans that are stored beside it and what the steps since made of them. Reads
// only: the owner of the session decides what happens to actions that did not survive.

import { messageOf } from "../base/errors.js";
import { decodePlan, type Plan } from "../plans/plan.js";
import type { StoredAction } from "../plans/stored-action.js";
import type { SessionEntry } from "../protocol/entries.js";
import type { SessionRecord } from "../record/record.js";
import type { ArtifactStore } from "../record/store/artifacts.js";
import { foldPending, type OpenAction, type PushedData, planRefOf, revisionOf } from "./pending-entries.js";
import { type Replayed, replayStep } from "./replay-steps.js";

export type PendingRecord = Pick<SessionRecord, "tree" | "sessionId"> & {
  readonly artifacts: Pick<ArtifactStore, "readPlan">;
};

export interface PendingOnRecord {
  readonly found: readonly StoredAction[];
  /** Closures, and plans that can no longer be read. */
  readonly lost: readonly { readonly pushed: PushedData; readonly cause?: string }[];
}

export async function readPending({ tree, artifacts, sessionId }: PendingRecord): Promise<PendingOnRecord> {
  const found: StoredAction[] = [];
  const lost: { pushed: PushedData; cause?: string }[] = [];
  const path = tree.pathTo();
  const { open } = foldPending(path, sessionId);
  const results = open.length === 0 ? new Map<string, string>() : resultEntries(path);
  for (const pushed of open) {
    const { planRef = planRefOf(pushed.id, 1) } = pushed;
    const text = pushed.kind === "plan" ? await artifacts.readPlan(planRef) : undefined;
    if (text === undefined) {
      lost.push({ pushed });
      continue;
    }
    try {
      const left = await replay(pushed, decodePlan(text), (ref) => artifacts.readPlan(ref));
      found.push(storedAction(pushed, left, results.get(pushed.toolCallId ?? "")));
    } catch (error) {
      lost.push({ pushed, cause: messageOf(error) });
    }
  }
  return { found, lost };
}

/** As far as the steps fit; what does not fit can only be discarded. */
async function replay(
  open: OpenAction,
  plan: Plan,
  readText: (planRef: string) => Promise<string | undefined>,
): Promise<Replayed & Pick<StoredAction, "misfit">> {
  const { id, label, revision = 1, steps, isUnreadable } = open;
  let left: Replayed = { plan, label, revision };
  try {
    for (const step of steps) left = await replayStep(left, step, readText);
  } catch (error) {
    return { ...left, revision: revisionOf(open), misfit: misfitText(id, messageOf(error)) };
  }
  return isUnreadable ? { ...left, misfit: misfitText(id, "another version of galley wrote it") } : left;
}

function misfitText(id: string, cause: string): string {
  return `Pending action ${id} cannot be applied: its record does not fit its plan (${cause}). Discard it and preview again.`;
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
  { plan, label, revision, edited, misfit }: Replayed & Pick<StoredAction, "misfit">,
  entryId: string | undefined,
): StoredAction {
  const { id, sourceToolName, toolCallId, details, createdAt, expiresAt, dependsOn, isForReview, run } = pushed;
  const files = plan.changes.map((change) => change.stamp);
  return {
    work: { kind: "plan", plan },
    isForReview: isForReview ?? false,
    ...(run ? { run } : {}),
    ...(edited?.size ? { edited } : {}),
    ...(misfit === undefined ? {} : { misfit, stalePaths: new Set(files.map(({ path }) => path)) }),
    action: {
      id,
      label,
      sourceToolName,
      kind: "plan",
      files,
      createdAt,
      ...(entryId === undefined ? {} : { entryId }),
      status: misfit === undefined ? "pending" : "stale",
      revision,
      attempts: 0,
      ...(misfit === undefined ? {} : { lastError: misfit }),
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...(details === undefined ? {} : { details }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(dependsOn === undefined ? {} : { dependsOn }),
    },
  };
}
