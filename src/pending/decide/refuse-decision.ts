// Why a decision may not be tried at all. Asked before anything is taken, so that nothing has to be taken back.

import { GalleyError } from "../../base/errors.js";
import type { StoredAction } from "../../plans/stored-action.js";
import type { Refusal, Refused } from "../outcome.js";
import type { PendingActionStore } from "../store/pending-action-store.js";
import { type ActionBelow, actionsBelow, pathsOf, shownPaths } from "../store/stack.js";
import type { DecideContext, Decision } from "./decision.js";
import { missingText } from "./words.js";

/** Why it may not be tried at all. */
export function refusalOf(
  { settings }: DecideContext,
  { action, isForReview, misfit }: StoredAction,
  decision: Decision,
): Refusal | undefined {
  if (decision.action === "discard") return undefined;
  if (misfit !== undefined) return { kind: "misfit", cause: misfit };
  const { maxAttempts, decider } = settings();
  if (decision.by === "model" && (isForReview || decider === "user")) return { kind: "for_review" };
  const { attempts, lastError } = action;
  return attempts < maxAttempts ? undefined : { kind: "attempts", attempts, lastError };
}

export function refused(
  store: PendingActionStore,
  { action }: StoredAction,
  { decision, why }: { decision: Decision; why: Refusal },
): Refused {
  const { id } = action;
  return { kind: "refused", id, action, decision, why, attempt: attemptsAt(store, action) };
}

/** How often an apply of it has failed by now. */
export function attemptsAt(store: PendingActionStore, { id, attempts }: StoredAction["action"]): number {
  return store.get(id)?.action.attempts ?? attempts;
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
