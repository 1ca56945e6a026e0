// When a summary is written, and what hosts are told about it. Promises: every `auto_compaction_start` has its one end;
// one recovery from overflow per prompt; a summary that fails or is cancelled changes nothing.

import { AbortRace, linkAbort } from "../../base/abort.js";
import type { Clock } from "../../base/clock.js";
import { GalleyError, messageOf } from "../../base/errors.js";
import type { CompactionEntry, SessionEntry } from "../../protocol/entries.js";
import type { CompactionResult, SessionEvent } from "../../protocol/events.js";
import { capabilitiesOf, type ProviderModel, type StreamFunction } from "../../provider/provider.js";
import { Bill, type UsageByModel } from "../../record/billing.js";
import type { Budget } from "../budget/budget.js";
import { contextLimit, contextTokens, entryTokens } from "../context-usage.js";
import { findOverflow } from "../overflow.js";
import type { RetrySettings } from "../retry.js";
import { failedText, usable } from "./ask-summarizers.js";
import { type BranchNotes, branchOf, summarizeBranch } from "./branch-summary.js";
import { type CompactionRequest, type CutSettings, compact, planCut } from "./compact.js";
import { compactWithExtensions } from "./compact-with-extensions.js";
import type { CompactionExtensions } from "./compaction-extensions.js";
import { chooseOversized, choosePruned } from "./prune.js";
import type { Summarizer } from "./summarize.js";

export interface CompactionSettings extends CutSettings {
  /** Automatic compaction; a manual one is always possible. */
  readonly enabled: boolean;
  readonly strategy: "context-full" | "off";
  readonly autoContinue: boolean;
}

export type CompactionEvent = Extract<SessionEvent, { type: `${"auto_" | ""}compaction_${string}` }>;

export interface CompactionDeps {
  readonly clock: Clock;
  readonly stream: StreamFunction;
  random(): number;
  settings(): CompactionSettings;
  retrySettings(): RetrySettings;
  emit(event: CompactionEvent): void;
  /** From the root to the leaf; it may grow later. */
  path(): readonly SessionEntry[];
  model(): ProviderModel | undefined;
  /** Models with a usable credential: the session's own first, then by role, then the largest window. */
  summarizers(): readonly Summarizer[];
  readonly budget: Pick<Budget, "isUsedUp" | "mayAsk">;
  /** An estimate of what requests carry besides messages: system prompt and tools. */
  overheadTokens(): number;
  extensions?(): CompactionExtensions | undefined;
  /** Appends the `compaction` entry and rebuilds the context. */
  appendCompaction(result: CompactionResult): CompactionEntry;
  appendPrune(entryIds: string[]): void;
  /** Appends a `billed_usage` entry: calls that were paid for and led to nothing. */
  appendUsage(usage: UsageByModel): void;
}

export type OverflowDecision = { readonly kind: "recover" } | { readonly kind: "give_up"; readonly reason: string };

interface ManualCompaction {
  readonly customInstructions?: string;
  stopRun(): Promise<void>;
}

/** What the continuation after a threshold compaction begins with, as a developer message. */
export const continueText = "Continue if you have next steps.";

/** A compaction that frees less than this share of the limit is not worth its price, and could repeat for ever. */
const leastFreedShare = 0.1;
const freesTooLittle = "It would free less than 10 % of the limit.";

export class CompactionController {
  readonly #deps: CompactionDeps;
  readonly #running = new Map<AbortController, Promise<void>>();
  #hasRecovered = false;
  /** Why the last decision about this path was not to compact although the context is above its limit. */
  #skipped: { readonly path: readonly SessionEntry[]; readonly reason: string } | undefined;

  constructor(deps: CompactionDeps) {
    this.#deps = deps;
  }

  get isCompacting(): boolean {
    return this.#running.size > 0;
  }

  /** Cancels what is running, automatic or not. */
  abort(): void {
    for (const controller of this.#running.keys()) controller.abort();
  }

  /** Resolves when nothing is running any more. */
  async waitForIdle(): Promise<void> {
    while (this.isCompacting) await Promise.all(this.#running.values());
  }

  /** A new prompt of the user: it has its own recovery. */
  startPrompt(): void {
    this.#hasRecovered = false;
  }

  /**
   * Before `agent_end`: whether the last reply of a run with this model overflowed. Undefined: it did not, or nothing
   * can be done. What is kept has to fit the model of the next run, which may be another one by now.
   */
  decideOverflow(runModel: ProviderModel): OverflowDecision | undefined {
    const model = this.#deps.model();
    if (!model) return undefined;
    const path = this.#deps.path();
    const failed = findOverflow(path, runModel);
    if (failed === undefined || !this.#isAutomatic()) return undefined;
    if (this.#hasRecovered) return { kind: "give_up", reason: tooLargeAgain };
    const cut = planCut({ ...this.#input(model), path: path.slice(0, failed), mustFree: true });
    return "problem" in cut ? { kind: "give_up", reason: cut.problem } : { kind: "recover" };
  }

  /** After `agent_end`, with the failed reply off the path. True: the run is to be continued. */
  recover(decision: OverflowDecision, signal: AbortSignal): Promise<boolean> {
    this.#hasRecovered = true;
    return this.#runAutomatic("overflow", signal, decision);
  }

  /**
   * After a run that ended well and before its `agent_end`, or before a prompt: whether the context is to be compacted.
   * Old tool outputs are pruned first, which may already be enough.
   */
  decideThreshold(): boolean {
    const model = this.#deps.model();
    if (!model) return false;
    const limit = contextLimit(model.contextWindow, this.#deps.settings());
    // In this order: the context is mostly not full, and finding a summarizer asks about every model there is.
    if (this.#contextTokens() <= limit || !this.#isAutomatic()) return false;
    const pruned = choosePruned(this.#deps.path());
    if (pruned.length > 0) this.#deps.appendPrune(pruned);
    if (this.#contextTokens() <= limit) return false;
    const reason = skipReason(planCut(this.#input(model)), limit);
    this.#skipped = reason === undefined ? undefined : { path: this.#deps.path(), reason };
    return reason === undefined;
  }

  /** Why the context is above its limit and stays as it is; undefined where neither is so. */
  get skippedReason(): string | undefined {
    const model = this.#deps.model();
    if (!model || this.#skipped?.path !== this.#deps.path()) return undefined;
    const limit = contextLimit(model.contextWindow, this.#deps.settings());
    return this.#contextTokens() > limit ? this.#skipped.reason : undefined;
  }

  /** After `agent_end`, or before a prompt. True if the context was compacted. */
  compactAtThreshold(signal: AbortSignal): Promise<boolean> {
    return this.#runAutomatic("threshold", signal);
  }

  /**
   * The `compact` command. Refuses before it touches anything; then stops the run. `stopRun` must stop it by the run's
   * own signal: `abort` here would cancel this very compaction.
   */
  async compactNow(options: ManualCompaction): Promise<CompactionResult> {
    try {
      return await this.#compactNow(options);
    } catch (error) {
      const [reason, aborted] = ["manual" as const, GalleyError.is(error, "aborted")];
      this.#deps.emit({ type: "compaction_start", reason });
      this.#deps.emit({ type: "compaction_end", reason, aborted, willRetry: false, errorMessage: messageOf(error) });
      throw error;
    }
  }

  async #compactNow({ customInstructions, stopRun }: ManualCompaction): Promise<CompactionResult> {
    const chosen = this.#deps.model();
    const cut = chosen && planCut(this.#input(chosen)); // first: with nothing to do, no model is needed
    if (cut && "problem" in cut) throw new GalleyError("cannot_continue", cut.problem);
    const model = this.#modelForCommand();
    return this.#run(undefined, async (signal) => {
      await stopRun();
      return this.#compact(model, signal, customInstructions === undefined ? {} : { customInstructions });
    });
  }

  /**
   * Notes on the entries that are about to leave the path; undefined when nothing was said in them. Nothing is
   * written, except that what failing calls cost is kept.
   */
  async summarizeBranch(
    abandoned: readonly SessionEntry[],
    extra: { reserveTokens: number; customInstructions?: string },
  ): Promise<BranchNotes | undefined> {
    const branch = branchOf(abandoned);
    if (!branch) return undefined;
    const model = this.#modelForCommand();
    return this.#run(undefined, (signal) =>
      this.#billed(summarizeBranch({ ...this.#request(model, signal), branch, ...extra })),
    );
  }

  /** Work that `abort` cancels as it does a summary: throws `aborted` at once, whatever the work does. */
  cancellable<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    return this.#run(undefined, async (signal) => {
      const race = new AbortRace(signal);
      const result = await race.next(work(signal)).finally(() => race.release());
      if (result === "aborted") throw new GalleyError("aborted", "Operation aborted");
      return result;
    });
  }

  #modelForCommand(): ProviderModel {
    const model = this.#deps.model();
    if (!model) throw new GalleyError("no_model", "No model selected");
    const summarizers = this.#deps.summarizers();
    if (summarizers.length === 0) throw new GalleyError("no_credential", `No API key for ${model.provider}`);
    usable(summarizers);
    const refused = this.#deps.budget.mayAsk();
    if (refused) throw new GalleyError("limit", refused.errorMessage);
    return model;
  }

  #isAutomatic(): boolean {
    const { enabled, strategy } = this.#deps.settings();
    return (
      enabled &&
      strategy !== "off" &&
      !this.#deps.budget.isUsedUp &&
      this.#deps.summarizers().some(({ model }) => capabilitiesOf(model).isLanguageModel)
    );
  }

  #contextTokens(): number {
    return contextTokens(this.#deps.path()).tokens;
  }

  #input(model: ProviderModel) {
    const deps = this.#deps;
    return {
      path: [...deps.path()], // a summary covers what there was when it began
      contextWindow: model.contextWindow,
      overheadTokens: deps.overheadTokens(),
      settings: deps.settings(),
    };
  }

  async #runAutomatic(
    reason: "overflow" | "threshold",
    signal: AbortSignal,
    decision?: OverflowDecision,
  ): Promise<boolean> {
    const action = "context-full";
    let end: Omit<Extract<CompactionEvent, { type: "auto_compaction_end" }>, "type" | "action">;
    try {
      const result = await this.#run(signal, (own) => {
        this.#deps.emit({ type: "auto_compaction_start", reason, action });
        if (decision?.kind === "give_up") throw new GalleyError("cannot_continue", decision.reason);
        return this.#compact(this.#modelForCommand(), own, { mustFree: reason === "overflow" });
      });
      end = { result, aborted: false, willRetry: reason === "overflow" };
    } catch (error) {
      end = GalleyError.is(error, "aborted")
        ? { aborted: true, willRetry: false }
        : { aborted: false, willRetry: false, errorMessage: `${failureTexts[reason]}${reasonOf(error)}` };
    }
    this.#deps.emit({ type: "auto_compaction_end", action, ...end });
    return end.result !== undefined;
  }

  async #run<Result>(outer: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const controller = new AbortController();
    const link = linkAbort(controller.signal, outer);
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#running.set(controller, ended);
    try {
      return await work(link.signal);
    } finally {
      link.release();
      this.#running.delete(controller);
      end();
    }
  }

  async #compact(
    model: ProviderModel,
    signal: AbortSignal,
    extra: Pick<CompactionRequest, "customInstructions" | "mustFree">,
  ): Promise<CompactionResult> {
    const deps = this.#deps;
    const extensions = deps.extensions?.();
    const request = { ...this.#request(model, signal), ...extra };
    const result = await this.#billed<CompactionResult>(
      extensions ? compactWithExtensions(request, extensions) : compact(request),
    );
    const entry = deps.appendCompaction(result);
    const oversized = chooseOversized(deps.path(), contextLimit(model.contextWindow, deps.settings()));
    if (oversized.length > 0) deps.appendPrune(oversized);
    // It is done: cancelling now only ends the announcements.
    if (extensions) await this.#waitFor(signal, extensions.compacted(entry));
    return result;
  }

  async #waitFor(signal: AbortSignal, told: Promise<void>): Promise<void> {
    const race = new AbortRace(signal);
    await race.next(told).finally(() => race.release());
  }

  #request(model: ProviderModel, signal: AbortSignal) {
    const deps = this.#deps;
    return {
      ...this.#input(model),
      summarizers: deps.summarizers(),
      retry: deps.retrySettings(),
      stream: deps.stream,
      clock: deps.clock,
      random: () => deps.random(),
      signal,
    };
  }

  /** Failed calls are paid for all the same. */
  async #billed<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      const bill = new Bill();
      if (error instanceof GalleyError) bill.addAll(error.details?.usage);
      if (!bill.isEmpty) this.#deps.appendUsage(bill.byModel);
      throw error;
    }
  }
}

function skipReason(cut: ReturnType<typeof planCut>, limit: number): string | undefined {
  if ("problem" in cut) return cut.problem;
  const freed = [...cut.history, ...cut.turnHead].reduce((sum, entry) => sum + entryTokens(entry), 0);
  return freed < limit * leastFreedShare ? freesTooLittle : undefined;
}

const tooLargeAgain =
  "the context is too large again after one compaction. Start a new session, or use a model with a larger window.";

const failureTexts = { overflow: "Context overflow recovery failed: ", threshold: "Auto-compaction failed: " };

/** Without the prefix of the command's answer: here another prefix is used. */
function reasonOf(error: unknown): string {
  const text = messageOf(error);
  return text.startsWith(failedText) ? text.slice(failedText.length) : text;
}
