// What one change takes of the pending actions: all of the one that is decided about or a part of it, and of those that
// it rests on the part that concerns the same files.

import type { AppliedActions, AppliedPart } from "../../plans/change-writer.js";
import { amountOf, labelOfPart, remainingText } from "../../plans/label-figures.js";
import type { Plan, PlannedChange } from "../../plans/plan.js";
import type { SplitPlan } from "../../plans/split-plan.js";
import { digestOf, type RestOfPlan, splitPlan } from "../../plans/split-plan.js";
import type { StoredAction } from "../../plans/stored-action.js";
import type { FileStamp } from "../../protocol/pending.js";
import type { PendingActionStore } from "../store/pending-action-store.js";
import { type ActionBelow, planOf, shownPaths } from "../store/stack.js";
import { neededBy } from "./words.js";

export interface Share {
  readonly stored: StoredAction;
  readonly changes: readonly PlannedChange[];
  /** Counts what is taken. */
  readonly label: string;
  /** Absent where all of the action is taken. */
  readonly part?: AppliedPart;
  /** What stays pending then. */
  readonly rest?: Plan;
  /** The files concerned, as they were seen. */
  readonly files: readonly FileStamp[];
}

export function wholeShare(stored: StoredAction, { changes }: Plan): Share {
  return { stored, changes, label: stored.action.label, files: changes.map(({ stamp }) => stamp) };
}

export interface ChosenPart extends Pick<SplitPlan, "chosen" | "chosenHunks" | "settled"> {
  readonly stored: StoredAction;
  readonly plan: Plan;
  readonly left: RestOfPlan;
  readonly reason: string;
}

/** A part, with the entry that will tell of it and the plan that is left. */
export async function partShare(store: PendingActionStore, part: ChosenPart): Promise<Required<Share>> {
  const { stored, plan, chosen, chosenHunks, settled, left, reason } = part;
  const { id, label } = stored.action;
  const amount = await amountOf(left);
  return {
    stored,
    changes: chosen,
    label: labelOfPart(label, { whole: plan, part: chosen, amount: { files: chosen.length, hunks: chosenHunks } }),
    part: {
      id,
      revision: store.nextRevision(id),
      reason,
      settled,
      rest: {
        ...amount,
        label: labelOfPart(label, { whole: plan, part: left.changes, amount }),
        sha256: digestOf(left.concerned),
      },
    },
    rest: restPlan(plan, left.changes, remainingText(amount)),
    files: concernedStamps(chosen, left),
  };
}

export function restPlan(plan: Plan, changes: readonly PlannedChange[], text: string): Plan {
  return { ...plan, changes, applied: { ...plan.applied, text } };
}

/** What is taken of the actions below, for the files that they were found for. */
export async function sharesBelow(
  store: PendingActionStore,
  below: readonly ActionBelow[],
  pendingId: string,
): Promise<Share[]> {
  const shares: Share[] = [];
  for (const { stored, paths } of below) {
    const plan = planOf(stored) as Plan; // only a plan has files
    if (paths.size === plan.changes.length) shares.push(wholeShare(stored, plan));
    else {
      const { ifApplied: left, ...split } = await splitPlan(plan, { files: shownPaths(stored, paths) });
      shares.push(await partShare(store, { stored, plan, ...split, left, reason: neededBy(pendingId) }));
    }
  }
  return shares;
}

/** What the change settles, for the journal. */
export function takenWith(share: Share, below: readonly Share[]): AppliedActions {
  const whole = below.filter(({ part }) => !part).map(({ stored }) => stored.action.id);
  const parts = [...below, share].flatMap(({ part }) => part ?? []);
  return {
    pendingId: share.stored.action.id,
    ...(whole.length === 0 ? {} : { alsoApplied: whole }),
    ...(share.part ? { isPart: true } : {}),
    ...(parts.length === 0 ? {} : { parts }),
  };
}

/** New where something of the file is left, else as it was. */
function concernedStamps(chosen: readonly PlannedChange[], { concerned }: RestOfPlan): FileStamp[] {
  const left = new Map(concerned.map(({ stamp }) => [stamp.path, stamp]));
  return chosen.map(({ stamp }) => left.get(stamp.path) ?? stamp);
}
