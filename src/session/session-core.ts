// The parts of one session, joined: who keeps the record, who leads the runs, who decides what follows. AgentSession is
// its face; what can be done with a session stands in files of functions that work on this.

import { AbortRace } from "../base/abort.js";
import type { Clock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import type { Log } from "../base/log.js";
import { EventStream, type Subscriber } from "../loop/event-stream.js";
import { MessageQueues } from "../loop/message-queues.js";
import type { RunParts, ToolHooks } from "../loop/run.js";
import { ToolChoiceQueue } from "../loop/tool-choice-queue.js";
import { ChangeHistory } from "../pending/change-history.js";
import { PendingControl } from "../pending/pending.js";
import { resolveToolName } from "../pending/resolve-force.js";
import { RestoredActions } from "../pending/restored-actions.js";
import type { PlanHands } from "../preview/change-writer.js";
import type { SettleParts } from "../preview/settle.js";
import type { AgentSessionEvent } from "../protocol/events.js";
import type { AgentMessage, FileMentionMessage } from "../protocol/messages.js";
import type { ThinkingLevel } from "../protocol/model.js";
import { type ModelMessage, type ProviderModel, plannerApi, type StreamFunction } from "../provider/provider.js";
import { billedUsageType, type UsageByModel } from "../record/billing.js";
import type { KeptPageSource } from "../record/page-source.js";
import type { SessionManager } from "../record/record.js";
import type { SessionRecords } from "../record/session-record.js";
import { resolveImages } from "../record/store/blobs.js";
import type { AnyTool, ArtifactSource } from "../tools/tool.js";
import { ActiveTools } from "./active-tools.js";
import { type ApprovalPolicy, approveAll } from "./approval.js";
import { BashExecutions, type BashHome, type BashRunOutcome, type BashRunRequest } from "./bash-execution.js";
import { CompactionController } from "./compaction/compaction-controller.js";
import type { ContinuationParts } from "./continuation.js";
import { LeftRecords } from "./detached-sessions.js";
import { ModelMessages } from "./model-messages.js";
import { ModelControl } from "./models/model-control.js";
import type { ModelSource } from "./models/model-source.js";
import { Hearing } from "./prompt-intake.js";
import type { PromptLibrary } from "./prompt-library.js";
import { Questions } from "./questions.js";
import { failureText, RetryController } from "./retry.js";
import { RetryFallback } from "./retry-fallback.js";
import type { StreamRule } from "./rules/rule.js";
import { TtsrController } from "./rules/rules-controller.js";
import { PromptDriver } from "./run-driver.js";
import type { SessionGuests } from "./session-extensions.js";
import { plainText } from "./session-messages.js";
import { defaultSessionSettings, type SessionSettings } from "./session-settings.js";
import { TodoTracker } from "./todos/todo-tracker.js";

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
  createTools(own: {
    todos: TodoTracker;
    artifacts: ArtifactSource;
    pending: PendingControl;
    changes(): ChangeHistory;
  }): readonly AnyTool[];
  readonly hooks?: ToolHooks;
  /** Modules of others; absent where there are none. */
  readonly guests?: SessionGuests | undefined;
  /** Prompts that are called by name; absent where there are none. */
  readonly library?: PromptLibrary | undefined;
  /** The files that a prompt mentions as `@path`. */
  readMentions?(text: string): Promise<FileMentionMessage["files"]>;
  /** Policy on every call that is about to run; default: all may. */
  readonly approve?: ApprovalPolicy | undefined;
  /** How plans reach the disk. */
  readonly plans: PlanHands;
  /** Shows what the model wants to apply to a person; undefined: nobody is there. */
  confirm?: SettleParts["confirm"] | undefined;
  /** Runs a command of the user's; absent where there are no processes. */
  runBash?(request: BashRunRequest, artifacts: ArtifactSource): Promise<BashRunOutcome>;
  /** Makes a page of the session, and answers its absolute path. */
  exportPage(source: KeptPageSource, outputPath: string | undefined): Promise<string>;
  /** What lives as long as the session; modules of others may take so long to say goodbye. Never rejects. */
  release?(modulesMs?: number): Promise<void>;
  /** Built anew when the active tools change. */
  systemPrompt(tools: readonly AnyTool[]): string;
  readonly model?: ProviderModel | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  /** For a record that says nothing; default: the same. */
  readonly usualThinkingLevel?: ThinkingLevel | undefined;
  /** What was named for this start, whatever the record says. */
  readonly named?: { readonly model: boolean; readonly level: boolean };
  readonly settings?: SessionSettings;
  /** The stream rules, asked for with the first prompt. */
  loadRules?(): Promise<readonly StreamRule[]>;
  /** For the jitter of retries; default Math.random. */
  readonly random?: () => number;
}

export class SessionCore {
  readonly parts: AgentSessionParts;
  readonly toolChoice = new ToolChoiceQueue();
  readonly events: EventStream<AgentSessionEvent>;
  readonly queues: MessageQueues;
  readonly models: ModelControl;
  readonly retry: RetryController;
  readonly fallback: RetryFallback;
  readonly compaction: CompactionController;
  readonly driver: PromptDriver;
  readonly todos: TodoTracker;
  readonly tools: ActiveTools;
  readonly bash: BashExecutions;
  readonly left: LeftRecords;
  readonly pending: PendingControl;
  readonly hearing: Hearing;
  readonly questions: Questions;
  readonly restored: RestoredActions;
  settings: SessionSettings;
  /** The last turn used a tool because the user forced it to. */
  wasForced = false;
  /** What the run under way is told in place of the usual prompt. */
  runSystemPrompt: string | undefined;
  /** How often somebody wanted everything stopped: a prompt that was on its way then is stopped as it begins. */
  aborts = 0;
  #record: SessionManager;
  #modelMessages: ModelMessages;
  #ttsr: TtsrController | undefined;
  #hasLoadedRules = false;
  #lastOperation: Promise<unknown> = Promise.resolve();
  #isOver = false;
  #changes: ChangeHistory | undefined;
  /** What the last request offered, and what of it is active: mostly the same again, and then the same list. */
  #offered: { readonly base: readonly AnyTool[]; readonly tools: readonly AnyTool[] } = { base: [], tools: [] };

  constructor(parts: AgentSessionParts) {
    const { clock, log, random = Math.random } = parts;
    this.parts = parts;
    this.#record = parts.record;
    this.settings = parts.settings ?? defaultSessionSettings;
    this.#modelMessages = new ModelMessages({ blocksImages: this.settings.blockImages });
    this.hearing = new Hearing(clock);
    this.events = new EventStream(log);
    this.queues = this.#createQueues();
    this.models = new ModelControl({
      models: parts.models,
      model: parts.model,
      thinkingLevel: parts.thinkingLevel,
      usualThinkingLevel: parts.usualThinkingLevel,
      named: parts.named,
      record: () => this.#record,
      sessionId: () => this.#record.sessionId,
    });
    const emit = (event: AgentSessionEvent) => this.events.emit(event);
    this.retry = new RetryController({ clock, random, settings: () => this.settings.retry, emit });
    this.fallback = new RetryFallback({ clock, log, models: this.models, settings: () => this.settings.retry, emit });
    this.compaction = this.#createCompaction(random, emit);
    this.todos = new TodoTracker({ clock, emit, settings: () => this.settings.todos });
    this.todos.restore(this.#record.context.path);
    const artifacts = this.#artifacts(() => this.#record);
    this.restored = new RestoredActions({ log, plans: parts.plans, pending: () => this.pending, emit });
    this.pending = this.#createPending((event) => this.restored.tell(event));
    parts.plans.attach({
      owner: () => this.#owner(),
      recordApplied: (applied, decision) => this.pending.recordApplied(applied, decision),
    });
    this.tools = new ActiveTools(
      parts.createTools({ todos: this.todos, artifacts, pending: this.pending, changes: () => this.changes }),
    );
    this.restored.begin();
    this.left = new LeftRecords(log);
    this.bash = new BashExecutions({
      clock,
      log,
      home: () => this.#bashHome(this.#record),
      whenSettled: () => this.driver.waitForIdle(),
    });
    this.driver = new PromptDriver({
      clock,
      log,
      events: this.events,
      queues: this.queues,
      record: () => this.#record,
      approve: parts.approve ?? approveAll,
      pending: this.pending,
      model: () => this.models.active,
      recordStart: () => this.models.recordStart(),
      continuation: () => this.#continuation(),
      prepare: (signal) => this.#prepare(signal),
      loadImages: () => this.#loadImages(),
      runParts: (model) => this.#runParts(model),
    });
    this.questions = new Questions({
      cancellable: (work) => this.compaction.cancellable(work),
      isEnding: () => this.driver.isEnding,
    });
  }

  get record(): SessionManager {
    return this.#record;
  }

  /** Made when somebody looks back. */
  get changes(): ChangeHistory {
    const { pending } = this;
    this.#changes ??= new ChangeHistory({ plans: this.parts.plans, pending, owner: () => this.#owner() });
    return this.#changes;
  }

  get systemPrompt(): string {
    return this.runSystemPrompt ?? this.parts.systemPrompt(this.tools.active);
  }

  now(): number {
    return this.parts.clock.now();
  }

  /** Stops the run and any summary that is being written, and waits for both. Queued messages stay queued. */
  async abort(): Promise<void> {
    this.aborts++;
    this.questions.drop();
    const { begun } = this.driver;
    const heard = this.hearing.giveUp();
    await this.#stop();
    await heard;
    // One of those has begun, and was stopped as it did; one that came later is not ours to stop.
    if (this.driver.begun > begun && this.driver.signal?.aborted) await this.driver.stop();
  }

  async #stop(): Promise<void> {
    void this.hearing.giveUp(); // never rejects, and what nobody has accepted yet holds up nothing
    this.compaction.abort();
    await this.driver.stop();
    await this.compaction.settled();
  }

  /**
   * Nothing is under way when it resolves, and nothing was begun in the moment before: a tool that must not be cut
   * short has written its result where it began, and so has a decision about what is pending.
   */
  async settle(): Promise<void> {
    const isRunning = () => this.driver.isStreaming || this.compaction.isCompacting;
    while (isRunning() || this.pending.isDeciding) await (isRunning() ? this.#stop() : this.pending.decided());
  }

  /** Calls off what a person is being asked. */
  get questionSignal(): AbortSignal | undefined {
    return this.questions.signal ?? this.driver.signal;
  }

  /** One operation on the record at a time: of two at once, one would leave a record open that nobody knows of. */
  exclusively<Result>(operation: () => Promise<Result>): Promise<Result> {
    const result = this.#lastOperation.then(operation);
    this.#lastOperation = result.catch(() => {}); // whoever asked hears of it
    return result;
  }

  /** Throws for an operation whose turn comes after the end of the session. */
  checkOpen(): void {
    if (this.#isOver) this.driver.checkOpen();
  }

  /** Nothing is under way. The caller closes the old one. */
  enter(record: SessionManager): void {
    this.#record = record;
    this.left.reenter(record);
    this.#modelMessages = new ModelMessages({ blocksImages: this.settings.blockImages });
    this.queues.clear();
    this.toolChoice.clear();
    this.restoreBehaviour();
    this.restored.begin();
  }

  /** The record stands somewhere else now. */
  restoreBehaviour(): void {
    const { path } = this.#record.context;
    this.#ttsr?.restore(path);
    this.todos.restore(path);
  }

  /** For a host, who also hears what was found before it came. */
  listen(subscriber: Subscriber<AgentSessionEvent>): () => void {
    const unsubscribe = this.events.subscribe(subscriber);
    queueMicrotask(() => this.restored.tellNews()); // the subscriber may need what it is about to be given
    return unsubscribe;
  }

  /** Before a record is left: what is pending stays with it, or ends. */
  leavePending(reason: string): Promise<void> {
    return this.restored.done.then(() => this.pending.leave(reason));
  }

  /** The session is about to end. */
  hurry(modulesMs: number): void {
    this.driver.hurry();
    this.pending.hurry();
    this.hearing.close();
    this.parts.guests?.hurry(modulesMs);
  }

  /** After the operation that is under way, if one is. */
  dispose(modulesMs?: number): Promise<void> {
    this.driver.close();
    this.hearing.close();
    this.toolChoice.clear();
    this.bash.abort();
    return this.exclusively(async () => {
      this.#isOver = true;
      await this.abort();
      await this.leavePending("Session ended before the preview was resolved.");
      this.pending.dispose();
      await this.parts.release?.(modulesMs);
      this.bash.flush();
      await this.events.drained();
      this.todos.dispose();
      await this.left.closeAll();
      await this.#record.close();
    });
  }

  /** Calls that were paid for and left nothing else behind. */
  bill(usage: UsageByModel): void {
    this.#record.append({ type: "custom", customType: billedUsageType, data: { usage } });
  }

  /** `resolve` is offered while it can be of use; nobody has to name it. */
  #offeredTools(): readonly AnyTool[] {
    const { active } = this.tools;
    const resolve = this.tools.hidden(resolveToolName);
    const isNeeded = this.pending.isResolvable || this.parts.guests?.mayStage || active.some((tool) => tool.deferrable);
    // Our planner knows the word; any other model has to be given it by name.
    const isPlanner = this.models.active?.api === plannerApi && !active.some(({ name }) => name === "undo");
    const undo = isPlanner ? this.tools.hidden("undo") : undefined;
    const more = [undo, isNeeded ? resolve : undefined].filter((tool) => tool !== undefined);
    if (more.length === 0) return active;
    const { base, tools } = this.#offered;
    const isSame =
      base === active && tools.length === base.length + more.length && more.every((tool) => tools.includes(tool));
    if (!isSame) this.#offered = { base: active, tools: [...active, ...more] };
    return this.#offered.tools;
  }

  #createPending(emit: (event: AgentSessionEvent) => void): PendingControl {
    const { clock, log, plans, confirm } = this.parts;
    return new PendingControl({
      clock,
      log,
      emit,
      queues: this.queues,
      toolChoice: this.toolChoice,
      record: () => this.#record,
      settings: () => this.settings.pending,
      model: () => this.models.active,
      // Only there does a forced choice fail while the model thinks.
      isThinkingInTheWay: () =>
        this.models.active?.api === "anthropic-messages" && (this.models.activeThinkingLevel ?? "off") !== "off",
      applyPlan: (changes, owner) => plans.apply(changes, owner),
      staleFiles: (changes) => plans.staleFiles(changes),
      signal: () => this.driver.signal,
      ...(confirm ? { confirm } : {}),
    });
  }

  /** What a change is remembered by: the file that holds the session, or the session itself. */
  #owner(): string {
    return this.#record.sessionFile ?? this.#record.sessionId;
  }

  /** Those of the record that is current when they are asked for. */
  #artifacts(record: () => SessionManager): ArtifactSource {
    return {
      open: (toolName) => record().artifacts.open(toolName),
      readBytes: (id, maxBytes) => record().artifacts.readBytes(id, maxBytes),
    };
  }

  #bashHome(record: SessionManager): BashHome {
    return {
      run: async (request) => {
        if (!this.parts.runBash) throw new GalleyError("unsupported", "This session runs no commands.");
        const artifacts = this.#artifacts(() => record);
        try {
          return await this.parts.runBash(request, artifacts);
        } finally {
          await this.pending.filesWritten();
        }
      },
      isStreaming: () => record === this.#record && this.driver.isStreaming,
      append: (message) => {
        if (record === this.#record) this.models.recordStart(); // its first words may be a command's
        record.append({ type: "message", message });
      },
      artifactPath: (id) => record.artifacts.pathOf(id),
      release: this.left.use(record),
    };
  }

  #createQueues(): MessageQueues {
    const queues = new MessageQueues(() => this.#announceQueues());
    queues.steeringMode = this.settings.steeringMode;
    queues.followUpMode = this.settings.followUpMode;
    queues.interruptMode = this.settings.interruptMode;
    return queues;
  }

  #createCompaction(random: () => number, emit: (event: AgentSessionEvent) => void): CompactionController {
    const { clock, stream } = this.parts;
    return new CompactionController({
      clock,
      random,
      stream,
      emit,
      settings: () => this.settings.compaction,
      retrySettings: () => this.settings.retry,
      path: () => this.#record.context.path,
      model: () => this.models.active,
      summarizers: () => this.models.summarizers(),
      overheadTokens: () => Math.ceil((this.systemPrompt.length + JSON.stringify(this.tools.active).length) / 4),
      guests: () => this.parts.guests?.compaction,
      appendCompaction: (result) => {
        const entry = this.#record.append({ type: "compaction", ...result });
        this.pending.compacted();
        this.todos.compacted(this.#record.context.path);
        return entry;
      },
      appendPrune: (entryIds) => void this.#record.append({ type: "prune", entryIds }),
      appendUsage: (usage) => this.bill(usage),
    });
  }

  #runParts(model: ProviderModel): Omit<RunParts, "signal" | "append" | "replied" | "decideEnd"> {
    const { clock, log, stream, cwd, hooks = {} } = this.parts;
    const level = this.models.levelFor(model);
    return {
      events: this.events,
      queues: this.queues,
      toolChoice: this.toolChoice,
      clock,
      log,
      model,
      stream,
      failureText: (event) =>
        this.fallback.plan(model) ? event.errorMessage : failureText(event, this.settings.retry),
      hooks,
      toolContext: { cwd },
      streamOptions: () => this.models.streamOptions(model, level),
      systemPrompt: () => this.systemPrompt,
      tools: () => this.#offeredTools(),
      turnBoundary: () => this.pending.turnBoundary(),
      modelMessages: () => this.#modelMessages.of(this.#record.context),
      reviseMessages: () => this.#revisedMessages(),
    };
  }

  /** Of one model call; the record stays as it is. */
  #revisedMessages(): Promise<readonly ModelMessage[]> | undefined {
    const { guests } = this.parts;
    if (!guests?.hearsContext) return undefined;
    const shown = this.#modelMessages.shown(this.#record.context);
    return guests.reviseContext(shown).then((messages) => this.#modelMessages.ofRevised(messages));
  }

  async #prepare(signal: AbortSignal): Promise<void> {
    this.wasForced = false;
    await this.restored.done;
    this.restored.tellNews(); // who has not come by now need not hear of it
    const { guests, library } = this.parts;
    if (guests && (await new AbortRace(signal).next(guests.ready())) === "aborted") return;
    await library?.ready();
    this.bash.flush();
    this.todos.promptStart();
    const { cwd, log, loadRules } = this.parts;
    if (!this.#hasLoadedRules && loadRules) {
      const rules = await loadRules();
      // Without any, which is usual, nobody need look at every delta.
      if (rules.length > 0) {
        this.#ttsr = new TtsrController({ rules, cwd, log, settings: () => this.settings.ttsr });
        this.#ttsr.restore(this.#record.context.path);
      }
      this.#hasLoadedRules = true;
    }
    this.#ttsr?.promptStart();
  }

  #loadImages(): Promise<void> {
    const { context, blobs } = this.#record;
    return this.#modelMessages.loadImages(context, (message) => resolveImages(message, blobs));
  }

  #continuation(): ContinuationParts {
    return {
      ttsr: this.#ttsr,
      todos: this.todos,
      isUserForced: () => this.wasForced,
      emit: (event) => this.events.emit(event),
      retry: this.retry,
      fallback: this.fallback,
      compaction: this.compaction,
      queues: this.queues,
      record: this.#record,
      settings: () => this.settings,
      now: () => this.now(),
    };
  }

  #announceQueues(): void {
    const { steering, followUp } = this.queues.view();
    const texts = (items: readonly { message: AgentMessage }[]) =>
      items.filter(({ message }) => message.role === "user").map(({ message }) => plainText(message));
    this.events.emit({
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
