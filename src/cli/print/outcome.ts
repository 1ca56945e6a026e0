// How a one-shot run ended, for its exit code and the last line of JSON mode.

import { GalleyError, messageOf } from "../../base/errors.js";
import type { AssistantMessage } from "../../protocol/messages.js";
import type { AgentSession } from "../../sdk/index.js";
import type { BudgetExceeded } from "../../sdk/turn-budget.js";
import { type ExitReason, exitCodes } from "../exit-codes.js";

export interface Outcome {
  reason: ExitReason;
  message?: string;
  /** The ids of the plans that wait for a decision. */
  pending?: readonly string[];
  /** The ids of previews that were left undecided and ended with the run. */
  discarded?: readonly string[];
  limit?: BudgetExceeded;
}

/** Previews that are left are no failure, unless the caller wants to know by the code. */
export function codeOf({ reason }: Outcome, { exitCode }: { exitCode: boolean }): number {
  return reason === "pending" && !exitCode ? exitCodes.done : exitCodes[reason];
}

/** Of an error that ended the program before, or instead of, a run. */
export function outcomeOfError(error: unknown): Outcome {
  const isOf = (code: GalleyError["code"]) => GalleyError.is(error, code);
  const reason = isOf("usage") ? "usage" : isOf("no_credential") || isOf("no_model") ? "provider" : "startup";
  return { reason, message: isOf("model_not_found") ? notFoundText(error as GalleyError) : messageOf(error) };
}

function notFoundText({ message, details }: GalleyError): string {
  const names = Array.isArray(details?.suggestions) ? details.suggestions : [];
  const meant = names.length === 0 ? "" : ` Did you mean ${names.join(", ")}?`;
  return `${message}.${meant} See: galley models --all`;
}

/** Of the last prompt; without a reply it was a command, or ended before the model was called. */
export function failureOf(
  session: AgentSession,
  { reply, exceeded }: { reply: AssistantMessage | undefined; exceeded: BudgetExceeded | undefined },
): Outcome | undefined {
  if (exceeded) {
    const message = `Stopped: --max-turns ${exceeded.limit} is used up. Continue with: galley -c -p …`;
    return { reason: "limit", message, limit: exceeded };
  }
  const { status, error } = session.lastOutcome;
  if (reply?.stopReason === "length")
    return { reason: "limit", message: "The answer was cut off: it reached the model's output limit." };
  const isFailed = reply ? reply.stopReason === "error" || reply.stopReason === "aborted" : status !== "completed";
  if (!isFailed) return undefined;
  const message = reply?.errorMessage ?? error?.message ?? "The run failed";
  if (reply?.error !== undefined && reply.provider !== "galley") return { reason: "provider", message };
  return { reason: session.wasDenied ? "denied" : "failed", message };
}
