// Decides about a whole pending action that nothing has to be asked about any more: applies or discards it. A failed apply
// leaves the action as it was and says why; a discard always ends it.

import { GalleyError, messageOf } from "../../base/errors.js";
import type { StoredAction } from "../../plans/stored-action.js";
import type { ToolResult } from "../../protocol/events.js";
import type { Decider } from "../../protocol/pending.js";
import type { Along, Discarded, Outcome } from "../outcome.js";
import type { PendingActionStore } from "../store/pending-action-store.js";
import { dependentsOf } from "../store/stack.js";
import { applyAction } from "./apply-action.js";
import { resultOf } from "./callback-result.js";
import type { DecideContext, Decision } from "./decision.js";
import { dependsOn, missingText } from "./words.js";

/** The id must be there and free: `missingText` says why not. */
export async function decideWhole(context: DecideContext, id: string, decision: Decision): Promise<Outcome> {
  const stored = context.store.take(id);
  if (!stored) throw new GalleyError("tool_failed", missingText(context.store, id));
  return decideTaken(context, stored, decision);
}

/** The same for one that the caller has taken. */
export function decideTaken(context: DecideContext, stored: StoredAction, decision: Decision): Promise<Outcome> {
  return decision.action === "discard"
    ? discardTaken(context, stored, decision)
    : applyAction(context, stored, decision);
}

export async function discardTaken(
  { store }: DecideContext,
  stored: StoredAction,
  decision: Decision,
): Promise<Discarded> {
  const { action, work } = stored;
  const { id } = action;
  const { reason, extra, by } = decision;
  const above = dependentsOf(store, stored);
  let returned: ToolResult | undefined;
  let cleanupError: string | undefined;
  try {
    returned = resultOf(await work.reject?.(reason, extra, { id, by }));
  } catch (thrown) {
    cleanupError = messageOf(thrown);
  }
  store.remove(id, { outcome: "discarded", by, reason, error: cleanupError }, work);
  const also = discardAll(store, above, { id, by });
  return { kind: "discarded", id, action, decision, also, returned, cleanupError };
}

/** Discards the actions that were made for the result of a discarded one. */
export function discardAll(
  store: PendingActionStore,
  above: readonly StoredAction[],
  { id, by }: { id: string; by: Decider },
): Along[] {
  for (const { action } of above) store.remove(action.id, { outcome: "discarded", by, reason: dependsOn(id) });
  return above.map(({ action }) => ({ id: action.id, label: action.label }));
}
