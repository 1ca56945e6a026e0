// What is told about a settled action, or about one that could not be settled: the result for the model, and the
// sentences that hosts and users read too.

import type { SettledFile } from "../../plans/split-plan.js";
import type { StoredAction } from "../../plans/stored-action.js";
import type { ToolResult } from "../../protocol/events.js";
import type { PendingActionStore } from "../store/pending-action-store.js";
import { blocksOf } from "./callback-result.js";
import type { Decision, SettleContext, Settled } from "./decision.js";

export const nothingPendingText = "No pending action to resolve. Nothing to apply or discard.";

export function postponedText(id: string): string {
  return `The user postponed it: ${id} stays pending.`;
}

/** The reason for settling an action that another one depends on. */
export function neededBy(id: string): string {
  return `Needed by ${id}.`;
}

/** Why an id cannot be settled: it ended, or there never was one. */
export function missingText(store: PendingActionStore, id: string): string {
  const outcome = store.endOf(id);
  if (outcome === "expired") return `Pending action ${id} expired. Preview again.`;
  if (outcome === "applied" || outcome === "discarded") return `Pending action ${id} was already ${outcome}.`;
  if (store.get(id)) return `Pending action ${id} is being applied.`;
  const pending = store.list().map(({ action }) => action.id);
  return `No pending action with id "${id}". Pending: ${pending.join(", ") || "none"}.`;
}

/** An action that was settled with another one: all of it, or a part. */
export interface SettledWith {
  readonly stored: StoredAction;
  readonly part?: { readonly settled: readonly SettledFile[] };
}

/** Names what was settled with an action; undefined where nothing was. */
export function withIt(others: readonly SettledWith[], action: Decision["action"]): string | undefined {
  if (others.length === 0) return undefined;
  const names = others.map(
    ({
      stored: {
        action: { id, label },
      },
      part,
    }) => {
      const files = part?.settled.map(({ path }) => path).join(", ");
      return `${id} ${label}${files === undefined ? "" : ` (${files})`}`;
    },
  );
  return `${action === "apply" ? "Applied" : "Discarded"} with it: ${names.join("; ")}`;
}

export function refused({ store }: SettleContext, stored: StoredAction, decision: Decision, text: string): Settled {
  return { outcome: "refused", result: failedResult(store, stored, decision, text) };
}

export function settledResult(
  store: PendingActionStore,
  stored: StoredAction,
  decision: Decision,
  { result, note }: { result: ToolResult; note: string | undefined },
): ToolResult {
  const details = result.details === undefined ? {} : { sourceResultDetails: result.details };
  const still = stillPendingText(store);
  const blocks = [note, still].filter((text) => text !== undefined);
  return {
    content: [...blocksOf(result), ...blocks.map((text) => ({ type: "text" as const, text }))],
    details: { ...metadata(store, stored, decision), ...details },
    ...(result.isError === true ? { isError: true } : {}),
  };
}

export function failedResult(
  store: PendingActionStore,
  stored: StoredAction,
  decision: Decision,
  error: string,
): ToolResult {
  const attempt = store.get(stored.action.id)?.action.attempts ?? stored.action.attempts;
  return {
    content: [{ type: "text", text: error }],
    details: { ...metadata(store, stored, decision), error, attempt },
    isError: true,
  };
}

/** The first four keys are part of the published contract, in this form. */
export function metadata(
  store: PendingActionStore,
  { action }: StoredAction,
  { action: decided, reason, extra }: Decision,
) {
  const { id, label, sourceToolName, details } = action;
  return {
    action: decided,
    reason,
    sourceToolName,
    label,
    id,
    remaining: store.size,
    ...(extra === undefined ? {} : { extra }),
    ...(details === undefined ? {} : { sourceDetails: details }),
  };
}

const maxNamed = 5;

function stillPendingText(store: PendingActionStore): string | undefined {
  const names = store.list().map(({ action }) => `${action.id} ${action.label}`);
  if (names.length === 0) return undefined;
  const more = names.length > maxNamed ? [`+${names.length - maxNamed} more`] : [];
  return `Still pending: ${[...names.slice(0, maxNamed), ...more].join("; ")}`;
}

export function staleText(changed: readonly string[], total: number, sourceToolName: string): string {
  const paths = changed.slice(0, maxNamed).join(", ");
  return `Preview is stale: ${changed.length} of ${total} files changed since the preview (${paths}). Nothing was written. Run ${sourceToolName} again or discard.`;
}
