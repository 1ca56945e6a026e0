// The figures in the label of an action: what is still pending of it, or what one change wrote of it.

import { hunksIn } from "./diff/plan-diff.js";
import type { Plan, PlannedChange } from "./plan.js";

/** How much of a plan is left. */
export interface Amount {
  readonly files: number;
  readonly hunks: number;
}

export async function amountOf(plan: Pick<Plan, "changes">): Promise<Amount> {
  return { files: plan.changes.length, hunks: await hunksIn(plan) };
}

/**
 * The label of a part. Names of files become those of the part; figures become the part's, in the plan's own unit where
 * every file says how many it has, else in hunks; a label without figures gets them.
 */
export function labelOfPart(
  label: string,
  { whole, part, amount }: { whole: Plan; part: readonly PlannedChange[]; amount: Amount },
): string {
  const names = namesOf(whole.changes);
  if (label.endsWith(names) && part.length < whole.changes.length)
    return label.slice(0, label.length - names.length) + namesOf(part);
  const told = amountText(whole, part, amount);
  for (const figures of [/\d+ [\p{L}-]+ in \d+ files?/u, /\d+ files?\b/])
    if (figures.test(label)) return label.replace(figures, () => told);
  return `${label} (${told})`;
}

export function remainingText({ hunks, files }: Amount): string {
  return `Applied the remaining ${counted(hunks, "hunk")} in ${counted(files, "file")}.`;
}

function amountText({ unit }: Plan, part: readonly PlannedChange[], { files, hunks }: Amount): string {
  const isKnown = unit !== undefined && part.every(({ units }) => units !== undefined);
  const units = part.reduce((sum, change) => sum + (change.units ?? 0), 0);
  return `${isKnown ? counted(units, unit) : counted(hunks, "hunk")} in ${counted(files, "file")}`;
}

function namesOf(changes: readonly PlannedChange[]): string {
  return changes.map(({ stamp }) => stamp.path).join(", ");
}

function counted(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
