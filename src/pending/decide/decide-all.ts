// Decides about several pending actions one after the other, and reports the outcome of each.

import { messageOf } from "../../base/errors.js";
import type { AppliedChanges } from "../../plans/change-writer.js";
import type { ToolResult } from "../../protocol/events.js";
import type { PendingOutcome } from "../../protocol/pending.js";
import { writtenDetails } from "./apply-action.js";
import { textOf } from "./callback-result.js";
import { settleAction } from "./decide-action.js";
import type { Decision, SettleContext, Settled } from "./decision.js";
import { editedText } from "./edited-text.js";
import { refuseBeforehand } from "./refuse-decision.js";

interface Result extends Partial<AppliedChanges> {
  readonly id: string;
  readonly outcome: PendingOutcome;
  readonly label: string;
  readonly error?: string;
}

/**
 * Every pending action in order; an apply stops at the first failure, a discard never does. Throws `not_found`,
 * `revision_mismatch` or `depends` before anything is decided.
 */
export async function settleAll(
  context: SettleContext,
  ids: readonly string[],
  decision: Decision,
): Promise<ToolResult> {
  const together = { ...decision, named: ids };
  refuseBeforehand(context.store, ids, together);
  const results: Result[] = [];
  const edits: string[] = [];
  for (const id of ids) {
    const stored = context.store.get(id);
    if (!stored) continue; // it was settled and reported with another one
    const { label } = stored.action;
    const edited = decision.by === "model" ? await editedText(stored) : undefined;
    // What was settled before is reported, whatever stops the rest.
    const { outcome, result, also = [], written } = await settleAction(context, id, together).catch(stopped);
    if (outcome === "part") {
      results.push({ id, outcome: "applied", label: textOf(result).replaceAll("\n", " ") });
      continue;
    }
    const isOver = outcome === "applied" || outcome === "discarded";
    const problem = result.isError ? textOf(result) : isOver ? undefined : refreshedText;
    const change = written ? writtenDetails(written) : {};
    results.push({
      id,
      outcome: outcome === "refused" ? "failed" : outcome,
      label,
      ...(problem ? { error: problem } : {}),
      ...change,
    });
    if (outcome === "applied" && edited !== undefined) edits.push(`${id}: ${edited}`);
    if (isOver) for (const { action } of also) results.push({ id: action.id, outcome, label: action.label, ...change });
    if (decision.action === "apply" && problem !== undefined) break;
  }
  const lines = results.map(({ id, outcome, label, error }) => {
    const word = outcome === "applied" || outcome === "discarded" ? outcome : "failed";
    return `${id} ${word}: ${label}${error === undefined ? "" : ` – ${error}`}`;
  });
  const isError = results.some(({ error }) => error !== undefined);
  return {
    content: [lines.join("\n"), ...edits].map((text) => ({ type: "text" as const, text })),
    details: { action: decision.action, reason: decision.reason, results },
    ...(isError ? { isError } : {}),
  };
}

function stopped(error: unknown): Settled {
  return { outcome: "refused", result: { content: [{ type: "text", text: messageOf(error) }], isError: true } };
}

const refreshedText = "A new preview was made. Nothing was written.";
