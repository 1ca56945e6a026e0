// How a one-shot run ended, for its exit code and the last line of JSON mode.

import { GalleyError, messageOf } from "../../base/errors.js";
import type { AssistantMessage } from "../../protocol/messages.js";
import type { AgentSession, BudgetExceeded } from "../../sdk/index.js";
import { type ExitReason, exitCodes } from "../exit-codes.js";

export interface Outcome {
  reason: ExitReason;
  message?: string;
  /** The ids of the plans that wait for a decision. */
  pending?: readonly string[];
  /** The ids of previews that were left undecided and ended with the run. */
  discarded?: readonly string[];
  limit?: Limit;
}

export type Limit = Pick<BudgetExceeded, "kind" | "limit" | "used">;

/** Previews that are left are no failure, unless the caller wants to know by the code. */
export function codeOf({ reason }: Outcome, { exitCode }: { exitCode: boolean }): number {
  return reason === "pending" && !exitCode ? exitCodes.done : exitCodes[reason];
}

/** Of an error that ended the program before, or instead of, a run. */
export function outcomeOfError(error: unknown): Outcome {
  const isOf = (code: GalleyError["code"]) => GalleyError.is(error, code);
  const isProvider = isOf("no_credential") || isOf("no_model");
  const reason = isOf("usage") || isOf("unknown_price") ? "usage" : isProvider ? "provider" : "startup";
  return { reason, message: isOf("model_not_found") ? notFoundText(error) : messageOf(error) };
}

/** What a misspelt model may have meant, behind the error: begins with a space, and is empty where no name is near. */
export function suggestionsOf(error: unknown): string {
  const names = GalleyError.is(error, "model_not_found") ? error.details?.suggestions : undefined;
  return Array.isArray(names) && names.length > 0 ? ` Did you mean ${names.join(", ")}?` : "";
}

function notFoundText(error: unknown): string {
  return `${messageOf(error)}.${suggestionsOf(error)} See: galley models --all`;
}

/** Of the last prompt; without a reply it was a command, or ended before the model was called. */
export function failureOf(
  session: AgentSession,
  { reply, exceeded }: { reply: AssistantMessage | undefined; exceeded: Limit | undefined },
): Outcome | undefined {
  if (reply?.error?.kind === "limit") return stoppedAt(exceeded, reply.errorMessage);
  const { status, error } = session.lastOutcome;
  if (reply?.stopReason === "length") return { reason: "limit", message: cutText(session) };
  const isFailed = reply ? reply.stopReason === "error" || reply.stopReason === "aborted" : status !== "completed";
  if (!isFailed) return undefined;
  const message = reply?.errorMessage ?? error?.message ?? "The run failed";
  if (reply?.error !== undefined && reply.provider !== "galley") return { reason: "provider", message };
  return { reason: session.wasDenied ? "denied" : "failed", message };
}

/** A budget lowers what a reply may have. */
function cutText({ budget: { maxCost, maxTokens } }: AgentSession): string {
  const isLimited = (maxCost ?? maxTokens) !== undefined;
  return `The answer was cut off: it reached the model's output limit${isLimited ? ", or what is left of the budget" : ""}.`;
}

/** A limit that was told before the run began has only its sentence. */
function stoppedAt(limit: Limit | undefined, text = ""): Outcome {
  if (!limit) return { reason: "limit", message: text };
  return { reason: "limit", message: `${limitText(limit)} Continue with: galley -c …`, limit };
}

function limitText({ kind, limit, used }: Limit): string {
  const spent = { cost: `${dollarsText(used)} spent`, turns: "", tokens: `${used} tokens used` }[kind];
  if (used < limit) return `Stopped: ${spent}, and the next call would exceed --max-${kind} ${plain(limit)}.`;
  return `Stopped: --max-${kind} ${plain(limit)} is used up${spent && ` (${spent})`}.`;
}

/** `0.10`, and more digits where they tell it from the limit. */
function dollarsText(amount: number): string {
  return plain(Number(amount.toPrecision(4))).replace(/^\d+(\.\d)?$/, (short, one) =>
    one ? `${short}0` : `${short}.00`,
  );
}

/** Without an exponent. */
function plain(amount: number): string {
  return amount.toFixed(9).replace(/\.?0+$/, "");
}
