// Automatic retry of failed model calls: whether, when, and what hosts are told about it. The only retry there is: providers
// make none of their own. Promises: a series of `auto_retry_start` is closed by exactly one `auto_retry_end`.

import type { Clock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import { throttleText } from "../base/service-texts.js";
import type { SessionEvent } from "../protocol/events.js";
import type { AssistantMessage, ProviderFailure } from "../protocol/messages.js";
import { capabilitiesOf, type StreamEvent } from "../provider/provider.js";
import { type FailedReply, isOverflowError } from "./overflow.js";

export interface RetrySettings {
  readonly enabled: boolean;
  readonly maxRetries: number;
  readonly baseDelayMs: number;
  /** A service that asks for a longer wait than this is not asked again. */
  readonly maxDelayMs: number;
  /** By role: the models that stand in for a failed one, in this order, each `provider/id[:level]`. */
  readonly fallbackChains: Readonly<Record<string, readonly string[]>>;
  /** When the session's own model is asked first again: after the cooldown, or only by the user's choice. */
  readonly fallbackRevertPolicy: "cooldown-expiry" | "never";
}

export type RetryDecision =
  | { readonly kind: "retry"; readonly attempt: number; readonly delayMs: number }
  /** `finalError`: the sentence to end a series with. */
  | {
      readonly kind: "stop";
      readonly reason: "disabled" | "permanent" | "exhausted" | "wait_too_long";
      readonly finalError: string;
    };

/**
 * `attempt` is the number that this retry would have, from 1. `random` gives numbers from 0 to below 1. `isElsewhere`:
 * another model would be asked, so that what this one's service demands, and how often it failed, does not count.
 */
export function retryDecision(
  message: FailedReply & Pick<AssistantMessage, "api">,
  options: { attempt: number; settings: RetrySettings; random: () => number; isElsewhere?: boolean },
): RetryDecision {
  const { attempt, settings, random, isElsewhere = false } = options;
  const finalError = message.errorMessage ?? "";
  if (!settings.enabled) return { kind: "stop", reason: "disabled", finalError };
  // The planner fails for its own reasons, and would fail the same way again.
  if (!capabilitiesOf(message).isLanguageModel || !isTransient(message))
    return { kind: "stop", reason: "permanent", finalError };
  const demandedMs = isElsewhere ? 0 : (message.error?.retryAfterMs ?? 0);
  if (demandedMs > settings.maxDelayMs)
    return { kind: "stop", reason: "wait_too_long", finalError: withLongWait(finalError, demandedMs, settings) };
  if (attempt > settings.maxRetries) return { kind: "stop", reason: "exhausted", finalError };
  // Many clients that failed together must not return together; a delay that the service asked for is kept exactly.
  const jitter = 0.8 + 0.4 * random();
  const ownMs = Math.min(settings.baseDelayMs * 2 ** (isElsewhere ? 0 : attempt - 1) * jitter, settings.maxDelayMs);
  return { kind: "retry", attempt, delayMs: Math.round(Math.max(ownMs, demandedMs)) };
}

/**
 * The failure's sentence, which also says so when the service asks for a longer wait than we are ready for. Asked
 * before the message is announced, because it cannot be changed afterwards.
 */
export function failureText(event: ErrorEvent, settings: RetrySettings): string {
  const { errorMessage, failure } = event;
  const demandedMs = failure?.retryAfterMs ?? 0;
  const reply: FailedReply = { stopReason: event.reason, errorMessage, ...(failure ? { error: failure } : {}) };
  if (!settings.enabled || demandedMs <= settings.maxDelayMs || !isTransient(reply)) return errorMessage;
  return withLongWait(errorMessage, demandedMs, settings);
}

export type ErrorEvent = Extract<StreamEvent, { type: "error" }>;

function withLongWait(text: string, demandedMs: number, { maxDelayMs }: RetrySettings): string {
  const seconds = (ms: number) => Math.ceil(ms / 1000);
  const note = `Not retried: the service asks to wait ${seconds(demandedMs)} s, and retry.maxDelayMs allows ${seconds(maxDelayMs)} s.`;
  return text.endsWith(note) ? text : `${text}${/[.!?]$/.test(text) ? "" : "."} ${note}`;
}

/** What the failure's data says; undefined when it says nothing. */
function verdictOf({ kind, status, retryAfterMs }: ProviderFailure): boolean | undefined {
  switch (kind) {
    case "rate_limit":
    case "overloaded":
    case "server":
    case "network":
      return true;
    case "usage_limit":
      return retryAfterMs !== undefined; // a quota that names no time may take days
    case "auth":
    case "invalid_request":
    case "refusal":
    case "content_filter":
    case "overflow":
    case "limit":
      return false;
    case "unknown":
      return status === undefined ? undefined : transientStatus.has(status);
  }
}

const transientStatus: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504, 529]);

/** Whole words only: "45000 tokens" holds no 500. */
const transientText =
  /\b(?:overloaded|rate[ _-]limit(?:ed|s)?|too many requests|429|500|502|503|504|529|service unavailable|server error|internal error|network error|connection (?:error|refused|reset|lost)|fetch failed|socket hang up|other side closed|timed? out|timeout|terminated)\b/i;

/** The same request may succeed another time. */
export function isTransient(reply: FailedReply): boolean {
  const { stopReason, errorMessage, error } = reply;
  if (stopReason !== "error" || !errorMessage || isOverflowError(reply)) return false;
  const verdict = error && verdictOf(error);
  return verdict ?? (transientText.test(errorMessage) || throttleText.test(errorMessage));
}

export type RetryEvent = Extract<SessionEvent, { type: "auto_retry_start" | "auto_retry_end" }>;

export interface RetryDeps {
  readonly clock: Clock;
  random(): number;
  settings(): RetrySettings;
  emit(event: RetryEvent): void;
}

export type CancelReason = "abort" | "abort_retry";

type Phase =
  | { kind: "idle" }
  /** Decided; the run that failed is still closing. */
  | { kind: "due"; attempt: number; delayMs: number; errorMessage: string; cancelled?: CancelReason }
  | { kind: "waiting"; attempt: number; finish: (outcome: "due" | CancelReason) => void }
  /** The repeated call is under way. */
  | { kind: "trying"; attempt: number }
  /** Given up; told to hosts once the run has closed. */
  | { kind: "lost"; attempt: number; finalError: string };

const cancelledText = "Retry cancelled";

/**
 * One series after another. The order of calls: `onFailure` before `agent_end` of a run that failed or was aborted,
 * then `wait` if it said "retry" or `close` if not; `onSuccess` at the end of every good assistant message.
 */
export class RetryController {
  readonly #deps: RetryDeps;
  #phase: Phase = { kind: "idle" };

  constructor(deps: RetryDeps) {
    this.#deps = deps;
  }

  /** From the decision to retry until the series is closed. */
  get isRetrying(): boolean {
    return this.#phase.kind !== "idle";
  }

  /** Retries of the open series, 0 without one. */
  get attempt(): number {
    return this.#phase.kind === "idle" ? 0 : this.#phase.attempt;
  }

  /** Decides without an event: what it decides is announced after `agent_end`. */
  onFailure(message: AssistantMessage, isElsewhere = false): RetryDecision {
    const made = this.attempt;
    const decision = retryDecision(message, {
      attempt: made + 1,
      settings: this.#deps.settings(),
      random: () => this.#deps.random(),
      isElsewhere,
    });
    if (decision.kind === "retry")
      this.#phase = {
        kind: "due",
        attempt: decision.attempt,
        delayMs: decision.delayMs,
        errorMessage: message.errorMessage ?? "",
      };
    else if (made > 0) {
      const finalError = message.stopReason === "aborted" ? cancelledText : decision.finalError;
      this.#phase = { kind: "lost", attempt: made, finalError };
    }
    return decision;
  }

  /** After `agent_end`: announces the retry and waits. "due" means go on; else who cancelled it, already announced. */
  wait(signal: AbortSignal): Promise<"due" | CancelReason> {
    const phase = this.#phase;
    if (phase.kind !== "due") throw new GalleyError("cannot_continue", "No retry is due");
    const { attempt, delayMs, errorMessage } = phase;
    const maxAttempts = this.#deps.settings().maxRetries;
    return new Promise((resolve) => {
      const onAbort = () => this.cancel("abort");
      const onTime = () => {
        this.#phase = { kind: "trying", attempt };
        finish("due");
      };
      const cancelTimer = this.#deps.clock.after(delayMs, onTime, { isAwaited: true });
      const finish = (outcome: "due" | CancelReason) => {
        cancelTimer();
        signal.removeEventListener("abort", onAbort);
        resolve(outcome);
      };
      this.#phase = { kind: "waiting", attempt, finish };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#deps.emit({ type: "auto_retry_start", attempt, maxAttempts, delayMs, errorMessage });
      if (phase.cancelled) this.cancel(phase.cancelled);
      else if (signal.aborted) this.cancel("abort");
    });
  }

  /** The first good reply ends the series. */
  onSuccess(): void {
    if (this.#phase.kind === "trying") this.#end({ success: true, attempt: this.#phase.attempt });
  }

  /** After the `agent_end` of a run that will not be retried: closes the series, if one is open. */
  close(): void {
    const phase = this.#phase;
    if (phase.kind === "lost") this.#end({ success: false, attempt: phase.attempt, finalError: phase.finalError });
    else if (phase.kind === "trying") this.#end({ success: false, attempt: phase.attempt, finalError: cancelledText });
  }

  /** Ends the wait; a repeated call that is under way is not ours to stop. True if there was something to cancel. */
  cancel(reason: CancelReason): boolean {
    const phase = this.#phase;
    if (phase.kind === "due") this.#phase = { ...phase, cancelled: phase.cancelled ?? reason };
    else if (phase.kind === "waiting") {
      this.#end({ success: false, attempt: phase.attempt, finalError: cancelledText });
      phase.finish(reason);
    } else return false;
    return true;
  }

  #end(end: { success: boolean; attempt: number; finalError?: string }): void {
    this.#phase = { kind: "idle" };
    this.#deps.emit({ type: "auto_retry_end", ...end });
  }
}
