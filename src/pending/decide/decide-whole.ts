// Settles a whole pending action that nothing has to be asked about any more: applies or discards it. A failed apply leaves
// the action as it was and says why; a discard always ends it.

import { GalleyError, messageOf } from "../../base/errors.js";
import type { StoredAction } from "../../plans/stored-action.js";
import type { ToolResult } from "../../protocol/events.js";
import type { Decider } from "../../protocol/pending.js";
import type { PendingActionStore } from "../store/pending-action-store.js";
import { dependentsOf } from "../store/stack.js";
import { applyAction } from "./apply-action.js";
import { resultOf } from "./callback-result.js";
import type { Decision, SettleContext, Settled } from "./decision.js";
import { failedResult, missingText, settledResult, withIt } from "./settle-texts.js";

/** The id must be there and free: `missingText` says why not. */
export async function settleWhole(context: SettleContext, id: string, decision: Decision): Promise<Settled> {
  const stored = context.store.take(id);
  if (!stored) throw new GalleyError("tool_failed", missingText(context.store, id));
  return settleTaken(context, stored, decision);
}

/** The same for one that the caller has taken. */
export function settleTaken(context: SettleContext, stored: StoredAction, decision: Decision): Promise<Settled> {
  return decision.action === "discard" ? discard(context, stored, decision) : applyAction(context, stored, decision);
}

async function discard(context: SettleContext, stored: StoredAction, decision: Decision): Promise<Settled> {
  const { store } = context;
  const { id, label } = stored.action;
  const { reason, extra, by } = decision;
  const above = dependentsOf(store, stored);
  let result: ToolResult | undefined;
  let error: string | undefined;
  try {
    result = resultOf(await stored.work.reject?.(reason, extra, { id, by }));
  } catch (thrown) {
    error = messageOf(thrown);
  }
  store.remove(id, { outcome: "discarded", by, reason, ...(error === undefined ? {} : { error }) }, stored.work);
  discardAll(store, above, { id, by });
  if (error !== undefined) {
    const text = `Discarded: ${label}, but cleanup failed: ${error}`;
    return { outcome: "discarded", result: failedResult(store, stored, decision, text), also: above };
  }
  const note = withIt(
    above.map((stored) => ({ stored })),
    "discard",
  );
  const standard: ToolResult = { content: [{ type: "text", text: `Discarded: ${label}. Reason: ${reason}` }] };
  const settled = settledResult(store, stored, decision, { result: result ?? standard, note });
  return { outcome: "discarded", result: settled, also: above };
}

/** Discards the actions that were made for the result of a discarded one. */
export function discardAll(
  store: PendingActionStore,
  above: readonly StoredAction[],
  { id, by }: { id: string; by: Decider },
): void {
  for (const { action } of above) store.remove(action.id, { outcome: "discarded", by, reason: `Depends on ${id}.` });
}
