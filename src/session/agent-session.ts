// One conversation and the agent that leads it. A short class: it owns the parts and hands each call to the one that
// knows. Safe to call at any moment; every prompt ends in `agent_settled`, whatever happened to it.

import type { Clock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import type { Log } from "../base/log.js";
import { EventStream, type Subscriber } from "../loop/event-stream.js";
import { type InterruptMode, MessageQueues, type QueueMode } from "../loop/message-queues.js";
import type { RunParts, ToolHooks } from "../loop/run.js";
import { type Invoker, ToolChoiceQueue } from "../loop/tool-choice-queue.js";
import type { ImageContent } from "../protocol/content.js";
import type { ContextUsage, SessionStats } from "../protocol/data.js";
import type { AgentSessionEvent, CompactionResult } from "../protocol/events.js";
import type { AgentMessage, UserMessage } from "../protocol/messages.js";
import type { ThinkingLevel } from "../protocol/model.js";
import type { TodoPhase, TodoPhaseInput } from "../protocol/todos.js";
import type { ProviderModel, StreamFunction } from "../provider/provider.js";
import type { AnyTool } from "../tools/tool.js";
import { billedUsageType } from "./billing.js";
import { CompactionController } from "./compaction/compaction-controller.js";
import { contextUsage } from "./context-usage.js";
import type { ContinuationParts } from "./continuation.js";
import { type BranchPoint, userText } from "./entry-tree.js";
import { ModelControl } from "./model-control.js";
import { ModelMessages } from "./model-messages.js";
import type { ModelSource } from "./model-source.js";
import { busyText, PromptDriver } from "./prompt-driver.js";
import { failureText, RetryController } from "./retry.js";
import type { SessionManager } from "./session-manager.js";
import type { SessionRecords } from "./session-record.js";
import { defaultSessionSettings, type SessionSettings } from "./session-settings.js";
import { sessionStats } from "./session-stats.js";
import { resolveImages } from "./store-blobs.js";
import { TodoTracker } from "./todos/todo-tracker.js";
import type { StreamRule } from "./ttsr/rule.js";
import { TtsrController } from "./ttsr/ttsr-controller.js";

export interface AgentSessionParts {
  readonly cwd: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The record to begin with, and how to get another one. */
  readonly record: SessionManager;
  readonly records: SessionRecords;
  readonly models: ModelSource;
  readonly stream: StreamFunction;
  /** Made for the session: some tools work on what it holds. */
  createTools(own: { todos: TodoTracker }): readonly AnyTool[];
  readonly hooks?: ToolHooks;
  /** Built anew when the active tools change. */
  systemPrompt(tools: readonly AnyTool[]): string;
  readonly model?: ProviderModel | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  readonly settings?: SessionSettings;
  /** The stream rules, asked for with the first prompt. */
  loadRules?(): Promise<readonly StreamRule[]>;
  /** For the jitter of retries; default Math.random. */
  readonly random?: () => number;
}

export interface PromptOptions {
  images?: readonly ImageContent[];
  /** What to do when a run is active; without it such a prompt is refused. */
  streamingBehavior?: "steer" | "followUp";
  /** Called once the prompt is accepted and on record, before the first event it causes. */
  onAccepted?: () => void;
}

export class AgentSession {
  readonly toolChoiceQueue = new ToolChoiceQueue();
  readonly #parts: AgentSessionParts;
  readonly #events: EventStream<AgentSessionEvent>;
  readonly #queues: MessageQueues;
  readonly #models: ModelControl;
  readonly #retry: RetryController;
  readonly #compaction: CompactionController;
  readonly #driver: PromptDriver;
  readonly #todos: TodoTracker;
  readonly #tools: readonly AnyTool[];
  #wasForced = false;
  #record: SessionManager;
  #modelMessages = new ModelMessages();
  #retryAborted = Promise.resolve();
  #ttsr: TtsrController | undefined;
  #settings: SessionSettings;

  constructor(parts: AgentSessionParts) {
    this.#parts = parts;
    this.#record = parts.record;
    this.#settings = parts.settings ?? defaultSessionSettings;
    this.#events = new EventStream(parts.log);
    this.#queues = new MessageQueues(() => this.#announceQueues());
    this.#queues.steeringMode = this.#settings.steeringMode;
    this.#queues.followUpMode = this.#settings.followUpMode;
    this.#queues.interruptMode = this.#settings.interruptMode;
    this.#models = new ModelControl({
      models: parts.models,
      model: parts.model,
      thinkingLevel: parts.thinkingLevel,
      record: () => this.#record,
      sessionId: () => this.sessionId,
    });
    const emit = (event: AgentSessionEvent) => this.#events.emit(event);
    const random = parts.random ?? Math.random;
    this.#retry = new RetryController({ clock: parts.clock, random, settings: () => this.#settings.retry, emit });
    this.#compaction = this.#createCompaction(random, emit);
    this.#todos = new TodoTracker({ clock: parts.clock, emit, settings: () => this.#settings.todos });
    this.#todos.restore(this.#record.tree.pathTo());
    this.#tools = parts.createTools({ todos: this.#todos });
    this.#driver = new PromptDriver({
      clock: parts.clock,
      log: parts.log,
      events: this.#events,
      queues: this.#queues,
      record: () => this.#record,
      continuation: () => this.#continuation(),
      prepare: () => this.#prepare(),
      runParts: (model) => this.#runParts(model),
    });
  }

  // Prompting

  /** Resolves when the session has settled again, or at once when the message was queued. */
  async prompt(text: string, options: PromptOptions = {}): Promise<void> {
    const { images, streamingBehavior } = options;
    const message = this.#userMessage(text, images);
    const onAccepted = () => options.onAccepted?.();
    if (!this.#driver.isBusy) return this.#driver.start({ model: this.#models.usable(), message, onAccepted });
    if (!streamingBehavior) throw new GalleyError("busy", busyText);
    onAccepted();
    if (streamingBehavior === "steer") this.#queues.steer(message);
    else this.#queues.queueFollowUp(message);
  }

  steer(text: string, images?: readonly ImageContent[]): void {
    this.#queues.steer(this.#userMessage(text, images));
  }

  followUp(text: string, images?: readonly ImageContent[]): void {
    this.#queues.queueFollowUp(this.#userMessage(text, images));
  }

  /** Stops the run and any compaction, and waits for it. Queued messages stay queued. */
  async abort(): Promise<void> {
    this.#compaction.abort();
    await this.#driver.stop();
  }

  /** What an abort may end before its turn comes: a compaction, and the wait before a retry. */
  cancelWaits(): void {
    this.#compaction.abort();
    this.#retry.cancel("abort");
  }

  waitForIdle(): Promise<void> {
    return this.#driver.waitForIdle();
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
    return this.#record.sessionId;
  }

  /** Where the record is, or will be; undefined for one in memory. */
  get sessionFile(): string | undefined {
    return this.#record.sessionFile;
  }

  get sessionName(): string | undefined {
    return this.#record.tree.name;
  }

  /** Why entries are not safe on the disk at the moment. */
  get persistError(): string | undefined {
    return this.#record.persistError;
  }

  get cwd(): string {
    return this.#parts.cwd;
  }

  get messages(): readonly AgentMessage[] {
    return this.#record.context.messages;
  }

  get isStreaming(): boolean {
    return this.#driver.isStreaming;
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

  get queuedMessageCount(): number {
    return this.#queues.count;
  }

  get tools(): readonly AnyTool[] {
    return this.#tools.filter((tool) => !tool.hidden);
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

  get model(): ProviderModel | undefined {
    return this.#models.model;
  }

  get thinkingLevel(): ThinkingLevel | undefined {
    return this.#models.thinkingLevel;
  }

  getAvailableModels(): readonly ProviderModel[] {
    return this.#models.available();
  }

  /** Counts from the next run on; a run under way keeps its model. */
  setModel(provider: string, modelId: string): ProviderModel {
    return this.#models.set(provider, modelId);
  }

  setThinkingLevel(level: ThinkingLevel | undefined): void {
    this.#models.setThinkingLevel(level);
  }

  cycleThinkingLevel(): ThinkingLevel | null {
    return this.#models.cycleThinkingLevel();
  }

  getAvailableThinkingLevels(): ThinkingLevel[] {
    return this.#models.levels();
  }

  // Context

  /** Undefined without a model; the numbers are null right after a compaction. */
  getContextUsage(): ContextUsage | undefined {
    return this.model && contextUsage(this.#record.tree.pathTo(), this.model.contextWindow);
  }

  /** Summarizes what is old. Refuses before it touches anything; a run is stopped first. */
  compact(customInstructions?: string): Promise<CompactionResult> {
    const stopRun = () => this.#driver.stop();
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
  abortRetry(): Promise<void> {
    // Asked again while the first request closes the session, it waits for the same end.
    if (this.#retry.cancel("abort_retry")) this.#retryAborted = this.waitForIdle();
    return this.#retryAborted;
  }

  getSessionStats(): SessionStats {
    const { sessionId, sessionFile, messages } = this;
    const { entries } = this.#record.tree;
    return sessionStats({ sessionId, sessionFile, entries, messages, contextUsage: this.getContextUsage() });
  }

  // Sessions

  /** An empty record; model, thinking level and modes stay. The old one keeps what it has. */
  async newSession(options: { parentSession?: string } = {}): Promise<void> {
    await this.#change(async () => this.#parts.records.create(options));
    this.#models.record();
  }

  /** Reads and checks the file first: when that fails, the session at hand goes on as if nothing had been asked. */
  async switchSession(path: string): Promise<void> {
    const record = await this.#parts.records.open(path);
    await this.#change(async () => record);
    const problem = this.restoreModel();
    if (problem !== undefined) this.#parts.log.warn(problem);
  }

  /** Takes the model and the thinking level that the record was left with; says so when the model cannot be had. */
  restoreModel(): string | undefined {
    const lost = this.#models.restore();
    return lost === undefined ? undefined : `Could not restore model ${lost}. Using ${nameOf(this.model)}`;
  }

  /** A new record with what came before a user message, whose text is returned. */
  async branch(entryId: string): Promise<{ text: string }> {
    const target = this.getUserMessagesForBranching().find((point) => point.entryId === entryId);
    if (!target) throw new GalleyError("invalid_argument", "Invalid entry ID for branching");
    await this.#change(async (old) => (await old.branchTo(entryId)).session);
    return { text: target.text };
  }

  /** A full copy under a new id; false for a session that is in memory only. */
  async fork(): Promise<boolean> {
    const { sessionFile } = this;
    if (sessionFile === undefined) return false;
    await this.#change(async (old) => {
      await old.flush();
      return this.#parts.records.fork(sessionFile);
    });
    return true;
  }

  /**
   * Goes to another place of the same record. At a message of the user's the leaf is put before it, and its text is
   * returned to be edited; what was said after the place stays in the record as a branch.
   */
  async navigateTree(entryId: string): Promise<{ editorText?: string }> {
    const entry = this.#record.tree.get(entryId);
    if (!entry) throw new GalleyError("not_found", `Entry ${entryId} not found`);
    await this.abort();
    const editorText = userText(entry);
    this.#record.moveLeaf(editorText === undefined && entry.type !== "custom_message" ? entryId : entry.parentId);
    this.#restoreBehaviour();
    return editorText === undefined ? {} : { editorText };
  }

  /** Without a label the one there is goes. */
  setLabel(entryId: string, label?: string): void {
    this.#record.setLabel(entryId, label);
  }

  getUserMessagesForBranching(): BranchPoint[] {
    return this.#record.tree.userMessages();
  }

  setSessionName(name: string): void {
    this.#record.setName(name);
  }

  // Todos

  getTodoPhases(): TodoPhase[] {
    return this.#todos.get();
  }

  /** In memory only: a host seeds a plan, the model's own list is kept by its tool results. */
  setTodoPhases(phases: readonly TodoPhaseInput[]): TodoPhase[] {
    return this.#todos.set(phases);
  }

  // Tools

  peekQueueInvoker(): Invoker | undefined {
    return this.toolChoiceQueue.peekInvoker();
  }

  /** Makes the next model call use this tool, and the one after it none. */
  setForcedToolChoice(name: string): void {
    if (!this.tools.some((tool) => tool.name === name))
      throw new GalleyError("invalid_argument", `Tool "${name}" is not currently active.`);
    if (!this.model || this.model.compat?.supportsToolChoice === false)
      throw new GalleyError("unsupported", "Current model does not support forcing a specific tool.");
    this.toolChoiceQueue.pushSequence([{ type: "tool", name }, "none"], {
      label: "user-force",
      onResolved: () => {
        this.#wasForced = true;
      },
      onRejected: (reason) => (reason === "aborted" || reason === "error" ? "requeue" : undefined),
    });
  }

  async dispose(): Promise<void> {
    this.toolChoiceQueue.clear();
    await this.abort();
    await this.#events.drained();
    this.#todos.dispose();
    await this.#record.close();
  }

  // Inside

  /** The closing events of a run come first; then the old record is left for another. */
  async #change(open: (old: SessionManager) => Promise<SessionManager>): Promise<void> {
    await this.abort();
    const old = this.#record;
    this.#record = await open(old);
    this.#modelMessages = new ModelMessages();
    this.#queues.clear();
    this.toolChoiceQueue.clear();
    this.#restoreBehaviour();
    await old.close();
  }

  /** The record stands somewhere else now. */
  #restoreBehaviour(): void {
    const path = this.#record.tree.pathTo();
    this.#ttsr?.restore(path);
    this.#todos.restore(path);
  }

  #runParts(model: ProviderModel): Omit<RunParts, "signal" | "append" | "replied" | "decideEnd"> {
    const { clock, log, stream, cwd, hooks = {} } = this.#parts;
    return {
      events: this.#events,
      queues: this.#queues,
      toolChoice: this.toolChoiceQueue,
      clock,
      log,
      model,
      stream,
      failureText: (event) => failureText(event, this.#settings.retry),
      hooks,
      toolContext: { cwd },
      streamOptions: () => this.#models.streamOptions(model),
      systemPrompt: () => this.systemPrompt,
      tools: () => this.tools,
      modelMessages: () => this.#modelMessages.of(this.#record.context),
    };
  }

  async #prepare(): Promise<void> {
    this.#wasForced = false;
    this.#todos.promptStart();
    const { context, blobs } = this.#record;
    await this.#modelMessages.loadImages(context, (message) => resolveImages(message, blobs));
    const { cwd, log, loadRules } = this.#parts;
    if (!this.#ttsr && loadRules) {
      this.#ttsr = new TtsrController({ rules: await loadRules(), cwd, log, settings: () => this.#settings.ttsr });
      this.#ttsr.restore(this.#record.tree.pathTo());
    }
    this.#ttsr?.promptStart();
  }

  #continuation(): ContinuationParts {
    return {
      ttsr: this.#ttsr,
      todos: this.#todos,
      isUserForced: () => this.#wasForced,
      emit: (event) => this.#events.emit(event),
      retry: this.#retry,
      compaction: this.#compaction,
      queues: this.#queues,
      record: this.#record,
      settings: () => this.#settings,
      now: () => this.#parts.clock.now(),
    };
  }

  #createCompaction(random: () => number, emit: (event: AgentSessionEvent) => void): CompactionController {
    const { clock, stream } = this.#parts;
    return new CompactionController({
      clock,
      random,
      stream,
      emit,
      settings: () => this.#settings.compaction,
      retrySettings: () => this.#settings.retry,
      path: () => this.#record.tree.pathTo(),
      model: () => this.model,
      summarizers: () => this.#models.summarizers(),
      overheadTokens: () => Math.ceil((this.systemPrompt.length + JSON.stringify(this.tools).length) / 4),
      appendCompaction: (result) => void this.#record.append({ type: "compaction", ...result }),
      appendPrune: (entryIds) => void this.#record.append({ type: "prune", entryIds }),
      appendUsage: (usage) =>
        void this.#record.append({ type: "custom", customType: billedUsageType, data: { usage } }),
    });
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

function nameOf(model: ProviderModel | undefined): string {
  return model ? `${model.provider}/${model.id}` : "none";
}
