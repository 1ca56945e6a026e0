// A decision from outside the conversation: on one action, several, all, or a part of a plan. What would be an error
// result for the model is thrown here, with the same sentence.

import { GalleyError } from "../base/errors.js";
import type { Subset } from "../plans/split-plan.js";
import type { ResolveDetails } from "../protocol/data.js";
import type { Decision } from "./decide/decision.js";
import { errorOf, forHost, nothingPendingText } from "./decide/words.js";
import type { Decided } from "./outcome.js";
import type { PendingActions } from "./pending-actions.js";

export interface PendingDecision extends Subset, Omit<Decision, "signal" | "named"> {
  /** One of these; without any, the next action. */
  readonly pendingId?: string | undefined;
  readonly pendingIds?: readonly string[] | undefined;
  readonly all?: boolean | undefined;
}

/** The facts, and what a host is answered. */
export interface DecisionAnswer {
  readonly details: ResolveDetails;
  readonly text: string;
  readonly decided: Decided;
}

export async function decidePending(pending: PendingActions, request: PendingDecision): Promise<DecisionAnswer> {
  const { action, reason, by, extra, files, hunks, withDeps, revision } = request;
  const decision = { action, reason, by, withDeps, revision, protected: request.protected, extra };
  const ids = idsOf(pending, request);
  const isList = request.all === true || request.pendingIds !== undefined;
  const isPart = files !== undefined || hunks !== undefined;
  if (isPart && ids.length !== 1)
    throw new GalleyError("invalid_argument", "Choose files or hunks from one pending action at a time.");
  if (revision !== undefined && ids.length !== 1)
    throw new GalleyError("invalid_argument", "A revision belongs to one pending action. Name one.");
  const decided =
    isPart && ids[0] !== undefined
      ? await pending.decidePart(ids[0], decision, { files, hunks })
      : await pending.decide(ids, decision, { isList });
  const failure = errorOf(decided);
  if (failure) throw failure;
  return { ...forHost(decided), decided };
}

function idsOf(pending: PendingActions, { pendingId, pendingIds, all = false }: PendingDecision): string[] {
  const named = [pendingId !== undefined, pendingIds !== undefined, all].filter(Boolean).length;
  if (named > 1) throw new GalleyError("invalid_argument", "Use one of pendingId, pendingIds and all.");
  if (pendingId !== undefined) return [pendingId];
  if (pendingIds !== undefined) return [...pendingIds];
  const waiting = pending.store.list().map(({ action }) => action.id);
  if (waiting.length === 0) throw new GalleyError("not_found", nothingPendingText);
  return all ? waiting : waiting.slice(0, 1);
}
