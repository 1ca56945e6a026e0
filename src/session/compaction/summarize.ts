// One summary by one model. Promises: what does not fit the model's own window is summarised in chunks, each summary
// fed into the next; every call is billed, a failed one too; an abort takes effect at once, even in a stalled stream.

import { AbortRace } from "../../base/abort.js";
import { type Clock, sleep } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import type { Usage } from "../../protocol/messages.js";
import type {
  ProviderModel,
  StreamEvent,
  StreamFunction,
  StreamOptions,
  StreamRequest,
} from "../../provider/provider.js";
import { type FailedReply, isOverflowError } from "../overflow.js";
import { type RetrySettings, retryDecision } from "../retry.js";
import { headOf } from "./serialize.js";
import { requestText, type SummaryTask, systemPrompt } from "./summary-prompt.js";

/** A model that may write the summary, and what its requests carry (key, headers, the session's thinking level). */
export interface Summarizer {
  readonly model: ProviderModel;
  options(): Promise<Omit<StreamOptions, "signal" | "maxTokens" | "toolChoice">>;
}

export interface SummaryCaller {
  readonly summarizer: Summarizer;
  readonly stream: StreamFunction;
  readonly clock: Clock;
  readonly random: () => number;
  readonly retry: RetrySettings;
  /** No wait before another attempt is longer than this. */
  readonly maxWaitMs: number;
  /** How many times estimates of this conversation fall short. */
  readonly ratio: number;
  readonly signal: AbortSignal;
  bill(usage: Usage): void;
}

/** The summary, or how the last call failed: `aborted` when the signal fired. */
export async function summarize(task: SummaryTask, caller: SummaryCaller): Promise<string | FailedReply> {
  const maxTokens = outputCap(task, caller.summarizer.model);
  let maxCharacters = chunkSize(task, caller, maxTokens);
  let current = task;
  while (current.pieces.length > 0) {
    const { taken, rest } = takeChunk(current.pieces, maxCharacters);
    const outcome = await callModel(requestText({ ...current, pieces: taken }), maxTokens, caller);
    if (typeof outcome === "string") current = { ...current, pieces: rest, previousSummary: outcome };
    else if (isOverflowError(outcome) && maxCharacters > leastChunk) {
      // The estimate was too low: the same again in smaller chunks.
      maxCharacters = Math.max(leastChunk, Math.floor(Math.min(maxCharacters, lengthOf(taken)) / 2));
    } else return outcome;
  }
  return current.previousSummary ?? "";
}

const charactersPerToken = 4;
const leastChunk = 4000;
/** No summary is this long; a stream that goes on is not one. */
const maxSummaryCharacters = 400_000;

function outputCap({ maxTokens }: SummaryTask, model: ProviderModel): number {
  // A summary that fills the window it was made to clear is useless.
  return Math.max(1, Math.floor(Math.min(maxTokens, model.maxTokens, model.contextWindow / 4)));
}

function chunkSize(task: SummaryTask, { summarizer, ratio }: SummaryCaller, maxTokens: number): number {
  const frame = requestText({ ...task, pieces: [] }).length + systemPrompt.length;
  // From the second chunk on a summary of up to the cap comes along.
  const fixedTokens = frame / charactersPerToken + 2 * maxTokens;
  const roomTokens = (summarizer.model.contextWindow * 0.9 - fixedTokens) / ratio;
  return Math.max(leastChunk, Math.floor(roomTokens * charactersPerToken));
}

/** Whole pieces as long as they fit; a piece that never would is cut. */
function takeChunk(pieces: readonly string[], maxCharacters: number): { taken: string[]; rest: readonly string[] } {
  let left = maxCharacters;
  let count = 0;
  for (; count < pieces.length; count++) {
    const length = (pieces[count] as string).length;
    if (length > left) break;
    left -= length;
  }
  if (count > 0) return { taken: pieces.slice(0, count), rest: pieces.slice(count) };
  const [first = "", ...others] = pieces;
  const head = headOf(first, maxCharacters);
  return { taken: [head], rest: [first.slice(head.length), ...others] };
}

function lengthOf(pieces: readonly string[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

/** Waits and asks again after a transient failure: these calls are not retried elsewhere. */
async function callModel(text: string, maxTokens: number, caller: SummaryCaller): Promise<string | FailedReply> {
  const { summarizer, clock, random, retry, signal, maxWaitMs } = caller;
  for (let attempt = 1; ; attempt++) {
    const outcome = await readReply(text, maxTokens, caller);
    if (signal.aborted) return aborted;
    if (typeof outcome === "string") return outcome;
    const failed = { ...outcome, api: summarizer.model.api };
    const decision = retryDecision(failed, { attempt, settings: retry, random });
    if (decision.kind === "stop") return { ...outcome, errorMessage: decision.finalError };
    if (decision.delayMs > maxWaitMs) return outcome;
    await sleep(clock, decision.delayMs, signal).catch(() => {}); // only the signal ends it early
    if (signal.aborted) return aborted;
  }
}

async function readReply(text: string, maxTokens: number, caller: SummaryCaller): Promise<string | FailedReply> {
  const { signal, stream } = caller;
  const race = new AbortRace(signal);
  let iterator: AsyncIterator<StreamEvent> | undefined;
  let usage: Usage | undefined;
  let summary = "";
  try {
    const request = await race.next(buildRequest(text, maxTokens, caller));
    if (request === "aborted" || signal.aborted) return aborted;
    iterator = stream(request)[Symbol.asyncIterator]();
    for (;;) {
      const step = await race.next(iterator.next());
      if (step === "aborted" || signal.aborted) return aborted;
      if (step.done) return failure("The model's stream ended early", { kind: "network" });
      const event = step.value;
      if ("usage" in event && event.usage) usage = event.usage;
      if (event.type === "text_delta") summary += event.delta;
      if (summary.length > maxSummaryCharacters) return failure("the summary does not end", unusable);
      if (event.type === "error") return failure(event.errorMessage, event.failure);
      if (event.type === "done") return summary.trim() || failure("the model returned no text", unusable);
    }
  } catch (error) {
    return failure(messageOf(error));
  } finally {
    if (usage) caller.bill(usage);
    race.release();
    // Not awaited: a provider that hangs must not hold up the abort that wants to leave it.
    void iterator?.return?.().catch(() => {}); // its failure cannot matter any more
  }
}

async function buildRequest(text: string, maxTokens: number, caller: SummaryCaller): Promise<StreamRequest> {
  const { summarizer, signal, clock } = caller;
  const message = { role: "user" as const, content: text, timestamp: clock.now() };
  return {
    model: summarizer.model,
    context: { systemPrompt, messages: [message], tools: [] },
    options: { ...(await summarizer.options()), signal, maxTokens },
  };
}

const aborted: FailedReply = { stopReason: "aborted", errorMessage: "Compaction cancelled" };
/** The same request would give the same result. */
const unusable: FailedReply["error"] = { kind: "invalid_request" };

function failure(errorMessage: string, error?: FailedReply["error"]): FailedReply {
  return { stopReason: "error", errorMessage, ...(error ? { error } : {}) };
}
