// What is left of a plan after the steps on record. A part is taken out of the plan again, and has to leave what it left
// then; edited and rebased files are read from the artifact that the step wrote.

import { sha256Of } from "../base/digest.js";
import { GalleyError } from "../base/errors.js";
import { remainingText } from "../plans/label-figures.js";
import { changesByPath, decodePlan, type Plan, type PlannedChange } from "../plans/plan.js";
import type { EditedFile, PartStep, RebasedStep } from "../plans/plan-step.js";
import { rebaseChange } from "../plans/rebase-change.js";
import { digestOf, splitPlan } from "../plans/split-plan.js";
import type { StoredAction } from "../plans/stored-action.js";
import { editedWithout } from "./decide/edited-text.js";
import { restPlan } from "./decide/shares.js";
import type { StepData } from "./step-data.js";

export interface Replayed {
  readonly plan: Plan;
  readonly edited?: StoredAction["edited"] | undefined;
  readonly label: string;
  readonly revision: number;
}

/** `text`: of an artifact. */
export type ReadPlanText = (planRef: string, sha256?: string) => Promise<string | undefined>;

/** Throws where a step does not fit. */
export async function replayStep(from: Replayed, step: StepData, readText: ReadPlanText): Promise<Replayed> {
  if (step.event === "part") return replayPart(from, step);
  const { plan, edited } = from;
  const text = await readText(step.planRef, step.planSha256);
  if (text === undefined) throw doesNotFit(`${step.planRef} is not there`);
  const { changes } = decodePlan(text);
  if (step.event === "rebased")
    return {
      ...(await rebasedFrom({ plan, edited }, { ...step, changes })),
      label: step.rest.label,
      revision: step.revision,
    };
  const [change] = changes;
  const was = plan.changes.find(({ stamp }) => stamp.path === step.path);
  if (!change || !was || change.stamp.path !== step.path || sha256Of(change.after) !== step.sha256)
    throw doesNotFit(`${step.path} is not as it was edited`);
  return {
    ...from,
    plan: { ...plan, changes: replaceChanges(plan, changes) },
    edited: withEdit(edited, { change: was, by: step.by }),
    revision: step.revision,
  };
}

async function replayPart(from: Replayed, step: PartStep): Promise<Replayed> {
  const { action, settled, rest, revision } = step;
  const files = settled.filter(({ hunks }) => !hunks).map(({ path }) => path);
  const hunks = Object.fromEntries(settled.flatMap((part) => (part.hunks ? [[part.path, part.hunks]] : [])));
  const split = await splitPlan(from.plan, { files, hunks }, action);
  const left = action === "apply" ? split.ifApplied : split.ifDiscarded;
  if (digestOf(left.concerned) !== rest.sha256) throw doesNotFit("a part that was decided leaves something else now");
  const plan = restPlan(from.plan, left.changes, remainingText(rest));
  return { ...editedWithout(from, settled), plan, label: rest.label, revision };
}

/** What a rebase makes of a plan. What was proposed for an edited file moves with it. */
export async function rebasedFrom(
  { plan, edited }: Pick<Replayed, "plan" | "edited">,
  { changes, dropped, left, rest }: Omit<RebasedStep, "event"> & { readonly changes: readonly PlannedChange[] },
): Promise<Pick<Replayed, "plan"> & { edited: ReadonlyMap<string, EditedFile> }> {
  const isDropped = new Set(dropped);
  const moved = new Map([...(edited ?? [])].filter(([path]) => !isDropped.has(path)));
  const before = changesByPath(plan);
  for (const { path, stamp, before: bytes } of changes) {
    const edit = moved.get(stamp.path);
    const was = before.get(path);
    if (!edit || !was) continue;
    const proposed = (await rebaseChange({ ...was, after: edit.proposed }, { bytes, mode: stamp.mode })).change;
    if (proposed) moved.set(stamp.path, { ...edit, proposed: proposed.after });
    else moved.delete(stamp.path);
  }
  const text = left.length === 0 ? plan.applied.text : remainingText(rest);
  return { plan: restPlan(plan, replaceChanges(plan, changes, isDropped), text), edited: moved };
}

/** The plan with some of its files in a new form, or without them. */
export function replaceChanges(
  { changes }: Plan,
  fresh: readonly PlannedChange[],
  dropped: ReadonlySet<string> = new Set(),
): PlannedChange[] {
  const byPath = new Map(fresh.map((change) => [change.path, change]));
  return changes.filter(({ stamp }) => !dropped.has(stamp.path)).map((change) => byPath.get(change.path) ?? change);
}

/** What was proposed first counts. */
export function withEdit(
  edited: StoredAction["edited"],
  { change, by }: { change: PlannedChange; by: EditedFile["by"] },
): Map<string, EditedFile> {
  const { path } = change.stamp;
  return new Map(edited).set(path, { by, proposed: edited?.get(path)?.proposed ?? change.after });
}

function doesNotFit(cause: string): GalleyError {
  return new GalleyError("stale_preview", cause);
}
