// One conversation and the agent that leads it, as programs use it. A short class: it owns the parts of the session,
// and every call goes to the part that knows. Safe to call at any moment; every prompt ends in `agent_settled`.

import type { Subscriber } from "../loop/event-stream.js";
import type { ChangeListOptions, Undone, UndoRequest } from "../pending/change-history.js";
import { type DecisionAnswer, decidePending, type PendingDecision } from "../pending/decide-pending.js";
import type { DiffRequest } from "../pending/get-diff.js";
import type { Rebased, RebaseRequest } from "../pending/rebase-pending.js";
import type { ReviseRequest } from "../pending/revise-pending.js";
import type { StandingHandler } from "../pending/standing-handler.js";
import { type PendingViewOptions, viewPending } from "../pending/view-pending.js";
import type { NewAction } from "../plans/stored-action.js";
import type { ImageContent, InputContent } from "../protocol/content.js";
import type { BashResult } from "../protocol/data.js";
import type { DiffPage } from "../protocol/diff.js";
import type { AgentSessionEvent, CompactionResult } from "../protocol/events.js";
import type { AgentMessage } from "../protocol/messages.js";
import type { ThinkingLevel } from "../protocol/model.js";
import type { Change, PendingActionView } from "../protocol/pending.js";
import type { TodoPhase, TodoPhaseInput } from "../protocol/todos.js";
import type { ProviderModel } from "../provider/provider.js";
import type { AnyTool } from "../tools/tool.js";
import type { AddedTool } from "./active-tools.js";
import type { AgentSessionDeps } from "./agent-session-deps.js";
import type { BashOptions } from "./bash/bash-execution.js";
import { executeProgram } from "./bash/execute-program.js";
import type { ProgramOutcome, ProgramRequest } from "./bash/program.js";
import { forceTool } from "./models/force-tool.js";
import type { CycledModel, ModelChoice } from "./models/model-control.js";
import { followUp, type QueueOptions, type SendCustomOptions, sendCustomMessage, steer } from "./queue-message.js";
import { runTool, type ToolRun, type ToolRunRequest } from "./run-tool.js";
import type { ExtensionReport } from "./session-extensions.js";
import { type CustomMessageInput, plainText, textAndImages } from "./session-messages.js";
import * as operations from "./session-operations.js";
import { SessionView } from "./session-view.js";
import { abortSession, beginShutdown, cancelWaits, disposeSession, waitForIdle } from "./stop-session.js";
import { type PromptOptions, submitPrompt } from "./submit-prompt.js";

export type { AgentSessionDeps, CustomMessageInput, PromptOptions, SendCustomOptions, ToolRun, ToolRunRequest };

export class AgentSession extends SessionView {
  #retryAborted = Promise.resolve();

  // Prompting

  /** Resolves when the session is idle again, or at once when the message was queued. */
  prompt(text: string, options: PromptOptions = {}): Promise<void> {
    return submitPrompt(this.internals, text, options);
  }

  /** Waits for the next model call; without a run for the next prompt, unless it may start one. */
  steer(text: string, images?: readonly ImageContent[], options: QueueOptions = {}): Promise<void> {
    return steer(this.internals, text, { ...options, ...(images ? { images } : {}) });
  }

  /** Waits for the end of the run; without one for the next prompt, unless it may start one. */
  followUp(text: string, images?: readonly ImageContent[], options: QueueOptions = {}): Promise<void> {
    return followUp(this.internals, text, { ...options, ...(images ? { images } : {}) });
  }

  /** A prompt, taken literally, when idle; while a run is active `deliverAs` says where it waits, or it is refused. */
  sendUserMessage(
    content: string | readonly InputContent[],
    { deliverAs }: { deliverAs?: "steer" | "followUp" } = {},
  ): Promise<void> {
    const { text, images } = textAndImages(content);
    const asSaid = { images, expandPromptTemplates: false };
    return this.prompt(text, { ...asSaid, ...(deliverAs ? { streamingBehavior: deliverAs } : {}) });
  }

  sendCustomMessage(message: CustomMessageInput, options: SendCustomOptions = {}): Promise<void> {
    return sendCustomMessage(this.internals, message, options);
  }

  /** Stops the run and any summary that is being written, and waits for both. Queued messages stay queued. */
  abort(): Promise<void> {
    return abortSession(this.internals);
  }

  /** What an abort may cancel before its turn comes: a compaction, the wait before a retry, the wait for extensions. */
  cancelWaits(): void {
    cancelWaits(this.internals);
  }

  /** Nothing runs, and no prompt is on its way, not even one that an extension sent meanwhile. */
  waitForIdle(): Promise<void> {
    return waitForIdle(this.internals);
  }

  clearQueue(): { steering: string[]; followUp: string[] } {
    const { steering, followUp } = this.internals.queues.clear();
    const texts = (items: readonly { message: AgentMessage }[]) => items.map(({ message }) => plainText(message));
    return { steering: texts(steering), followUp: texts(followUp) };
  }

  // Events

  /** A subscriber that returns a promise holds the stream, and in the end the model, until it resolves. */
  subscribe(subscriber: Subscriber<AgentSessionEvent>): () => void {
    const { events, restored } = this.internals;
    const unsubscribe = events.subscribe(subscriber);
    // A host is also told what was found before it subscribed; not at once, since it may need time to set itself up.
    queueMicrotask(() => restored.tellNews());
    return unsubscribe;
  }

  /** The same for extensions: events kept for a host still wait for the host. */
  observe(subscriber: Subscriber<AgentSessionEvent>): () => void {
    return this.internals.events.subscribe(subscriber);
  }

  // Model and context

  /** Counts from the next run on; a run under way keeps its model. */
  setModel(provider: string, modelId: string): ProviderModel {
    return this.internals.models.set(provider, modelId);
  }

  /** The next model of the scope, or of all that are available; null when there is no other. */
  cycleModel(): CycledModel | null {
    return this.internals.models.cycle();
  }

  /** Uses the model and the level of the record, or `level`; returns a sentence when the model is unavailable. */
  restoreModel(level?: ThinkingLevel): string | undefined {
    return this.internals.models.restore(level);
  }

  adoptModel(choice: ModelChoice): void {
    this.internals.models.adopt(choice);
  }

  setThinkingLevel(level: ThinkingLevel | undefined): void {
    this.internals.models.setThinkingLevel(level);
  }

  cycleThinkingLevel(): ThinkingLevel | null {
    return this.internals.models.cycleThinkingLevel();
  }

  /** Summarizes the old part. Refuses before it touches anything; a run is stopped first. */
  compact(customInstructions?: string): Promise<CompactionResult> {
    const { driver, compaction } = this.internals;
    const stopRun = () => driver.stop();
    return compaction.compactNow({ stopRun, customInstructions });
  }

  abortCompaction(): void {
    this.internals.compaction.abort();
  }

  setAutoCompactionEnabled(enabled: boolean): void {
    const { settings } = this.internals;
    const strategy = enabled ? "context-full" : settings.compaction.strategy;
    this.internals.settings = { ...settings, compaction: { ...settings.compaction, enabled, strategy } };
  }

  /** A retry that already waits is not cancelled by this. */
  setAutoRetryEnabled(enabled: boolean): void {
    const { settings } = this.internals;
    this.internals.settings = { ...settings, retry: { ...settings.retry, enabled } };
  }

  /** Ends the wait before a retry; resolves when the session is idle. A success when none waits. */
  abortRetry(): Promise<void> {
    const { retry, driver } = this.internals;
    // Asked again while the first request closes the session, it waits for the same end.
    if (retry.cancel("abort_retry")) this.#retryAborted = driver.waitForIdle();
    return this.#retryAborted;
  }

  // Sessions

  /** An empty record; model, thinking level and modes stay. The old one keeps what it has. False: it was prevented. */
  newSession(options: { parentSession?: string } = {}): Promise<boolean> {
    return operations.newSession(this.internals, options);
  }

  /** Reads and checks the file first: if that fails, the current session goes on unchanged. */
  switchSession(path: string): Promise<boolean> {
    return operations.switchSession(this.internals, path);
  }

  /** A new record with what came before a user message, whose text is returned. */
  branch(entryId: string): Promise<{ text: string; cancelled: boolean }> {
    return operations.branch(this.internals, entryId);
  }

  /** A full copy under a new id; false for a session that is in memory only, or where it was prevented. */
  fork(): Promise<boolean> {
    return operations.fork(this.internals);
  }

  /** Continues in a full copy. False: an extension prevented it. */
  clone(): Promise<boolean> {
    return operations.clone(this.internals);
  }

  /** Moves to another entry of the same record, with notes on the branch that is left if they are wanted. */
  navigateTree(entryId: string, options: operations.NavigateOptions = {}): Promise<operations.Navigated> {
    return operations.navigateTree(this.internals, entryId, options);
  }

  /** Without a label, the existing one is removed. */
  setLabel(entryId: string, label?: string): void {
    this.sessionManager.setLabel(entryId, label);
  }

  setSessionName(name: string): void {
    operations.rename(this.internals, name);
  }

  /**
   * Writes the session as one HTML page and returns its absolute path. Without a path the page gets a generated name in
   * the working directory. The path is the caller's own: no user is asked about it.
   */
  exportToHtml(outputPath?: string): Promise<string> {
    const { sessionId, sessionFile } = this;
    return this.internals.deps.exportPage({ ...this.exportSource, sessionId, sessionFile }, outputPath);
  }

  // Pending actions

  /**
   * What waits for a decision, the next one first. Plans carry per-file figures, and diffs if asked for. With `check` the
   * files are compared with the disk first.
   */
  async getPendingActions(
    options: PendingViewOptions & { check?: boolean | undefined } = {},
  ): Promise<PendingActionView[]> {
    await this.internals.restored.done;
    if (options.check) await this.internals.pending.checkFiles();
    return viewPending(this.internals.pending.store, options);
  }

  /** The complete diff of a plan or of an applied change, in pages of about 768 KiB: go on with `nextCursor`. */
  async getDiff(request: DiffRequest): Promise<DiffPage> {
    await this.internals.restored.done;
    const { getDiff } = await import("../pending/get-diff.js");
    return getDiff(this.internals, request);
  }

  /** A decision of the host or the user; the model is told with its next request. Throws when it cannot be done. */
  async resolvePendingAction(request: PendingDecision): Promise<DecisionAnswer> {
    await this.internals.restored.done;
    return decidePending(this.internals.pending, request);
  }

  /** Replaces the new side of a hunk by another text. */
  async revisePendingAction(request: ReviseRequest): Promise<{ action: PendingActionView }> {
    const { restored, pending, deps } = this.internals;
    await restored.done;
    const { revisePending } = await import("../pending/revise-pending.js");
    return pending.during(revisePending({ pending, changes: deps.changes, mask: this.secrets }, request));
  }

  /** Makes the change of a stale plan for the files as they are now; writes nothing. */
  async rebasePendingAction(request: RebaseRequest): Promise<Rebased> {
    const { restored, pending, deps } = this.internals;
    await restored.done;
    const { rebasePending } = await import("../pending/rebase-pending.js");
    return pending.during(rebasePending({ pending, changes: deps.changes }, request));
  }

  /** For extensions: in the store at once, on record soon after. Returns its id. */
  stagePendingAction(action: NewAction): string {
    // A plan survives the process and waits for the user, like those of our own tools; a callback cannot wait.
    const isForReview = action.isForReview ?? (action.work.kind === "plan" && this.staging === "all");
    return this.internals.pending.store.push({ ...action, isForReview });
  }

  /** The id for an action that is staged later. */
  nextPendingId(): string {
    return this.internals.pending.store.nextId();
  }

  /** For long-lived approval flows: called when nothing is pending, never forced, never used up. */
  setStandingResolveHandler(handler: StandingHandler | undefined): void {
    this.internals.pending.setStandingHandler(handler);
  }

  /** Stages the inverse of an applied change; with `apply` it is decided at once. */
  async undo(request: UndoRequest = {}): Promise<Undone> {
    await this.internals.restored.done;
    return this.internals.changes.undo(request);
  }

  async redo(request: Omit<UndoRequest, "changeId" | "isRun"> = {}): Promise<Undone> {
    await this.internals.restored.done;
    return this.internals.changes.redo(request);
  }

  getChanges(options: ChangeListOptions = {}): Promise<Change[]> {
    return this.internals.changes.list(options);
  }

  // The user's own commands, and todos

  /** Runs beside the agent; its result becomes part of the conversation, after the run if one is active. */
  executeBash(command: string, onChunk?: (text: string) => void, options: BashOptions = {}): Promise<BashResult> {
    return this.internals.bash.execute(command, onChunk, options);
  }

  /** One program without a shell, beside the agent and outside the conversation; what it stages is pending. */
  executeProgram(request: ProgramRequest): Promise<ProgramOutcome> {
    return executeProgram(this.internals.deps, request);
  }

  /** Ends what runs now; a success when nothing does. */
  abortBash(): void {
    this.internals.bash.abort();
  }

  /** In memory only: a host sets a plan; the model's own list is kept in its tool results. */
  setTodoPhases(phases: readonly TodoPhaseInput[]): TodoPhase[] {
    return this.internals.todos.set(phases);
  }

  // Extensions

  /** Custom tools and extensions are loaded, templates and skills are read. Never rejects: failures are reported. */
  async whenLoaded(): Promise<void> {
    const { extensions, library } = this.internals.deps;
    await extensions?.textsKnown();
    await library?.ready();
  }

  /** The same, and they have been told that the session begins. */
  async whenReady(): Promise<void> {
    const { extensions, library } = this.internals.deps;
    if (this.findingPending) await this.findingPending; // they may ask what is pending
    await extensions?.ready();
    await library?.ready();
  }

  /** How extensions ask the user; undefined: they cannot. Also for those that are loaded already. */
  setUIContext(ui: object | undefined, hasUI = ui !== undefined): void {
    this.internals.deps.extensions?.setUIContext(ui, hasUI);
  }

  /** Reads them again without a restart; what they registered before is gone. */
  async reloadModules(): Promise<void> {
    await this.internals.deps.extensions?.reload();
  }

  /** Receives what a host is told about extensions: failures, and messages of theirs that were refused. */
  onReport(listener: (report: ExtensionReport) => void): () => void {
    return this.internals.deps.extensions?.onReport(listener) ?? (() => {});
  }

  // Tools

  /**
   * Runs one tool without a model, under the same hooks and policy; what it stages stays pending. Throws `not_found`,
   * `invalid_argument` or `busy` before anything runs.
   */
  runTool(request: ToolRunRequest): Promise<ToolRun> {
    return runTool(this.internals, request);
  }

  /** Exactly these, from the next model call on. A name that no tool has is skipped. */
  setActiveToolsByName(names: readonly string[]): void {
    this.internals.tools.choose(names);
  }

  /** From the next model call on; one with the name of another replaces it. */
  addTools(tools: readonly AddedTool[]): void {
    this.internals.tools.add(tools);
  }

  /** In one step: a removed tool is gone, or restores the one it had replaced; a choice that was made holds. */
  replaceTools(old: readonly AnyTool[], tools: readonly AddedTool[]): void {
    this.internals.tools.replace(old, tools);
  }

  /**
   * Tools that live in the host; they replace the ones before and survive a change of the session.
   * Throws `invalid_argument` for a name that occurs twice or belongs to another tool; then nothing has changed.
   */
  setHostTools(tools: readonly AddedTool[]): void {
    this.internals.tools.lend(tools);
  }

  /** Makes the next model call use this tool, and the one after it none. */
  setForcedToolChoice(name: string): void {
    forceTool(this.internals, name);
  }

  // The end

  /** The session is about to end: tools that ignore their signal, and extensions, get less time than usual. */
  beginShutdown(options: { modulesMs: number }): void {
    beginShutdown(this.internals, options.modulesMs);
  }

  /** `modulesMs`: how much time extensions get for their shutdown, all of them together. */
  dispose(options: { modulesMs?: number } = {}): Promise<void> {
    return disposeSession(this.internals, options.modulesMs);
  }
}
