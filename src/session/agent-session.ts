// One conversation and the agent that leads it, as programs see it. A short class: every call goes to the part that
// knows. Safe to call at any moment; every prompt ends in `agent_settled`, whatever happened to it.

import { GalleyError } from "../base/errors.js";
import type { LockKind } from "../base/path-lock.js";
import type { Subscriber } from "../loop/event-stream.js";
import type { InterruptMode, QueueMode } from "../loop/message-queues.js";
import type { Invoker, ToolChoiceQueue } from "../loop/tool-choice-queue.js";
import type { ChangeListOptions, ChangeOwnership, Undone, UndoRequest } from "../pending/change-history.js";
import { decidePending, type PendingDecision } from "../pending/decide-pending.js";
import type { StandingHandler } from "../pending/standing-handler.js";
import { type PendingViewOptions, viewPending } from "../pending/view-pending.js";
import type { NewAction } from "../preview/pending-action-store.js";
import type { ImageContent, InputContent } from "../protocol/content.js";
import type { BashResult, ContextUsage, ResolveDetails, SessionStats, SlashCommand } from "../protocol/data.js";
import type { SessionEntry } from "../protocol/entries.js";
import type { AgentSessionEvent, CompactionResult } from "../protocol/events.js";
import type { AgentMessage } from "../protocol/messages.js";
import type { ThinkingLevel } from "../protocol/model.js";
import type { Change, PendingAction, PendingActionView } from "../protocol/pending.js";
import type { TodoPhase, TodoPhaseInput } from "../protocol/todos.js";
import type { ProviderModel } from "../provider/provider.js";
import type { BranchPoint } from "../record/entry-tree.js";
import type { PageSource } from "../record/page-source.js";
import type { SessionManager } from "../record/record.js";
import { sessionStats } from "../record/session-stats.js";
import { resolveAllImages, resolveEntryImages } from "../record/store/blobs.js";
import type { AnyTool } from "../tools/tool.js";
import { type AddedTool, namesOf } from "./active-tools.js";
import { contextUsage } from "./context-usage.js";
import type { CycledModel } from "./models/model-control.js";
import {
  followUp,
  type PromptOptions,
  prompt,
  type QueueOptions,
  type SendCustomOptions,
  sendCustomMessage,
  steer,
} from "./prompt.js";
import type { PromptOutcome } from "./prompt-outcome.js";
import { type AgentSessionParts, SessionCore } from "./session-core.js";
import type { GuestReport } from "./session-extensions.js";
import { type CustomMessageInput, partsOf, plainText } from "./session-messages.js";
import * as operations from "./session-operations.js";

export type { AgentSessionParts, CustomMessageInput, PromptOptions, SendCustomOptions };

export class AgentSession {
  readonly #core: SessionCore;
  #retryAborted = Promise.resolve();

  constructor(parts: AgentSessionParts) {
    this.#core = new SessionCore(parts);
  }

  // Prompting

  /** Resolves when the session has settled again, or at once when the message was queued. */
  prompt(text: string, options: PromptOptions = {}): Promise<void> {
    return prompt(this.#core, text, options);
  }

  /** Waits for the next model call; without a run for the next prompt, unless it may start one. */
  steer(text: string, images?: readonly ImageContent[], options: QueueOptions = {}): Promise<void> {
    return steer(this.#core, text, { ...options, ...(images ? { images } : {}) });
  }

  /** Waits for the end of the run; without one for the next prompt, unless it may start one. */
  followUp(text: string, images?: readonly ImageContent[], options: QueueOptions = {}): Promise<void> {
    return followUp(this.#core, text, { ...options, ...(images ? { images } : {}) });
  }

  /** A prompt as it stands when idle; while a run is active `deliverAs` says where it waits, or it is refused. */
  sendUserMessage(
    content: string | readonly InputContent[],
    { deliverAs }: { deliverAs?: "steer" | "followUp" } = {},
  ): Promise<void> {
    const { text, images } = partsOf(content);
    const asSaid = { images, expandPromptTemplates: false };
    return this.prompt(text, { ...asSaid, ...(deliverAs ? { streamingBehavior: deliverAs } : {}) });
  }

  sendCustomMessage(message: CustomMessageInput, options: SendCustomOptions = {}): Promise<void> {
    return sendCustomMessage(this.#core, message, options);
  }

  /** Stops the run and any summary that is being written, and waits for both. Queued messages stay queued. */
  abort(): Promise<void> {
    return this.#core.abort();
  }

  /** What an abort may end before its turn comes: a compaction, the wait before a retry, and that for modules of others. */
  cancelWaits(): void {
    void this.#core.hearing.giveUp(); // never rejects; the abort itself waits for it
    this.#core.questions.drop();
    this.#core.driver.giveUp();
    this.#core.compaction.abort();
    this.#core.retry.cancel("abort");
  }

  /** Nothing runs, and no prompt is on its way: none either that an extension sent meanwhile. */
  async waitForIdle(): Promise<void> {
    const { driver, hearing } = this.#core;
    while (driver.isStreaming || hearing.isOpen) {
      await (driver.isStreaming ? driver.waitForIdle() : hearing.whenOver());
      if (driver.isEnding) return; // nothing runs any more, whatever is still sent
    }
  }

  clearQueue(): { steering: string[]; followUp: string[] } {
    const { steering, followUp } = this.#core.queues.clear();
    const texts = (items: readonly { message: AgentMessage }[]) => items.map(({ message }) => plainText(message));
    return { steering: texts(steering), followUp: texts(followUp) };
  }

  // Events

  /** A subscriber that returns a promise holds the stream, and in the end the model, until it resolves. */
  subscribe(subscriber: Subscriber<AgentSessionEvent>): () => void {
    return this.#core.listen(subscriber);
  }

  /** The same for modules of others: what is kept for a host still waits for it. */
  observe(subscriber: Subscriber<AgentSessionEvent>): () => void {
    return this.#core.events.subscribe(subscriber);
  }

  // State

  get sessionId(): string {
    return this.#core.record.sessionId;
  }

  /** Where the record is, or will be; undefined for one in memory. */
  get sessionFile(): string | undefined {
    return this.#core.record.sessionFile;
  }

  get sessionName(): string | undefined {
    return this.#core.record.tree.name;
  }

  /** Why entries are not safe on the disk at the moment. */
  get persistError(): string | undefined {
    const { record, pending } = this.#core;
    return record.persistError ?? pending.persistError;
  }

  /** What keeps other programs from writing the session file; undefined for a session in memory. */
  get lockKind(): LockKind | undefined {
    const { record } = this.#core;
    return record.sessionFile === undefined ? undefined : record.lockKind;
  }

  /** Why the file is only read: another program has it, or a later version wrote it. */
  get readOnlyReason(): string | undefined {
    return this.#core.record.readOnlyReason;
  }

  get cwd(): string {
    return this.#core.parts.cwd;
  }

  get messages(): readonly AgentMessage[] {
    return this.#core.record.context.messages;
  }

  /** For whoever cannot look into the files: images that the record only names are filled in. */
  withImages(messages: readonly AgentMessage[]): Promise<AgentMessage[]> {
    return resolveAllImages(messages, this.#core.record.blobs);
  }

  entriesWithImages(entries: readonly SessionEntry[]): Promise<SessionEntry[]> {
    return resolveEntryImages(entries, this.#core.record.blobs);
  }

  /** The record at this moment; after a switch it is another one. */
  get sessionManager(): SessionManager {
    return this.#core.record;
  }

  /** Fires when the run under way is to stop. */
  get signal(): AbortSignal | undefined {
    return this.#core.driver.signal;
  }

  /** Fires when what a person is being asked about a file is no longer wanted. */
  get questionSignal(): AbortSignal | undefined {
    return this.#core.questionSignal;
  }

  get isStreaming(): boolean {
    return this.#core.driver.isStreaming;
  }

  get isRetrying(): boolean {
    return this.#core.retry.isRetrying;
  }

  get isCompacting(): boolean {
    return this.#core.compaction.isCompacting;
  }

  get autoRetryEnabled(): boolean {
    return this.#core.settings.retry.enabled;
  }

  get autoCompactionEnabled(): boolean {
    const { enabled, strategy } = this.#core.settings.compaction;
    return enabled && strategy !== "off";
  }

  get queuedMessageCount(): number {
    return this.#core.queues.count;
  }

  /** The messages that wait, steering first. */
  get queuedMessages(): AgentMessage[] {
    const { steering, followUp } = this.#core.queues.view();
    return [...steering(), ...followUp()].map(({ message }) => message);
  }

  /** How many prompts have begun: each has its one `agent_settled`, in this order. */
  get begunCount(): number {
    return this.#core.driver.begun;
  }

  /** How the last run ended; when `agent_settled` comes, how the whole work did. */
  get lastOutcome(): PromptOutcome {
    return this.#core.driver.lastOutcome;
  }

  /** Policy stopped the last tool call of the last prompt. */
  get wasDenied(): boolean {
    return this.#core.driver.wasDenied;
  }

  /** Those that the model is offered. */
  get tools(): readonly AnyTool[] {
    return this.#core.tools.active;
  }

  get systemPrompt(): string {
    return this.#core.systemPrompt;
  }

  /** What an agent is, at one moment. */
  get state(): AgentState {
    const { systemPrompt, model, thinkingLevel, tools, messages, isStreaming } = this;
    return { systemPrompt, model, thinkingLevel, tools, messages, isStreaming };
  }

  get steeringMode(): QueueMode {
    return this.#core.queues.steeringMode;
  }

  set steeringMode(mode: QueueMode) {
    this.#core.queues.steeringMode = mode;
  }

  get followUpMode(): QueueMode {
    return this.#core.queues.followUpMode;
  }

  set followUpMode(mode: QueueMode) {
    this.#core.queues.followUpMode = mode;
  }

  get interruptMode(): InterruptMode {
    return this.#core.queues.interruptMode;
  }

  set interruptMode(mode: InterruptMode) {
    this.#core.queues.interruptMode = mode;
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
    return this.#core.models.model;
  }

  get thinkingLevel(): ThinkingLevel | undefined {
    return this.#core.models.thinkingLevel;
  }

  getAvailableModels(): readonly ProviderModel[] {
    return this.#core.models.available();
  }

  /** Counts from the next run on; a run under way keeps its model. */
  setModel(provider: string, modelId: string): ProviderModel {
    return this.#core.models.set(provider, modelId);
  }

  /** The next model of the scope, or of all that are available; null when there is no other. */
  cycleModel(): CycledModel | null {
    return this.#core.models.cycle();
  }

  setThinkingLevel(level: ThinkingLevel | undefined): void {
    this.#core.models.setThinkingLevel(level);
  }

  cycleThinkingLevel(): ThinkingLevel | null {
    return this.#core.models.cycleThinkingLevel();
  }

  getAvailableThinkingLevels(): ThinkingLevel[] {
    return this.#core.models.levels();
  }

  // Context

  /** Undefined without a model; the numbers are null right after a compaction. */
  getContextUsage(): ContextUsage | undefined {
    return this.model && contextUsage(this.#core.record.context.path, this.model.contextWindow);
  }

  /** Summarizes what is old. Refuses before it touches anything; a run is stopped first. */
  compact(customInstructions?: string): Promise<CompactionResult> {
    const stopRun = () => this.#core.driver.stop();
    return this.#core.compaction.compactNow({
      stopRun,
      ...(customInstructions === undefined ? {} : { customInstructions }),
    });
  }

  abortCompaction(): void {
    this.#core.compaction.abort();
  }

  setAutoCompactionEnabled(enabled: boolean): void {
    const { settings } = this.#core;
    const strategy = enabled ? "context-full" : settings.compaction.strategy;
    this.#core.settings = { ...settings, compaction: { ...settings.compaction, enabled, strategy } };
  }

  /** A retry that already waits is not cancelled by this. */
  setAutoRetryEnabled(enabled: boolean): void {
    const { settings } = this.#core;
    this.#core.settings = { ...settings, retry: { ...settings.retry, enabled } };
  }

  /** Ends the wait before a retry; resolves when the session has settled. A success when none waits. */
  abortRetry(): Promise<void> {
    // Asked again while the first request closes the session, it waits for the same end.
    if (this.#core.retry.cancel("abort_retry")) this.#retryAborted = this.#core.driver.waitForIdle();
    return this.#retryAborted;
  }

  getSessionStats(): SessionStats {
    const { sessionId, sessionFile, messages } = this;
    const { entries } = this.#core.record.tree;
    return sessionStats({ sessionId, sessionFile, entries, messages, contextUsage: this.getContextUsage() });
  }

  // Sessions

  /** An empty record; model, thinking level and modes stay. The old one keeps what it has. False: it was prevented. */
  newSession(options: { parentSession?: string } = {}): Promise<boolean> {
    return operations.newSession(this.#core, options);
  }

  /** Reads and checks the file first: when that fails, the session at hand goes on as if nothing had been asked. */
  switchSession(path: string): Promise<boolean> {
    return operations.switchSession(this.#core, path);
  }

  /** Takes the model and the level that the record was left with, or `level`; says so when the model cannot be had. */
  restoreModel(level?: ThinkingLevel): string | undefined {
    return this.#core.models.restore(level);
  }

  /** A new record with what came before a user message, whose text is returned. */
  branch(entryId: string): Promise<{ text: string; cancelled: boolean }> {
    return operations.branch(this.#core, entryId);
  }

  /** A full copy under a new id; false for a session that is in memory only, or where it was prevented. */
  fork(): Promise<boolean> {
    return operations.fork(this.#core);
  }

  /** Goes on in a full copy, which an extension may prevent: then false. */
  clone(): Promise<boolean> {
    return operations.clone(this.#core);
  }

  /** Another place of the same record, with notes on what is left behind if they are wanted. */
  navigateTree(entryId: string, options: operations.NavigateOptions = {}): Promise<operations.Navigated> {
    return operations.navigateTree(this.#core, entryId, options);
  }

  /** Without a label the one there is goes. */
  setLabel(entryId: string, label?: string): void {
    this.#core.record.setLabel(entryId, label);
  }

  getUserMessagesForBranching(): BranchPoint[] {
    return this.#core.record.tree.userMessages();
  }

  setSessionName(name: string): void {
    this.#core.record.setName(name);
  }

  /** For a page of it. */
  get exportSource(): PageSource {
    const { header, tree, blobs } = this.#core.record;
    const { systemPrompt, tools } = this;
    return { header, tree, blobs, live: { systemPrompt, tools } };
  }

  /**
   * Makes one HTML page of the session, which must be kept in a file, and answers its absolute path. Without a path it has
   * a name of its own and lies in the working directory. Throws where a tool could not write either.
   */
  async exportToHtml(outputPath?: string): Promise<string> {
    const { sessionId, sessionFile } = this;
    if (sessionFile === undefined) throw new GalleyError("unsupported", "Cannot export in-memory session to HTML");
    return this.#core.parts.exportPage({ ...this.exportSource, sessionId, sessionFile }, outputPath);
  }

  // Pending actions

  /** What waits for a decision, the next one first. Plans carry per-file figures, and their diffs if asked for. */
  async getPendingActions(options: PendingViewOptions = {}): Promise<PendingActionView[]> {
    await this.#core.restored.done;
    return viewPending(this.#core.pending.store, options);
  }

  /** At this moment, the next one first. */
  get pendingActions(): readonly Readonly<PendingAction>[] {
    return this.#core.pending.store.list().map(({ action }) => action);
  }

  /** Until the number is known of a session that was resumed or switched to; undefined at any other time. */
  get findingPending(): Promise<void> | undefined {
    return this.#core.restored.finding;
  }

  get pendingActionCount(): number {
    return this.#core.pending.store.size;
  }

  /** A host's or a person's decision; the model is told with its next request. What cannot be done is thrown. */
  async resolvePendingAction(request: PendingDecision): Promise<{ details: ResolveDetails; text: string }> {
    await this.#core.restored.done;
    return decidePending(this.#core.pending, request);
  }

  /** For tools of other people: at once in the store, on record soon after. Answers its id. */
  stagePendingAction(action: NewAction): string {
    return this.#core.pending.store.push(action);
  }

  /** For an action that is staged later, under this id. */
  nextPendingId(): string {
    return this.#core.pending.store.nextId();
  }

  /** A place for long-lived approval flows: asked when nothing is pending, never forced, never used up. */
  setStandingResolveHandler(handler: StandingHandler | undefined): void {
    this.#core.pending.setStandingHandler(handler);
  }

  /** Stages the opposite of a change that was applied; with `apply` it is decided at once. */
  undo(request: UndoRequest = {}): Promise<Undone> {
    return this.#core.restored.done.then(() => this.#core.changes.undo(request));
  }

  redo(request: Omit<UndoRequest, "changeId"> = {}): Promise<Undone> {
    return this.#core.restored.done.then(() => this.#core.changes.redo(request));
  }

  getChanges(options: ChangeListOptions = {}): Promise<Change[]> {
    return this.#core.changes.list(options);
  }

  /** Whose the changes in this project are, the newest first. */
  getChangeOwners(): Promise<ChangeOwnership[]> {
    return this.#core.changes.owners();
  }

  // The user's own commands

  /** Runs beside the agent; its result becomes part of the conversation, after the run if one is active. */
  executeBash(
    command: string,
    onChunk?: (text: string) => void,
    options: { excludeFromContext?: boolean } = {},
  ): Promise<BashResult> {
    return this.#core.bash.execute(command, onChunk, options);
  }

  /** Ends what runs now; a success when nothing does. */
  abortBash(): void {
    this.#core.bash.abort();
  }

  get isBashRunning(): boolean {
    return this.#core.bash.isRunning;
  }

  // Todos

  getTodoPhases(): TodoPhase[] {
    return this.#core.todos.get();
  }

  /** In memory only: a host seeds a plan, the model's own list is kept by its tool results. */
  setTodoPhases(phases: readonly TodoPhaseInput[]): TodoPhase[] {
    return this.#core.todos.set(phases);
  }

  // Modules of others

  /** Custom tools and extensions are loaded, templates and skills are read. Never rejects: what cannot be loaded is reported. */
  async whenLoaded(): Promise<void> {
    await this.#core.parts.guests?.loaded();
    await this.#core.parts.library?.ready();
  }

  /** The same, and they have heard that the session begins. */
  async whenReady(): Promise<void> {
    if (this.#core.restored.finding) await this.#core.restored.finding; // they may ask what is pending
    await this.#core.parts.guests?.ready();
    await this.#core.parts.library?.ready();
  }

  /** Who can ask a person for them; undefined: nobody. Also for those that are loaded already. */
  setUIContext(ui: object | undefined, hasUI = ui !== undefined): void {
    this.#core.parts.guests?.setUIContext(ui, hasUI);
  }

  /** Reads them anew, without a restart; what they brought before is gone. */
  async reloadModules(): Promise<void> {
    await this.#core.parts.guests?.reload();
  }

  /** The `/name` words that a prompt may begin with. */
  getCommands(): SlashCommand[] {
    const { guests, library } = this.#core.parts;
    const first = guests?.commands() ?? [];
    const taken = new Set(first.map(({ name }) => name));
    return [...first, ...(library?.commands() ?? []).filter(({ name }) => !taken.has(name))];
  }

  /** Hears what a host is told of modules: failures, and messages of theirs that were refused. */
  onReport(listener: (report: GuestReport) => void): () => void {
    return this.#core.parts.guests?.onReport(listener) ?? (() => {});
  }

  /** The path of the one in whose files an error came up that nobody caught, if it can be told. */
  blame(error: unknown): string | undefined {
    return this.#core.parts.guests?.blame(error);
  }

  // Tools

  get toolChoiceQueue(): ToolChoiceQueue {
    return this.#core.toolChoice;
  }

  getActiveToolNames(): string[] {
    return namesOf(this.#core.tools.active);
  }

  /** Those that can be switched on, in their order. */
  get allTools(): readonly AnyTool[] {
    return this.#core.tools.all;
  }

  getAllToolNames(): string[] {
    return namesOf(this.#core.tools.all);
  }

  /** Exactly these, from the next model call on. A name that no tool has is passed over. */
  setActiveToolsByName(names: readonly string[]): void {
    this.#core.tools.choose(names);
  }

  /** From the next model call on; one with the name of another takes its place. */
  addTools(tools: readonly AddedTool[]): void {
    this.#core.tools.add(tools);
  }

  /** In one step: what is taken away is gone, or gives back what it had replaced; a choice that was made holds. */
  replaceTools(old: readonly AnyTool[], tools: readonly AddedTool[]): void {
    this.#core.tools.replace(old, tools);
  }

  /**
   * Tools that live in the program that drives us, in place of those before; they outlive a change of the session.
   * Throws `invalid_argument` for a name that is there twice or belongs to another tool, and then nothing has changed.
   */
  setHostTools(tools: readonly AddedTool[]): void {
    this.#core.tools.lend(tools);
  }

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
        this.#core.wasForced = true;
      },
      onRejected: (reason) => (reason === "aborted" || reason === "error" ? "requeue" : undefined),
    });
  }

  /** It is about to end: tools that ignore their signal, and modules of others, are not waited for as long as usual. */
  hurry(options: { modulesMs: number }): void {
    this.#core.hurry(options.modulesMs);
  }

  /** `modulesMs`: how long modules of others may take to say goodbye, all of them together. */
  dispose(options: { modulesMs?: number } = {}): Promise<void> {
    return this.#core.dispose(options.modulesMs);
  }
}

export interface AgentState {
  readonly systemPrompt: string;
  readonly model: ProviderModel | undefined;
  readonly thinkingLevel: ThinkingLevel | undefined;
  readonly tools: readonly AnyTool[];
  readonly messages: readonly AgentMessage[];
  readonly isStreaming: boolean;
}
