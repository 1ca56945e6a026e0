// A pending action as it is held: what hosts see of it, and the work behind it.

import type { ToolResult } from "../protocol/events.js";
import type { Decider, PendingAction } from "../protocol/pending.js";
import type { RunMark } from "./change-writer.js";
import type { Plan, SeenFile } from "./plan.js";
import type { EditedFile } from "./plan-step.js";

/** What a callback may know of the decision. */
export interface DecisionInfo {
  readonly id: string;
  readonly by: Decider;
}

type Extra = Record<string, unknown> | undefined;
type Settled = ToolResult | undefined;

/** A plan is data and survives a restart; a closure is code of an extension and does not. */
export type ActionWork =
  | {
      readonly kind: "closure";
      /** The files that the preview depends on. */
      readonly files?: readonly SeenFile[];
      apply(reason: string, extra: Extra, info: DecisionInfo): Promise<ToolResult> | ToolResult;
      reject?(reason: string, extra: Extra, info: DecisionInfo): Promise<Settled> | Settled;
    }
  | {
      readonly kind: "plan";
      readonly plan: Plan;
      /** Makes a new plan for the files as they are now; undefined if that is not possible. */
      refresh?(signal: AbortSignal | undefined): Promise<RefreshedPlan>;
      /** Once the files are written; supplies the result. Like `reject`, it does not survive a restart. */
      afterApply?(reason: string, extra: Extra, info: DecisionInfo): Promise<Settled> | Settled;
      reject?(reason: string, extra: Extra, info: DecisionInfo): Promise<Settled> | Settled;
    };

export interface RefreshedPlan {
  readonly plan: Plan;
  readonly label: string;
  readonly details?: unknown;
  readonly preview?: NonNullable<PendingAction["preview"]>;
  /** What the model reads. */
  readonly result: ToolResult;
}

export interface NewAction {
  /** One that `nextId` gave; default: the next. */
  readonly id?: string;
  readonly label: string;
  readonly sourceToolName: string;
  readonly toolCallId?: string | undefined;
  readonly details?: unknown;
  readonly preview?: PendingAction["preview"];
  readonly expiresInMs?: number | undefined;
  readonly dependsOn?: readonly string[];
  readonly work: ActionWork;
  /** Only the user or the host decides, and the model is not reminded. */
  readonly isForReview?: boolean;
}

/** What the store holds: the action as hosts see it, and the work behind it. */
export interface StoredAction {
  readonly action: Readonly<PendingAction>;
  readonly work: ActionWork;
  readonly isForReview: boolean;
  readonly run?: RunMark | undefined;
  /** Shown paths of the files that made it stale. */
  readonly stalePaths?: ReadonlySet<string>;
  /** By shown path, until the outcome is told. */
  readonly edited?: ReadonlyMap<string, EditedFile>;
  /** Why it can only be discarded. */
  readonly misfit?: string;
  /** What is wrong with the files that hold its plan. */
  readonly damage?: string;
}
