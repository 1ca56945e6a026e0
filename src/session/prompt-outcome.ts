// How the work on a prompt ended, as its host is told: completed, stopped, or failed for a reason that a program can
// act on.

import { messageOf } from "../base/errors.js";
import type { RunEnd } from "../loop/run.js";
import type { PromptResult } from "../protocol/frames.js";
import { isTransient } from "./retry.js";

export type PromptOutcome = Pick<PromptResult, "status" | "error">;

export const abortedOutcome: PromptOutcome = { status: "aborted" };

export function outcomeOf({ stopReason, message }: RunEnd): PromptOutcome {
  if (stopReason === "aborted") return abortedOutcome;
  if (stopReason !== "error") return { status: "completed" };
  const { errorMessage = "", provider, model, error } = message;
  const httpStatus = error?.status === undefined ? {} : { httpStatus: error.status };
  return {
    status: "error",
    error: { message: errorMessage, provider, model, ...httpStatus, retryable: isTransient(message) },
  };
}

/** A bug of ours: the same prompt would most likely fail the same way. */
export function internalErrorOutcome(thrown: unknown): PromptOutcome {
  return { status: "error", error: { message: messageOf(thrown), retryable: false } };
}
