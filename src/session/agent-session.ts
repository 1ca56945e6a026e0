// One conversation and the agent that leads it. A short class: it owns the state and delegates the behaviour. Safe
// to call at any moment; every prompt ends in `agent_settled`, whatever happened to it.

import { type Clock, sleep } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import type { Ids } from "../base/ids.js";
import type { Log } from "../base/log.js";
import { abortGraceMs } from "../loop/call-tool.js";
import { EventStream, type Subscriber } from "../loop/event-stream.js";
import { type InterruptMode, MessageQueues, type QueueMode } from "../loop/message-queues.js";
import type { RunEnd, RunParts, ToolHooks } from "../loop/run.js";
import { runPrompt } from "../loop/run-prompt.js";
import { type Invoker, ToolChoiceQueue } from "../loop/tool-choice-queue.js";
import type { ImageContent } from "../protocol/content.js";
import type { ContextUsage } from "../protocol/data.js";
import type { AgentSessionEvent, CompactionResult } from "../protocol/events.js";
import type { AgentMessage, UserMessage } from "../protocol/messages.js";
import type { ThinkingLevel } from "../protocol/model.js";
import type { ProviderModel, StreamFunction } from "../provider/provider.js";
import type { AnyTool } from "../tools/tool.js";
import { billedUsageType } from "./billing.js";
import { CompactionController } from "./compaction/compaction-controller.js";
import type { Summarizer } from "./compaction/summarize.js";
import { contextUsage } from "./context-usage.js";
import { announced, type ContinuationParts, carryOut, decideContinuation, type Verdict } from "./continuation.js";
import { ModelMessages } from "./model-messages.js";
import type { ModelSource } from "./model-source.js";
import { RetryController, tellLongWaits } from "./retry.js";
import { SessionLog } from "./session-log.js";
import { defaultSessionSettings, type SessionSettings } from "./session-settings.js";
import { availableLevels, clampLevel, nextLevel } from "./thinking.js";

export interface AgentSessionParts {
  readonly sessionId: string;
  readonly cwd: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly models: ModelSource;
  readonly stream: StreamFunction;
  readonly tools: readonly AnyTool[];
  readonly hooks?: ToolHooks;
  /** Built anew when the active tools change. */
  systemPrompt(tools: readonly AnyTool[]): string;
  readonly model?: ProviderModel | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  readonly ids: Ids;
  readonly settings?: SessionSettings;
  /** For the jitter of retries; default Math.random. */
  readonly random?: () => number;
}

export interface PromptOptions {
  images?: readonly ImageContent[];
  /** What to do when a run is active; without it such a prompt is refused. */
  streamingBehavior?: "steer" | "followUp";
  /** Called once the prompt is accepted, before the first event it causes. */
  onAccepted?: () => void;
}

interface PromptStart {
  model: ProviderModel;
  message: UserMessage;
  previous: Promise<void> | undefined;
  onAccepted(): void;
}

/** A prompt under way. `isClosing` once its last `agent_end` was sent: the next prompt may already line up. */
interface Active {
  readonly abort: AbortController;
  readonly settled: Promise<void>;
  isClosing: boolean;
}

export const busyText =
  "Agent is already processing. Use steer() or followUp() to queue messages, or wait for completion.";

export class AgentSession {
  readonly toolChoiceQueue = new ToolChoiceQueue();
  readonly #parts: AgentSessionParts;
  readonly #events: EventStream<AgentSessionEvent>;
  readonly #queues: MessageQueues;
  readonly #record: SessionLog;
  readonly #modelMessages = new ModelMessages();
  readonly #retry: RetryController;
  readonly #compaction: CompactionController;
  /** Messages that were recorded before their run announced them. */
  readonly #recorded = new WeakSet<AgentMessage>();
  #settings: SessionSettings;
  #model: ProviderModel | undefined;
  #thinkingLevel: ThinkingLevel | undefined;
  #active: Active | undefined;

  constructor(parts: AgentSessionParts) {
    this.#parts = parts;
    this.#model = parts.model;
    this.#events = new EventStream(parts.log);
    this.#queues = new MessageQueues(() => this.#announceQueues());
    this.#record = new SessionLog(parts.clock, parts.ids);
    this.#settings = parts.settings ?? defaultSessionSettings;
    this.#thinkingLevel = parts.model && clampLevel(parts.model, parts.thinkingLevel);
    this.#retry = new RetryController({
      clock: parts.clock,
      random: parts.random ?? Math.random,
      settings: () => this.#settings.retry,
      emit: (event) => this.#events.emit(event),
    });
    this.#compaction = this.#createCompaction();
  }

  // Prompting

  /** Resolves when the session has settled again, or at once when the message was queued. */
  async prompt(text: string, options: PromptOptions = {}): Promise<void> {
    const message = this.#userMessage(text, options.images);
    if (this.#active && !this.#active.isClosing) {
      if (!options.streamingBehavior) throw new GalleyError("busy", busyText);
      options.onAccepted?.();
      if (options.streamingBehavior === "steer") this.#queues.steer(message);
      else this.#queues.queueFollowUp(message);
      return;
    }
    const model = this.#usableModel();
    const previous = this.#active?.settled;
    const onAccepted = () => options.onAccepted?.();
    return this.#activate((own) => this.#drive(own, { model, message, previous, onAccepted })).settled;
  }

  steer(text: string, images?: readonly ImageContent[]): void {
    this.#queues.steer(this.#userMessage(text, images));
  }

  followUp(text: string, images?: readonly ImageContent[]): void {
    this.#queues.queueFollowUp(this.#userMessage(text, images));
  }

  /** Stops the run and waits for it. Queued messages stay queued. A success when there is nothing to stop. */
  async abort(): Promise<void> {
    this.#compaction.abort();
    await this.#stopRun();
  }

  /** What an abort may end before its turn comes: a compaction, and the wait before a retry. */
  cancelWaits(): void {
    this.#compaction.abort();
    this.#retry.cancel("abort");
  }

  async #stopRun(): Promise<void> {
    const active = this.#active;
    if (!active) return;
    active.abort.abort();
    // Abortable tools are given up after their grace; only one that must not be cut short can hold the run longer.
    const patience = new AbortController();
    const bound = sleep(this.#parts.clock, abortGraceMs + 250, patience.signal);
    await Promise.race([active.settled, bound]);
    patience.abort();
    await bound.catch(() => {}); // only our own cancelling ends it early
  }

  waitForIdle(): Promise<void> {
    return this.#active?.settled ?? Promise.resolve();
  }

  clearQueue(): { steering: string[]; followUp: string[] } {
    const { steering, followUp } = this.#queues.clear();
    return { steering: steering.map(queuedText), followUp: followUp.map(queuedText) };
  }

  // Events

  /** A subscriber that returns a promise holds the stream, and in the end the model, until it resolves. */
  subscribe(subscriber: Subscriber<AgentSessionEvent>): () => void {
    return this.#events.subscribe(subscriber);
  }

  // State

  get sessionId(): string {
    return this.#parts.sessionId;
  }

  get cwd(): string {
    return this.#parts.cwd;
  }

  get messages(): readonly AgentMessage[] {
    return this.#record.context.messages;
  }

  get model(): ProviderModel | undefined {
    return this.#model;
  }

  get thinkingLevel(): ThinkingLevel | undefined {
    return this.#thinkingLevel;
  }

  get isRetrying(): boolean {
    return this.#retry.isRetrying;
  }

  get isCompacting(): boolean {
    return this.#compaction.isCompacting;
  }

  get autoRetryEnabled(): boolean {
    return this.#settings.retry.enabled;
  }

  get autoCompactionEnabled(): boolean {
    const { enabled, strategy } = this.#settings.compaction;
    return enabled && strategy !== "off";
  }

  /** From the acceptance of a prompt until `agent_settled`. */
  get isStreaming(): boolean {
    return this.#active !== undefined;
  }

  get queuedMessageCount(): number {
    return this.#queues.count;
  }

  get tools(): readonly AnyTool[] {
    return this.#parts.tools.filter((tool) => !tool.hidden);
  }

  get systemPrompt(): string {
    return this.#parts.systemPrompt(this.tools);
  }

  get steeringMode(): QueueMode {
    return this.#queues.steeringMode;
  }

  set steeringMode(mode: QueueMode) {
    this.#queues.steeringMode = mode;
  }

  get followUpMode(): QueueMode {
    return this.#queues.followUpMode;
  }

  set followUpMode(mode: QueueMode) {
    this.#queues.followUpMode = mode;
  }

  get interruptMode(): InterruptMode {
    return this.#queues.interruptMode;
  }

  set interruptMode(mode: InterruptMode) {
    this.#queues.interruptMode = mode;
  }

  /** The text of the last assistant message that is not an empty aborted one, or null. */
  getLastAssistantText(): string | null {
    const last = this.messages.findLast(
      (message) => message.role === "assistant" && !(message.stopReason === "aborted" && message.content.length === 0),
    );
    if (last?.role !== "assistant") return null;
    const text = last.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    return text.trim() || null;
  }

  // Model

  getAvailableModels(): readonly ProviderModel[] {
    return this.#parts.models.available();
  }

  /** Counts from the next run on; a run under way keeps its model. */
  setModel(provider: string, modelId: string): ProviderModel {
    const model = this.#parts.models.find(provider, modelId);
    if (!model) throw new GalleyError("model_not_found", `Model not found: ${provider}/${modelId}`);
    if (!this.#parts.models.hasCredential(model))
      throw new GalleyError("no_credential", `No API key for ${provider}/${modelId}`);
    this.#model = model;
    this.#thinkingLevel = clampLevel(model, this.#thinkingLevel);
    this.#record.append({ type: "model_change", model: `${provider}/${modelId}`, role: "default" });
    return model;
  }

  /** A wish: stored as the nearest level the model has. `undefined` takes an explicit one back. */
  setThinkingLevel(level: ThinkingLevel | undefined): void {
    this.#storeThinkingLevel(this.#model ? clampLevel(this.#model, level) : level);
  }

  /** The new level, or null for a model that cannot think. */
  cycleThinkingLevel(): ThinkingLevel | null {
    const next = this.#model ? nextLevel(this.#model, this.#thinkingLevel) : null;
    if (next !== null) this.#storeThinkingLevel(next);
    return next;
  }

  getAvailableThinkingLevels(): ThinkingLevel[] {
    return this.#model ? availableLevels(this.#model) : ["off"];
  }

  #storeThinkingLevel(level: ThinkingLevel | undefined): void {
    if (level === this.#thinkingLevel) return;
    this.#thinkingLevel = level;
    this.#record.append({ type: "thinking_level_change", thinkingLevel: level ?? null });
  }

  // Context

  /** Undefined without a model; the numbers are null right after a compaction. */
  getContextUsage(): ContextUsage | undefined {
    return this.#model && contextUsage(this.#record.path(), this.#model.contextWindow);
  }

  /** Summarizes what is old. Refuses before it touches anything; a run is stopped first. */
  compact(customInstructions?: string): Promise<CompactionResult> {
    const stopRun = () => this.#stopRun();
    return this.#compaction.compactNow({
      stopRun,
      ...(customInstructions === undefined ? {} : { customInstructions }),
    });
  }

  abortCompaction(): void {
    this.#compaction.abort();
  }

  setAutoCompactionEnabled(enabled: boolean): void {
    const { compaction } = this.#settings;
    const strategy = enabled ? "context-full" : compaction.strategy;
    this.#settings = { ...this.#settings, compaction: { ...compaction, enabled, strategy } };
  }

  /** A retry that already waits is not cancelled by this. */
  setAutoRetryEnabled(enabled: boolean): void {
    this.#settings = { ...this.#settings, retry: { ...this.#settings.retry, enabled } };
  }

  /** Ends the wait before a retry; resolves when the session has settled. A success when none waits. */
  async abortRetry(): Promise<void> {
    if (this.#retry.cancel("abort_retry")) await this.waitForIdle();
  }

  // Tools

  peekQueueInvoker(): Invoker | undefined {
    return this.toolChoiceQueue.peekInvoker();
  }

  /** Makes the next model call use this tool, and the one after it none. */
  setForcedToolChoice(name: string): void {
    if (!this.tools.some((tool) => tool.name === name))
      throw new GalleyError("invalid_argument", `Tool "${name}" is not currently active.`);
    if (!this.#model || this.#model.compat?.supportsToolChoice === false)
      throw new GalleyError("unsupported", "Current model does not support forcing a specific tool.");
    this.toolChoiceQueue.pushSequence([{ type: "tool", name }, "none"], {
      label: "user-force",
      onRejected: (reason) => (reason === "aborted" || reason === "error" ? "requeue" : undefined),
    });
  }

  async dispose(): Promise<void> {
    this.toolChoiceQueue.clear();
    await this.abort();
    await this.#events.drained();
  }

  // Inside

  #usableModel(): ProviderModel {
    const model = this.#model;
    if (!model)
      throw new GalleyError(
        "no_model",
        "No model selected. Choose one with set_model or --model, or add a provider to models.yml in the agent directory.",
      );
    if (!this.#parts.models.hasCredential(model))
      throw new GalleyError(
        "no_credential",
        `No API key found for ${model.provider}. Set its environment variable, pass --api-key, or add apiKey to models.yml in the agent directory.`,
      );
    return model;
  }

  #activate(work: (active: Active) => Promise<void>): Active {
    const abort = new AbortController();
    let settle = () => {};
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const active: Active = { abort, settled, isClosing: false };
    this.#active = active;
    // The work never rejects by contract; if it does, the session still settles and the log tells.
    void work(active)
      .catch((error: unknown) => this.#parts.log.error("a prompt failed unexpectedly", error))
      .then(() => {
        if (this.#active === active) this.#active = undefined;
        this.#events.emit({ type: "agent_settled" });
        return this.#events.drained();
      })
      .then(settle);
    return active;
  }

  async #drive(active: Active, start: PromptStart): Promise<void> {
    const { signal } = active.abort;
    await start.previous; // the last one closes before this one begins
    if (signal.aborted) return;
    this.#compaction.startPrompt();
    this.#recordEarly(start.message);
    await this.#record.sync();
    start.onAccepted();
    await Promise.resolve(); // whoever was told may act on it before the first event
    if (!signal.aborted && this.#compaction.decideThreshold()) await this.#compaction.compactAtThreshold(signal);
    if (signal.aborted) return;
    const reminders = this.#queues.takeNextTurn().map((item) => item.message);
    let prompts: AgentMessage[] | undefined = [start.message, ...reminders];
    while (prompts) {
      let verdict: Verdict = {};
      const decide = (end: RunEnd) => {
        verdict = decideContinuation(this.#continuation, end);
        active.isClosing = !("next" in verdict);
        return announced(verdict);
      };
      const end: RunEnd = await runPrompt(this.#runParts(active, start.model, decide), prompts);
      await this.#events.drained();
      prompts = await carryOut(this.#continuation, { verdict, end, signal });
    }
  }

  /** A prompt is on record when it is accepted, before its run announces it. */
  #recordEarly(message: AgentMessage): void {
    this.#record.append({ type: "message", message });
    this.#recorded.add(message);
  }

  get #continuation(): ContinuationParts {
    return {
      retry: this.#retry,
      compaction: this.#compaction,
      queues: this.#queues,
      record: this.#record,
      settings: () => this.#settings,
      now: () => this.#parts.clock.now(),
    };
  }

  #runParts(active: Active, model: ProviderModel, decideEnd: RunParts["decideEnd"]): RunParts {
    const { clock, log, stream, cwd, hooks = {} } = this.#parts;
    return {
      events: this.#events,
      queues: this.#queues,
      toolChoice: this.toolChoiceQueue,
      signal: active.abort.signal,
      clock,
      log,
      model,
      stream: tellLongWaits(stream, () => this.#settings.retry),
      hooks,
      toolContext: { cwd },
      streamOptions: () => this.#streamOptions(model),
      systemPrompt: () => this.systemPrompt,
      tools: () => this.tools,
      modelMessages: () => this.#modelMessages.of(this.#record.context),
      append: (message) => {
        if (!this.#recorded.has(message)) this.#record.append({ type: "message", message });
      },
      replied: ({ stopReason }) => {
        if (stopReason !== "error" && stopReason !== "aborted") this.#retry.onSuccess();
      },
      decideEnd,
    };
  }

  async #streamOptions(model: ProviderModel) {
    const { models } = this.#parts;
    const level = clampLevel(model, this.#thinkingLevel);
    const [apiKey, headers] = await Promise.all([models.apiKeyFor(model), models.headersFor(model)]);
    return {
      ...(apiKey === undefined ? {} : { apiKey }),
      headers,
      ...(level && level !== "off" ? { reasoning: level } : {}),
      sessionId: this.sessionId,
    };
  }

  #createCompaction(): CompactionController {
    const { clock, stream, random = Math.random } = this.#parts;
    return new CompactionController({
      clock,
      random,
      stream,
      settings: () => this.#settings.compaction,
      retrySettings: () => this.#settings.retry,
      emit: (event) => this.#events.emit(event),
      path: () => this.#record.path(),
      model: () => this.#model,
      summarizers: () => this.#summarizers(),
      overheadTokens: () => Math.ceil((this.systemPrompt.length + JSON.stringify(this.tools).length) / 4),
      appendCompaction: (result) => void this.#record.append({ type: "compaction", ...result }),
      appendPrune: (entryIds) => void this.#record.append({ type: "prune", entryIds }),
      appendUsage: (usage) =>
        void this.#record.append({ type: "custom", customType: billedUsageType, data: { usage } }),
    });
  }

  /** The session's own model first, then the one that can take in most. */
  #summarizers(): Summarizer[] {
    const own = this.#model && this.#parts.models.hasCredential(this.#model) ? [this.#model] : [];
    const others = this.#parts.models
      .available()
      .filter((model) => model !== this.#model)
      .toSorted((a, b) => b.contextWindow - a.contextWindow);
    return [...own, ...others].map((model) => ({ model, options: () => this.#streamOptions(model) }));
  }

  #userMessage(text: string, images: readonly ImageContent[] = []): UserMessage {
    const timestamp = this.#parts.clock.now();
    return { role: "user", content: [{ type: "text", text }, ...images], attribution: "user", timestamp };
  }

  #announceQueues(): void {
    const { steering, followUp } = this.#queues.view();
    const texts = (items: readonly { message: AgentMessage }[]) =>
      items.filter(({ message }) => message.role === "user").map(queuedText);
    this.#events.emit({
      type: "queue_update",
      get steering() {
        return texts(steering());
      },
      get followUp() {
        return texts(followUp());
      },
    });
  }
}

function queuedText({ message }: { message: AgentMessage }): string {
  if (!("content" in message)) return "";
  if (typeof message.content === "string") return message.content;
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
