// Decides about a part of a plan: the chosen files or hunks are applied as a change set of their own, or dropped. The rest
// stays pending under the same id, for the files as they are then.

import { GalleyError } from "../../base/errors.js";
import type { AppliedChanges } from "../../plans/change-writer.js";
import { hunksIn } from "../../plans/diff/plan-diff.js";
import type { Plan } from "../../plans/plan.js";
import { type SplitPlan, type Subset, splitPlan } from "../../plans/split-plan.js";
import type { StoredAction } from "../../plans/stored-action.js";
import type { Along, DecidedPart, Outcome } from "../outcome.js";
import { dependentsOf, planOf } from "../store/stack.js";
import { applyFailed, applyShare } from "./apply-action.js";
import { decideWhole, discardAll } from "./decide-whole.js";
import type { DecideContext, Decision } from "./decision.js";
import { editedText, editedWithout } from "./edited-text.js";
import { refusalOf, refused, refuseOtherRevision, refuseUnnamed } from "./refuse-decision.js";
import { partShare, type Share } from "./shares.js";
import { missingText, writtenMembers } from "./words.js";

/** `paths`: of the files concerned, absolute; none where it was decided as a whole. */
export async function decidePart(
  context: DecideContext,
  id: string,
  { decision, subset }: { decision: Decision; subset: Subset },
): Promise<{ outcome: Outcome; paths: readonly string[] }> {
  const { store } = context;
  const asked = store.get(id);
  if (asked) refuseOtherRevision(asked, decision.revision);
  const refusal = asked && refusalOf(context, asked, decision);
  if (asked && refusal !== undefined) return { outcome: refused(store, asked, { decision, why: refusal }), paths: [] };
  const status = asked?.action.status;
  // Taken before it is read: another decision about a part would replace the plan meanwhile.
  const stored = store.take(id);
  if (!stored) throw new GalleyError("not_found", missingText(store, id));
  let part: Part;
  try {
    part = await partOf(context, stored, { decision, subset });
  } catch (error) {
    store.putBack(id, status);
    throw error;
  }
  if (!part.share) {
    store.putBack(id, status);
    return { outcome: await decideWhole(context, id, decision), paths: [] };
  }
  const { share, split } = part;
  const paths = split.chosen.map(({ path }) => path);
  try {
    const about = { id, action: stored.action, decision, part: await factsOf(stored, split) };
    if (decision.action === "discard")
      return { outcome: { kind: "discarded", ...about, also: discardPart(context, { share, decision }) }, paths };
    const edits = await editedText(stored, new Set(split.settled.map(({ path }) => path)));
    const { also, written } = await applyPart(context, { share, decision });
    const returned = { content: [], details: writtenMembers(written) };
    return { outcome: { kind: "applied", ...about, also, edits, returned, ...written }, paths };
  } catch (error) {
    return { outcome: await applyFailed(context, stored, withoutRefresh(decision), error), paths };
  }
}

async function factsOf(stored: StoredAction, { settled, chosenHunks }: SplitPlan): Promise<DecidedPart> {
  const { changes } = planOf(stored) as Plan;
  return { chosen: settled, hunks: chosenHunks, ofHunks: await hunksIn({ changes }), ofFiles: changes.length };
}

interface Part {
  readonly split: SplitPlan;
  /** Absent where nothing is left. */
  readonly share?: Required<Share>;
}

async function partOf(
  { store }: DecideContext,
  stored: StoredAction,
  { decision, subset }: { decision: Decision; subset: Subset },
): Promise<Part> {
  const plan = planOf(stored);
  const { id } = stored.action;
  if (!plan) throw new GalleyError("invalid_argument", `Pending action ${id} cannot be split.`);
  const split = await splitPlan(plan, subset, decision.action);
  const paths = split.chosen.map(({ path }) => path);
  refuseUnnamed(store, stored, { decision, paths });
  const left = decision.action === "apply" ? split.ifApplied : split.ifDiscarded;
  if (left.changes.length === 0) return { split };
  const share = await partShare(store, { stored, plan, ...split, left, reason: decision.reason });
  return { split, share };
}

interface DecidedShare {
  readonly share: Required<Share>;
  readonly decision: Decision;
}

/** In one change set with what the chosen files rest on. Actions on top stay valid: the rest leads to the same files. */
async function applyPart(context: DecideContext, { share, decision }: DecidedShare) {
  const applied = await applyShare(context, { share, decision });
  keepRest(context, { share, decision }, applied.written);
  return applied;
}

/** Together with the actions on top of the chosen files: they contain what was just discarded. */
function discardPart(context: DecideContext, { share, decision }: DecidedShare): Along[] {
  const { stored, changes } = share;
  const above = dependentsOf(
    context.store,
    stored,
    changes.map(({ path }) => path),
  );
  const also = discardAll(context.store, above, { id: stored.action.id, by: decision.by });
  keepRest(context, { share, decision });
  return also;
}

function keepRest({ store }: DecideContext, { share, decision }: DecidedShare, written?: AppliedChanges): void {
  const { stored, part, rest, files } = share;
  const { action, by } = decision;
  const changeId = written ? { changeId: written.changeId } : {};
  store.changePlan(stored, {
    plan: rest,
    step: { event: "part", action, by, ...part, ...changeId },
    label: part.rest.label,
    files,
    ...editedWithout(stored, part.settled),
  });
}

/** Only a whole plan can be refreshed. */
function withoutRefresh(decision: Decision): Decision {
  if (decision.extra?.refresh === undefined) return decision;
  const { refresh: _refresh, ...extra } = decision.extra;
  return { ...decision, extra };
}
