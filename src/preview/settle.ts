// Settles a pending action: applies or discards it. A failed apply leaves the action as it was and says why; a discard
// always ends it.

import { throwIfAborted } from "../base/abort.js";
import { GalleyError, messageOf } from "../base/errors.js";
import type { ToolResult } from "../protocol/events.js";
import type { Decider } from "../protocol/pending.js";
import { applyAction } from "./apply-action.js";
import { resultOf } from "./callback-result.js";
import type { Decision, SettleContext, Settled } from "./decision.js";
import type { PendingActionStore, StoredAction } from "./pending-action-store.js";
import { refusalOf, refuseOtherRevision, refuseUnnamed } from "./refuse-decision.js";
import { failedResult, missingText, refused, settledResult, withIt } from "./settle-texts.js";
import { dependentsOf } from "./stack.js";

/** The id must be there and free: `missingText` says why not. */
export async function settleAction(context: SettleContext, id: string, decision: Decision): Promise<Settled> {
  const { store } = context;
  const asked = store.get(id);
  if (asked) refuseOtherRevision(asked, decision.revision);
  const refusal = asked && refusalOf(context, asked, decision);
  if (asked && refusal !== undefined) return refused(context, asked, decision, refusal);
  if (asked) refuseUnnamed(store, asked, { decision });
  const stored = store.take(id);
  if (!stored) throw new GalleyError("tool_failed", missingText(store, id));
  const agreed = await agreement(context, stored, decision);
  if (decision.action === "apply" && (decision.signal?.aborted || agreed === "unavailable")) {
    store.putBack(id, asked?.action.status);
    throwIfAborted(decision.signal);
    return refused(context, stored, decision, cannotAskText);
  }
  if (!store.get(id)) throw new GalleyError("tool_failed", missingText(store, id)); // it went with another one meanwhile
  if (agreed === "no") return discard(context, stored, declined(decision));
  return decision.action === "discard" ? discard(context, stored, decision) : applyAction(context, stored, decision);
}

const cannotAskText = "The user has to agree, but cannot be asked here. Nothing was written; the action stays pending.";

/** With `both`, the user is asked before an action is applied that the model wants to apply. */
async function agreement(
  context: SettleContext,
  stored: StoredAction,
  { action, by, signal }: Decision,
): Promise<"yes" | "no" | "unavailable"> {
  const { decider, requireUser } = context.settings();
  if (action === "discard" || by !== "model" || decider !== "both") return "yes";
  try {
    const answer = await context.confirm?.(stored, signal);
    if (answer !== undefined) return answer === true ? "yes" : "no";
    return requireUser ? "unavailable" : "yes";
  } catch {
    return "no"; // a failed answer is not consent
  }
}

function declined(decision: Decision): Decision {
  return { ...decision, action: "discard", by: "user", reason: `User declined: ${decision.reason}` };
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
