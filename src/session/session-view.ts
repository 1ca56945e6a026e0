// What programs may ask of a session, at any moment and without changing it. AgentSession adds the operations.

import type { LockKind } from "../base/path-lock.js";
import { noMask, type TextMask } from "../base/text-mask.js";
import type { InterruptMode, QueueMode } from "../loop/message-queues.js";
import type { Invoker, ToolChoiceQueue } from "../loop/tool-choice-queue.js";
import { binariesIn, type PlannedBytes } from "../plans/planned-bytes.js";
import type { BudgetState, ContextUsage, SandboxState, SessionStats, SlashCommand } from "../protocol/data.js";
import type { DiffFile } from "../protocol/diff.js";
import type { SessionEntry } from "../protocol/entries.js";
import type { AgentMessage } from "../protocol/messages.js";
import type { ThinkingLevel } from "../protocol/model.js";
import type { PendingAction } from "../protocol/pending.js";
import type { TodoPhase } from "../protocol/todos.js";
import type { ProviderModel } from "../provider/provider.js";
import type { BranchPoint } from "../record/entry-tree.js";
import type { PageSource } from "../record/page-source.js";
import type { SessionRecord } from "../record/record.js";
import { sessionStats } from "../record/session-stats.js";
import { resolveAllImages, resolveEntryImages } from "../record/store/blobs.js";
import type { AnyTool } from "../tools/tool.js";
import { namesOf } from "./active-tools.js";
import type { AccessControl, AccessMode, AgentSessionDeps } from "./agent-session-deps.js";
import type { BudgetChange } from "./budget/budget.js";
import { contextUsage } from "./context-usage.js";
import type { PromptOutcome } from "./prompt-outcome.js";
import type { ExtensionShortcut, ExtensionSummary } from "./session-extensions.js";
import { createInternals, type SessionInternals } from "./session-internals.js";

const noSandbox: SandboxState = { mode: "off", mechanism: "none", network: "on", stage: { mechanism: "none" } };

export interface AgentState {
  readonly systemPrompt: string;
  readonly model: ProviderModel | undefined;
  readonly thinkingLevel: ThinkingLevel | undefined;
  readonly tools: readonly AnyTool[];
  readonly messages: readonly AgentMessage[];
  readonly isStreaming: boolean;
}

export class SessionView {
  protected readonly internals: SessionInternals;

  constructor(deps: AgentSessionDeps) {
    this.internals = createInternals(deps);
  }

  /** For every writer of what leaves the session. It learns while the session lives. */
  get secrets(): TextMask {
    return this.internals.deps.secrets ?? noMask;
  }

  // The record

  /** The record at this moment; after a switch it is another one. */
  get sessionManager(): SessionRecord {
    return this.internals.current.record;
  }

  get sessionId(): string {
    return this.sessionManager.sessionId;
  }

  /** Where the record is, or will be; undefined for one in memory. */
  get sessionFile(): string | undefined {
    return this.sessionManager.sessionFile;
  }

  get sessionName(): string | undefined {
    return this.sessionManager.tree.name;
  }

  get cwd(): string {
    return this.internals.deps.cwd;
  }

  /** Why entries are not safe on the disk at the moment. */
  get persistError(): string | undefined {
    return this.sessionManager.persistError ?? this.internals.pending.persistError;
  }

  /** What keeps other programs from writing the session file, or that another one holds it; undefined for a session in memory. */
  get lockKind(): LockKind | "held" | undefined {
    return this.sessionFile === undefined ? undefined : this.sessionManager.lockKind;
  }

  /** Why the file is only read: another program holds its lock, or a later version wrote it. */
  get readOnlyReason(): string | undefined {
    return this.sessionManager.readOnlyReason;
  }

  get messages(): readonly AgentMessage[] {
    return this.sessionManager.context.messages;
  }

  /** For hosts that cannot read the files: images that the record only refers to are filled in. */
  withImages(messages: readonly AgentMessage[]): Promise<AgentMessage[]> {
    return resolveAllImages(messages, this.sessionManager.blobs);
  }

  entriesWithImages(entries: readonly SessionEntry[]): Promise<SessionEntry[]> {
    return resolveEntryImages(entries, this.sessionManager.blobs);
  }

  getUserMessagesForBranching(): BranchPoint[] {
    return this.sessionManager.tree.userMessages();
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

  getSessionStats(): SessionStats {
    const { sessionId, sessionFile, messages } = this;
    const { entries } = this.sessionManager.tree;
    const stats = sessionStats({ sessionId, sessionFile, entries, messages, contextUsage: this.getContextUsage() });
    return { ...stats, budget: this.budget };
  }

  /** The limits of its model calls, and what was used since this process opened the session. */
  get budget(): BudgetState {
    return this.internals.budget.state;
  }

  /** Null removes a limit. Counts from the next model call on; a session that was stopped goes on with its next prompt. */
  setBudget(change: BudgetChange): BudgetState {
    return this.internals.budget.change(change, this.model);
  }

  get exportSource(): PageSource {
    const { header, tree, blobs } = this.sessionManager;
    const { systemPrompt, tools } = this;
    return { header, tree, blobs, live: { systemPrompt, tools } };
  }

  // The work

  /** Fires when the run under way is to stop. */
  get signal(): AbortSignal | undefined {
    return this.internals.driver.signal;
  }

  get isStreaming(): boolean {
    return this.internals.driver.isStreaming;
  }

  get isRetrying(): boolean {
    return this.internals.retry.isRetrying;
  }

  get isCompacting(): boolean {
    return this.internals.compaction.isCompacting;
  }

  /** How commands are confined, or why they are not; as far as that was found out. */
  get sandbox(): SandboxState {
    return this.internals.deps.sandbox?.state ?? noSandbox;
  }

  /** Finds out what `sandbox` says of this machine; undefined once that is done, or where it does not matter. */
  learnSandbox(): Promise<void> | undefined {
    return this.internals.deps.sandbox?.learn();
  }

  get isBashRunning(): boolean {
    return this.internals.bash.isRunning;
  }

  get autoRetryEnabled(): boolean {
    return this.internals.settings.retry.enabled;
  }

  get autoCompactionEnabled(): boolean {
    const { enabled, strategy } = this.internals.settings.compaction;
    return enabled && strategy !== "off";
  }

  /** How many prompts have begun: each has its one `agent_settled`, in this order. */
  get begunCount(): number {
    return this.internals.driver.begun;
  }

  /** How the last run ended; when `agent_settled` comes, how the whole work did. */
  get lastOutcome(): PromptOutcome {
    return this.internals.driver.lastOutcome;
  }

  /** Policy stopped the last tool call of the last prompt. */
  get wasDenied(): boolean {
    return this.internals.driver.wasDenied;
  }

  // Queues

  get queuedMessageCount(): number {
    return this.internals.queues.count;
  }

  /** The messages that wait, steering first. */
  get queuedMessages(): AgentMessage[] {
    const { steering, followUp } = this.internals.queues.view();
    return [...steering(), ...followUp()].map(({ message }) => message);
  }

  get steeringMode(): QueueMode {
    return this.internals.queues.steeringMode;
  }

  set steeringMode(mode: QueueMode) {
    this.internals.queues.steeringMode = mode;
  }

  get followUpMode(): QueueMode {
    return this.internals.queues.followUpMode;
  }

  set followUpMode(mode: QueueMode) {
    this.internals.queues.followUpMode = mode;
  }

  get interruptMode(): InterruptMode {
    return this.internals.queues.interruptMode;
  }

  set interruptMode(mode: InterruptMode) {
    this.internals.queues.interruptMode = mode;
  }

  // Model and tools

  get model(): ProviderModel | undefined {
    return this.internals.models.model;
  }

  get thinkingLevel(): ThinkingLevel | undefined {
    return this.internals.models.thinkingLevel;
  }

  /** Themes that extensions name, for a terminal. */
  get themePaths(): readonly string[] {
    return this.internals.deps.extensions?.themePaths ?? [];
  }

  getAvailableModels(): readonly ProviderModel[] {
    return this.internals.models.available();
  }

  /** Asks the local server of a model that is not known yet, so that `setModel` knows it; at most a second. */
  learnModel(provider: string, modelId: string): Promise<void> {
    return this.internals.models.learn(provider, modelId);
  }

  /** After the user has stored or removed a key: what is available changes. */
  reloadKeys(): Promise<void> {
    return this.internals.models.reloadKeys();
  }

  getAvailableThinkingLevels(): ThinkingLevel[] {
    return this.internals.models.levels();
  }

  /** Undefined without a model; the numbers are null right after a compaction. */
  getContextUsage(): ContextUsage | undefined {
    if (!this.model) return undefined;
    const usage = contextUsage(this.sessionManager.context.path, this.model.contextWindow);
    const { skippedReason } = this.internals.compaction;
    return skippedReason === undefined ? usage : { ...usage, compactionSkipped: skippedReason };
  }

  get systemPrompt(): string {
    return this.internals.systemPrompt.text;
  }

  /** Those that the model is offered. */
  get tools(): readonly AnyTool[] {
    return this.internals.tools.active;
  }

  getActiveToolNames(): string[] {
    return namesOf(this.tools);
  }

  /** Those that can be switched on, in their order. */
  get allTools(): readonly AnyTool[] {
    return this.internals.tools.all;
  }

  getAllToolNames(): string[] {
    return namesOf(this.allTools);
  }

  get toolChoiceQueue(): ToolChoiceQueue {
    return this.internals.toolChoice;
  }

  peekQueueInvoker(): Invoker | undefined {
    return this.toolChoiceQueue.peekInvoker();
  }

  get state(): AgentState {
    const { systemPrompt, model, thinkingLevel, tools, messages, isStreaming } = this;
    return { systemPrompt, model, thinkingLevel, tools, messages, isStreaming };
  }

  // What waits or was planned

  /** At this moment, the next one first. */
  get pendingActions(): readonly Readonly<PendingAction>[] {
    return this.internals.pending.store.list().map(({ action }) => action);
  }

  /** What the binary files of a pending plan's diff would become: they have no lines to show. */
  getPlannedBinaries(pendingId: string, files: readonly DiffFile[]): Map<string, PlannedBytes> {
    return binariesIn(files, this.internals.pending.store.get(pendingId)?.work);
  }

  get pendingActionCount(): number {
    return this.internals.pending.store.size;
  }

  /** Until the number is known of a session that was resumed or switched to; undefined at any other time. */
  get findingPending(): Promise<void> | undefined {
    return this.internals.restored.finding;
  }

  getTodoPhases(): TodoPhase[] {
    return this.internals.todos.get();
  }

  /** What the agent may do with files and commands; `custom` where the settings make no mode of ours. */
  get access(): AccessMode | "custom" {
    return this.internals.deps.access?.mode ?? "custom";
  }

  /** What is previewed: nothing, what previews by itself, or every change. */
  get staging(): AccessControl["staging"] {
    return this.internals.deps.access?.staging ?? "auto";
  }

  /** Which calls the user is asked about. */
  get approvalMode(): AccessControl["approval"] {
    return this.internals.deps.access?.approval ?? "never";
  }

  /** Only the user and the host change it. It holds from the next call on. */
  setAccess(mode: AccessMode): void {
    this.internals.deps.access?.choose(mode);
  }

  /** The `/name` words that a prompt may begin with. */
  getCommands(): SlashCommand[] {
    const { extensions, library } = this.internals.deps;
    const first = extensions?.commands() ?? [];
    const taken = new Set(first.map(({ name }) => name));
    return [...first, ...(library?.commands() ?? []).filter(({ name }) => !taken.has(name))];
  }

  /** What extensions were loaded, in numbers. */
  get extensionSummary(): ExtensionSummary {
    return this.internals.deps.extensions?.summary() ?? { tools: 0, extensions: 0, hasUntrusted: false };
  }

  /** For a terminal: what draws a call of this tool, one for each call. */
  toolRenderer(name: string): object | undefined {
    return this.internals.deps.extensions?.drawing?.toolRenderer(name);
  }

  /** For a terminal: what draws the messages of this type. */
  messageRenderer(customType: string): unknown {
    return this.internals.deps.extensions?.drawing?.messageRenderer(customType);
  }

  /** For a terminal: the keys of extensions. */
  shortcuts(): readonly ExtensionShortcut[] {
    return this.internals.deps.extensions?.drawing?.shortcuts() ?? [];
  }

  /** The path of the extension in whose files an uncaught error was thrown, if it can be told. */
  blame(error: unknown): string | undefined {
    return this.internals.deps.extensions?.blame(error);
  }
}
