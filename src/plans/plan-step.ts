// What changes a pending plan without ending it: a part is decided, a hunk is edited, the plan is rebased or made anew.
// A step is on record as it stands here, and a resume repeats all of them over the plan that was staged.

import type { Decider, FileStamp, PendingAction } from "../protocol/pending.js";
import type { Amount } from "./label-figures.js";
import type { Plan, PlannedChange } from "./plan.js";
import type { ChosenFile } from "./split-plan.js";

interface StepFields {
  readonly id: string;
  readonly revision: number;
  readonly by: Decider;
}

/** Files or hunks were applied or discarded. `settled` counts hunks as they were before it. */
export interface PartStep extends StepFields {
  readonly event: "part";
  readonly action: "apply" | "discard";
  readonly reason: string;
  readonly settled: readonly ChosenFile[];
  /** Of a part that was applied. */
  readonly changeId?: string;
  /** What is left: its label and amount, and the digest of what is left of the files concerned. */
  readonly rest: Amount & { readonly label: string; readonly sha256: string };
}

/** The new text of a hunk was edited. */
export interface RevisedStep extends StepFields {
  readonly event: "revised";
  readonly path: string;
  /** Of the new bytes of the file. */
  readonly sha256: string;
}

/** The same change was made for the files as they are now. */
export interface RebasedStep extends StepFields {
  readonly event: "rebased";
  /** Files of which nothing fits any more. */
  readonly dropped: readonly string[];
  readonly left: readonly { readonly path: string; readonly hunks: readonly number[] }[];
  readonly rest: Amount & { readonly label: string };
}

/** The tool made another plan under the same id. */
export interface RenewedStep extends Omit<StepFields, "by"> {
  readonly event: "renewed";
}

export type PlanStep =
  | PartStep
  /** `changes`: the new form of the files concerned, stored beside the entry. */
  | (RevisedStep & { readonly changes: readonly PlannedChange[] })
  | (RebasedStep & { readonly changes: readonly PlannedChange[] })
  | RenewedStep;

export interface EditedFile {
  readonly by: Decider;
  /** The new bytes before the first edit. */
  readonly proposed: Uint8Array;
}

export interface ChangedPlan extends Partial<Pick<PendingAction, "label" | "details" | "preview">> {
  readonly plan: Plan;
  readonly step: PlanStep;
  /** The files concerned, as they were seen; default: all. */
  readonly files?: readonly FileStamp[];
  readonly edited?: ReadonlyMap<string, EditedFile>;
}
