// Edits the new side of a hunk of a pending plan: what a person wrote is applied instead of what was proposed.

import { sha256Of } from "../base/digest.js";
import { GalleyError } from "../base/errors.js";
import type { TextMask } from "../base/text-mask.js";
import type { ChangeWriter } from "../plans/change-writer.js";
import type { Plan } from "../plans/plan.js";
import { reviseHunk } from "../plans/revise-hunk.js";
import type { StoredAction } from "../plans/stored-action.js";
import type { Decider, PendingActionView } from "../protocol/pending.js";
import { refuseOtherRevision } from "./decide/refuse-decision.js";
import { missingText } from "./decide/words.js";
import type { PendingActions } from "./pending-actions.js";
import { replaceChanges, withEdit } from "./replay-steps.js";
import { dependentsOf, planOf } from "./store/stack.js";
import { viewPending } from "./view-pending.js";

export interface ReviseRequest {
  readonly pendingId: string;
  /** What the caller saw. */
  readonly revision: number;
  readonly path: string;
  /** From 1, in the order of the file's diff. */
  readonly hunk: number;
  /** The new side of the hunk, context included. */
  readonly text: string;
  readonly by: Decider;
}

export interface ReviseDeps {
  /** What a diff does not show. */
  readonly mask: TextMask;
  readonly pending: PendingActions;
  readonly changes: Pick<ChangeWriter, "checkWritable">;
}

export async function revisePending(
  { pending, changes, mask }: ReviseDeps,
  request: ReviseRequest,
): Promise<{ action: PendingActionView }> {
  const { store } = pending;
  const { pendingId, path, hunk, text, by } = request;
  const plan = editablePlan(pending, request);
  const was = plan.changes.find(({ stamp }) => stamp.path === path);
  if (!was) throw new GalleyError("invalid_argument", `${path} is not part of this pending action.`);
  const [above] = dependentsOf(store, store.get(pendingId) as StoredAction, [was.path]);
  if (above)
    throw new GalleyError(
      "invalid_argument",
      `Pending action ${above.action.id} rests on it. Decide about that first.`,
    );
  const taken = store.take(pendingId);
  if (!taken) throw new GalleyError("not_found", missingText(store, pendingId));
  try {
    await changes.checkWritable(was.path);
    const change = await reviseHunk(was, hunk, text, mask);
    const revision = store.nextRevision(pendingId);
    store.changePlan(taken, {
      plan: { ...plan, changes: replaceChanges(plan, [change]) },
      step: { event: "revised", id: pendingId, revision, path, by, sha256: sha256Of(change.after), changes: [change] },
      files: [change.stamp],
      edited: withEdit(taken.edited, { change: was, by }),
    });
  } finally {
    store.putBack(pendingId);
  }
  await pending.flush();
  const [action] = await viewPending(store, { ids: [pendingId] });
  if (!action) throw new GalleyError("not_found", missingText(store, pendingId));
  return { action };
}

/** Why it cannot be edited, or its plan. */
function editablePlan({ store }: PendingActions, { pendingId, revision }: ReviseRequest): Plan {
  const stored = store.get(pendingId);
  if (!stored) throw new GalleyError("not_found", missingText(store, pendingId));
  refuseOtherRevision(stored, revision);
  const plan = planOf(stored);
  if (!plan) throw new GalleyError("invalid_argument", `Pending action ${pendingId} cannot be edited: it has no plan.`);
  if (stored.misfit !== undefined) throw new GalleyError("stale_preview", stored.misfit);
  if (stored.action.status === "stale")
    throw new GalleyError("stale_preview", `Pending action ${pendingId} is stale. Rebase or discard it first.`, {
      details: { files: [...(stored.stalePaths ?? [])] },
    });
  return plan;
}
