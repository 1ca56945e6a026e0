// What a record says is pending, with the plans that are stored beside it. Reads only: the owner of the session decides
// what happens to actions that did not survive.

import { messageOf } from "../base/errors.js";
import type { StoredAction } from "../preview/pending-action-store.js";
import { decodePlan } from "../preview/plan.js";
import type { SessionEntry } from "../protocol/entries.js";
import type { SessionRecord } from "../record/record.js";
import type { ArtifactStore } from "../record/store/artifacts.js";
import { foldPending, type PushedData } from "./pending-entries.js";

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
    const text = pushed.kind === "plan" ? await artifacts.readPlan(pushed.id) : undefined;
    if (text === undefined) {
      lost.push({ pushed });
      continue;
    }
    try {
      found.push(storedAction(pushed, text, results.get(pushed.toolCallId ?? "")));
    } catch (error) {
      lost.push({ pushed, cause: messageOf(error) });
    }
  }
  return { found, lost };
}

/** The entry that holds the result of each tool call. */
function resultEntries(path: readonly SessionEntry[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const entry of path)
    if (entry.type === "message" && entry.message.role === "toolResult") found.set(entry.message.toolCallId, entry.id);
  return found;
}

function storedAction(pushed: PushedData, text: string, entryId: string | undefined): StoredAction {
  const plan = decodePlan(text);
  const { id, label, sourceToolName, toolCallId, details, createdAt, expiresAt, dependsOn, isForReview, run } = pushed;
  return {
    work: { kind: "plan", plan },
    isForReview: isForReview ?? false,
    ...(run ? { run } : {}),
    action: {
      id,
      label,
      sourceToolName,
      kind: "plan",
      files: plan.changes.map((change) => change.stamp),
      createdAt,
      ...(entryId === undefined ? {} : { entryId }),
      status: "pending",
      attempts: 0,
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...(details === undefined ? {} : { details }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(dependsOn === undefined ? {} : { dependsOn }),
    },
  };
}
