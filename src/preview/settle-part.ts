// Decides about a part of a plan: the chosen files or hunks are applied as a change set of their own, or dropped. The rest
// stays pending under the same id, for the files as they are then.

import { GalleyError } from "../base/errors.js";
import type { AppliedChanges } from "./change-writer.js";
import type { StoredAction } from "./pending-action-store.js";
import { combinePlans, type Plan } from "./plan.js";
import { type SplitPlan, type Subset, splitPlan } from "./plan-diff.js";
import {
  applyFailed,
  applyOn,
  type Decision,
  discardAll,
  metadata,
  missingText,
  plansOf,
  refusalOf,
  refused,
  type SettleContext,
  type Settled,
  settleAction,
  withIt,
  writtenDetails,
} from "./settle.js";
import { dependenciesOf, dependentsOf } from "./stack.js";

export async function settlePart(
  context: SettleContext,
  id: string,
  { decision, subset }: { decision: Decision; subset: Subset },
): Promise<Pick<Settled, "result" | "code"> & { isWhole: boolean }> {
  const { store } = context;
  const asked = store.get(id);
  const refusal = asked && refusalOf(context, asked, decision);
  if (asked && refusal !== undefined) return { ...refused(context, asked, decision, refusal), isWhole: false };
  const status = asked?.action.status;
  // Taken before it is read: another decision about a part would replace the plan meanwhile.
  const stored = store.take(id);
  if (!stored) throw new GalleyError("not_found", missingText(store, id));
  let split: SplitPlan;
  try {
    split = await splitOf(stored, subset);
  } catch (error) {
    store.putBack(id, status);
    throw error;
  }
  const rest = decision.action === "apply" ? split.restIfApplied : split.restIfDiscarded;
  if (!rest) {
    store.putBack(id, status);
    return { ...(await settleAction(context, id, decision)), isWhole: true };
  }
  const what = { stored, split, rest, decision };
  try {
    const { others, written } =
      decision.action === "apply" ? await applyPart(context, what) : discardPart(context, what);
    const note = withIt(others, decision.action);
    const texts = [partText(decision, split, stored), ...(note === undefined ? [] : [note])];
    const content = texts.map((text) => ({ type: "text" as const, text }));
    const source = written ? { sourceResultDetails: writtenDetails(written) } : {};
    const details = { ...metadata(store, stored, decision), ...source, partial: true, settled: split.settled };
    return { result: { content, details }, isWhole: false };
  } catch (error) {
    return { ...(await applyFailed(context, stored, withoutRefresh(decision), error)), isWhole: false };
  }
}

async function splitOf({ action: { id }, work }: StoredAction, subset: Subset): Promise<SplitPlan> {
  if (work.kind !== "plan") throw new GalleyError("invalid_argument", `Pending action ${id} cannot be split.`);
  return splitPlan(work.plan, subset);
}

interface Part {
  readonly stored: StoredAction;
  readonly split: SplitPlan;
  readonly rest: Plan;
  readonly decision: Decision;
}

interface SettledPart {
  /** What was settled with it. */
  readonly others: readonly StoredAction[];
  readonly written?: AppliedChanges;
}

/** In one change set with what the chosen files depend on. Actions on top stay valid: the rest leads to the same files. */
async function applyPart(context: SettleContext, { stored, split, rest, decision }: Part): Promise<SettledPart> {
  const { store } = context;
  const below = dependenciesOf(store, stored, pathsIn(split));
  const written = await applyOn(context, below, { stored, decision }, async (owner) => {
    const chosen = combinePlans([...plansOf(below), { ...rest, changes: split.chosen }]);
    await context.keepRest?.(stored.action.id, rest);
    return context.changes.apply(chosen, { ...owner, isPart: true }, context.session);
  });
  store.changePlan(stored, rest);
  return { others: below, written };
}

/** Together with the actions on top of the chosen files: they contain what was just discarded. */
function discardPart({ store }: SettleContext, { stored, split, rest, decision: { by } }: Part): SettledPart {
  const { id } = stored.action;
  const above = dependentsOf(store, stored, pathsIn(split));
  discardAll(store, above, { id, by });
  store.changePlan(stored, rest);
  return { others: above };
}

/** Only a whole plan can be refreshed. */
function withoutRefresh(decision: Decision): Decision {
  if (decision.extra?.refresh === undefined) return decision;
  const { refresh: _refresh, ...extra } = decision.extra;
  return { ...decision, extra };
}

function pathsIn({ chosen }: SplitPlan): string[] {
  return chosen.map(({ path }) => path);
}

function partText(
  { action }: Decision,
  { settled, chosenHunks, totalHunks }: SplitPlan,
  { action: { files = [] } }: StoredAction,
): string {
  const word = action === "apply" ? "Applied" : "Discarded";
  const paths = settled.map(({ path }) => path).join(", ");
  return `${word} ${chosenHunks} of ${totalHunks} hunks in ${settled.length} of ${files.length} files (${paths}).`;
}
