// A decision about a pending action: what is asked for, what it needs, and how it ended. Before anything is taken, the
// checks here say why it may not be tried at all.

import { type ErrorCode, GalleyError } from "../base/errors.js";
import type { ToolResult } from "../protocol/events.js";
import type { Decider, PendingOutcome } from "../protocol/pending.js";
import type { AppliedChanges, ChangeSession, ChangeWriter } from "./change-writer.js";
import type { PendingActionStore, StoredAction } from "./pending-action-store.js";
import { missingText } from "./settle-texts.js";
import { type ActionBelow, actionsBelow, pathsOf, shownPaths } from "./stack.js";

export interface Decision {
  readonly action: "apply" | "discard";
  readonly reason: string;
  readonly extra?: Record<string, unknown> | undefined;
  readonly by: Decider;
  /** Stops it until the work begins; work that has begun runs to its end. */
  readonly signal?: AbortSignal | undefined;
  /** What the decider saw; anything else is a `revision_mismatch`. */
  readonly revision?: number | undefined;
  /** The parts of lower actions that an apply needs may be written with it, although they are not named. */
  readonly withDeps?: boolean | undefined;
  /** All actions that the same decision names. */
  readonly named?: readonly string[];
}

export interface SettleSettings {
  readonly maxAttempts: number;
  readonly decider: "model" | "user" | "both";
  /** With `both`, if the user cannot be asked: refuse instead of accepting the model's decision. */
  readonly requireUser: boolean;
}

export interface SettleContext {
  readonly store: PendingActionStore;
  settings(): SettleSettings;
  readonly changes: Pick<ChangeWriter, "apply">;
  /** The session that the changes are made for. */
  readonly session: ChangeSession;
  /** Undefined: the user cannot be asked. Ends, with anything but true, when the signal fires. */
  confirm?(stored: StoredAction, signal: AbortSignal | undefined): Promise<boolean | undefined>;
}

export interface Settled {
  readonly outcome: PendingOutcome | "refused";
  readonly result: ToolResult;
  /** Actions that were settled with it, in the same way: those that it depends on, or that depend on it. */
  readonly also?: readonly StoredAction[];
  /** The failure of an apply, for a caller that has to throw it again. */
  readonly code?: ErrorCode | undefined;
  /** The change that a plan was applied by. */
  readonly written?: AppliedChanges | undefined;
}

export const forReviewText = "Staged for review: the user decides.";

/** Why it may not be tried at all. */
export function refusalOf(
  { settings }: SettleContext,
  { action, isForReview, misfit }: StoredAction,
  decision: Decision,
) {
  if (decision.action === "discard") return undefined;
  if (misfit !== undefined) return misfit;
  const { maxAttempts, decider } = settings();
  if (decision.by === "model" && (isForReview || decider === "user")) return forReviewText;
  if (action.attempts < maxAttempts) return undefined;
  const { id, attempts, lastError } = action;
  return `Pending action ${id} failed ${attempts} times; discard it and preview again. Last error: ${lastError}`;
}

/** Throws `revision_mismatch` if the action is not as the caller saw it. */
export function refuseOtherRevision({ action }: StoredAction, revision: number | undefined): void {
  if (revision === undefined || revision === action.revision) return;
  throw new GalleyError(
    "revision_mismatch",
    `Pending action ${action.id} changed since revision ${revision}. Nothing was decided.`,
  );
}

/**
 * Throws `depends` if applying these files of an action, or all of them, would write a part of another action that the
 * decision does not name. `details.actions` lists what would be written with it.
 */
export function refuseUnnamed(
  store: PendingActionStore,
  stored: StoredAction,
  { decision, paths = pathsOf(stored) }: { decision: Decision; paths?: Iterable<string> },
): void {
  const { action, withDeps = false, named = [] } = decision;
  if (action === "discard" || withDeps) return;
  const isNamed = new Set(named);
  const unnamed = actionsBelow(store, stored, paths).filter((below) => !isNamed.has(below.stored.action.id));
  if (unnamed.length > 0) throw dependsError(stored.action.id, unnamed);
}

function dependsError(id: string, unnamed: readonly ActionBelow[]): GalleyError {
  const actions = unnamed.map(({ stored, paths }) => ({
    id: stored.action.id,
    label: stored.action.label,
    files: shownPaths(stored, paths),
  }));
  const rests = actions.map((lower) => `${lower.id} for ${lower.files.join(", ")}`).join("; ");
  const others = actions.map((lower) => lower.id).join(", ");
  return new GalleyError(
    "depends",
    `Pending action ${id} rests on ${rests}. Nothing was written. To apply them together, name ${others} too or use withDeps.`,
    { details: { actions } },
  );
}

/** Throws `not_found`, `revision_mismatch` or `depends`: nothing of the decision may be tried then. */
export function refuseBeforehand(store: PendingActionStore, ids: readonly string[], decision: Decision): void {
  for (const id of ids) {
    const stored = store.get(id);
    if (!stored) throw new GalleyError("not_found", missingText(store, id));
    refuseOtherRevision(stored, decision.revision);
    refuseUnnamed(store, stored, { decision });
  }
}
