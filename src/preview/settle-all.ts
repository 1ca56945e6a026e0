// Decides about several pending actions one after the other, and reports the outcome of each.

import { messageOf } from "../base/errors.js";
import type { ToolResult } from "../protocol/events.js";
import type { PendingOutcome } from "../protocol/pending.js";
import { textOf } from "./callback-result.js";
import { type Decision, type SettleContext, type Settled, settleAction } from "./settle.js";

/** Every pending action in order; an apply stops at the first failure, a discard never does. */
export async function settleAll(
  context: SettleContext,
  ids: readonly string[],
  decision: Decision,
): Promise<ToolResult> {
  const results: { id: string; outcome: PendingOutcome; label: string; error?: string }[] = [];
  for (const id of ids) {
    const label = context.store.get(id)?.action.label;
    if (label === undefined) continue; // it was settled and reported with another one
    // What was settled before is reported, whatever stops the rest.
    const { outcome, result, also = [] } = await settleAction(context, id, decision).catch(stopped);
    const isOver = outcome === "applied" || outcome === "discarded";
    const problem = result.isError ? textOf(result) : isOver ? undefined : refreshedText;
    results.push({
      id,
      outcome: outcome === "refused" ? "failed" : outcome,
      label,
      ...(problem ? { error: problem } : {}),
    });
    if (isOver) for (const { action } of also) results.push({ id: action.id, outcome, label: action.label });
    if (decision.action === "apply" && problem !== undefined) break;
  }
  const lines = results.map(({ id, outcome, label, error }) => {
    const word = outcome === "applied" || outcome === "discarded" ? outcome : "failed";
    return `${id} ${word}: ${label}${error === undefined ? "" : ` – ${error}`}`;
  });
  const isError = results.some(({ error }) => error !== undefined);
  return {
    content: [{ type: "text", text: lines.join("\n") }],
    details: { action: decision.action, reason: decision.reason, results },
    ...(isError ? { isError } : {}),
  };
}

function stopped(error: unknown): Settled {
  return { outcome: "refused", result: { content: [{ type: "text", text: messageOf(error) }], isError: true } };
}

const refreshedText = "A new preview was made. Nothing was written.";
