// Decides about a part of a plan: the chosen files or hunks are applied as a change set of their own, or dropped. The rest
// stays pending under the same id, for the files as they are then.

import { GalleyError } from "../../base/errors.js";
import type { AppliedChanges } from "../../plans/change-writer.js";
import { hunksIn } from "../../plans/diff/plan-diff.js";
import type { Plan } from "../../plans/plan.js";
import { type SplitPlan, type Subset, splitPlan } from "../../plans/split-plan.js";
import type { StoredAction } from "../../plans/stored-action.js";
import { dependentsOf, planOf } from "../store/stack.js";
import { applyFailed, applyShare, writtenDetails } from "./apply-action.js";
import { discardAll, settleWhole } from "./decide-whole.js";
import type { Decision, SettleContext, Settled } from "./decision.js";
import { editedText, editedWithout } from "./edited-text.js";
import { refusalOf, refuseOtherRevision, refuseUnnamed } from "./refuse-decision.js";
import { metadata, missingText, refused, type SettledWith, withIt } from "./settle-texts.js";
import { partShare, type Share } from "./shares.js";

export interface DecidedPart extends Pick<Settled, "result" | "code" | "staleFiles"> {
  /** Nothing is left: it was settled as a whole. */
  readonly isWhole: boolean;
  /** Absolute paths of the files concerned. */
  readonly paths: readonly string[];
  /** What a person made of the text of these files before. */
  readonly edits?: string | undefined;
}

export async function settlePart(
  context: SettleContext,
  id: string,
  { decision, subset }: { decision: Decision; subset: Subset },
): Promise<DecidedPart> {
  const { store } = context;
  const asked = store.get(id);
  if (asked) refuseOtherRevision(asked, decision.revision);
  const refusal = asked && refusalOf(context, asked, decision);
  if (asked && refusal !== undefined)
    return { ...refused(context, asked, decision, refusal), isWhole: false, paths: [] };
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
    const edits = decision.action === "apply" ? await editedText(stored) : undefined;
    return { ...(await settleWhole(context, id, decision)), isWhole: true, paths: [], edits };
  }
  const { share, split } = part;
  const paths = split.chosen.map(({ path }) => path);
  try {
    const partText = await textOf(stored, { decision, split });
    const edits = await editedText(stored, new Set(split.settled.map(({ path }) => path)));
    const { others, written } =
      decision.action === "apply"
        ? await applyPart(context, { share, decision })
        : discardPart(context, { share, decision });
    const texts = [partText, withIt(others, decision.action)].filter((text) => text !== undefined);
    const content = texts.map((text) => ({ type: "text" as const, text }));
    const source = written ? { sourceResultDetails: writtenDetails(written) } : {};
    const details = { ...metadata(store, stored, decision), ...source, partial: true, settled: split.settled };
    return { result: { content, details }, isWhole: false, paths, edits };
  } catch (error) {
    return { ...(await applyFailed(context, stored, withoutRefresh(decision), error)), isWhole: false, paths };
  }
}

interface Part {
  readonly split: SplitPlan;
  /** Absent where nothing is left. */
  readonly share?: Required<Share>;
}

async function partOf(
  { store }: SettleContext,
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

interface SettledPart {
  /** What was settled with it. */
  readonly others: readonly SettledWith[];
  readonly written?: AppliedChanges;
}

interface DecidedShare {
  readonly share: Required<Share>;
  readonly decision: Decision;
}

/** In one change set with what the chosen files rest on. Actions on top stay valid: the rest leads to the same files. */
async function applyPart(context: SettleContext, { share, decision }: DecidedShare): Promise<SettledPart> {
  const { written, below } = await applyShare(context, { share, decision });
  keepRest(context, { share, decision }, written);
  return { others: below, written };
}

/** Together with the actions on top of the chosen files: they contain what was just discarded. */
function discardPart(context: SettleContext, { share, decision }: DecidedShare): SettledPart {
  const { stored, changes } = share;
  const above = dependentsOf(
    context.store,
    stored,
    changes.map(({ path }) => path),
  );
  discardAll(context.store, above, { id: stored.action.id, by: decision.by });
  keepRest(context, { share, decision });
  return { others: above.map((other) => ({ stored: other })) };
}

function keepRest({ store }: SettleContext, { share, decision }: DecidedShare, written?: AppliedChanges): void {
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

async function textOf(
  stored: StoredAction,
  { decision, split }: { decision: Decision; split: SplitPlan },
): Promise<string> {
  const { changes } = planOf(stored) as Plan;
  const { settled, chosenHunks } = split;
  const word = decision.action === "apply" ? "Applied" : "Discarded";
  const paths = settled.map(({ path }) => path).join(", ");
  return `${word} ${chosenHunks} of ${await hunksIn({ changes })} hunks in ${settled.length} of ${changes.length} files (${paths}).`;
}
