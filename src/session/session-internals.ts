// The parts of one session, and how they are connected. AgentSession owns them; the operations on a session are in
// files of functions that name the parts they need.

import { EventStream } from "../loop/event-stream.js";
import { MessageQueues } from "../loop/message-queues.js";
import { ToolChoiceQueue } from "../loop/tool-choice-queue.js";
import { ChangeHistory } from "../pending/change-history.js";
import { PendingActions } from "../pending/pending-actions.js";
import { RestoredActions } from "../pending/restored-actions.js";
import type { AgentSessionEvent } from "../protocol/events.js";
import type { AgentMessage } from "../protocol/messages.js";
import { capabilitiesOf } from "../provider/provider.js";
import { billedUsageType, type UsageByModel } from "../record/billing.js";
import { ActiveTools, SystemPrompt } from "./active-tools.js";
import type { AgentSessionDeps } from "./agent-session-deps.js";
import { BashExecutions } from "./bash/bash-execution.js";
import { createBashHome } from "./bash/bash-home.js";
import type { Budget } from "./budget/budget.js";
import { CompactionController } from "./compaction/compaction-controller.js";
import type { ContinuationContext } from "./continuation.js";
import { CurrentRecord } from "./current-record.js";
import { DetachedSessions } from "./detached-sessions.js";
import { ModelControl } from "./models/model-control.js";
import { PromptIntake } from "./prompt-intake.js";
import { Questions } from "./questions.js";
import { RetryController } from "./retry.js";
import { RetryFallback } from "./retry-fallback.js";
import { SessionRules } from "./rules/session-rules.js";
import { RunDriver } from "./run-driver.js";
import { plainText } from "./session-messages.js";
import { defaultSessionSettings, type SessionSettings } from "./session-settings.js";
import { TodoTracker } from "./todos/todo-tracker.js";

export interface SessionInternals {
  readonly deps: AgentSessionDeps;
  readonly current: CurrentRecord;
  readonly events: EventStream<AgentSessionEvent>;
  readonly queues: MessageQueues;
  readonly toolChoice: ToolChoiceQueue;
  readonly models: ModelControl;
  readonly retry: RetryController;
  readonly fallback: RetryFallback;
  readonly budget: Budget;
  readonly compaction: CompactionController;
  readonly driver: RunDriver;
  readonly todos: TodoTracker;
  readonly rules: SessionRules;
  readonly tools: ActiveTools;
  readonly systemPrompt: SystemPrompt;
  readonly bash: BashExecutions;
  readonly detached: DetachedSessions;
  readonly pending: PendingActions;
  readonly restored: RestoredActions;
  readonly changes: ChangeHistory;
  readonly intake: PromptIntake;
  readonly questions: Questions;
  /** Changes over RPC replace it. */
  settings: SessionSettings;
  /** The last turn used a tool because the user forced it to. */
  wasForced: boolean;
  /** How often everything was stopped: a prompt that was on its way then is stopped as it begins. */
  abortCount: number;
  /** The session has ended: an operation whose turn comes now is refused. */
  isOver: boolean;
}

/** Parts that call each other do so only after this has returned. */
export function createInternals(deps: AgentSessionDeps): SessionInternals {
  const { clock, log, budget, random = Math.random } = deps;
  const emit = (event: AgentSessionEvent) => events.emit(event);
  const settings = deps.settings ?? defaultSessionSettings;
  const current = new CurrentRecord(deps.record, {
    blocksImages: settings.blockImages,
    onMoved: (move) => emit({ type: "session_moved", ...move }),
  });
  const record = () => current.record;
  const path = () => current.record.context.path;
  const events = new EventStream<AgentSessionEvent>(log);
  budget.attach({ emit, sessionId: () => current.record.sessionId });
  const queues = createQueues(events, settings);
  const toolChoice = new ToolChoiceQueue();
  const models = createModels(deps, current);
  const driver = new RunDriver({ clock, log, events });
  const todos = new TodoTracker({ clock, emit, settings: () => session.settings.todos });
  todos.restore(current.record.context.todoEntries);
  const detached = new DetachedSessions(log);
  const pending: PendingActions = new PendingActions({
    clock,
    log,
    emit: (event) => restored.tell(event),
    queues,
    toolChoice,
    record,
    settings: () => session.settings.pending,
    model: () => models.active,
    forbidsForcedChoice: () => forbidsForcedChoice(models),
    changes: deps.changes,
    owner: () => current.owner,
    run: () => driver.run,
    signal: () => driver.signal,
    ...(deps.confirm ? { confirm: deps.confirm } : {}),
    ...(deps.confirmProtected ? { confirmProtected: deps.confirmProtected } : {}),
  });
  const restored = new RestoredActions({ log, changes: deps.changes, pending, emit });
  const changes = new ChangeHistory({ changes: deps.changes, pending, owner: () => current.owner });
  const tools = new ActiveTools(deps.createTools({ todos, artifacts: current.artifacts, pending, changes }));
  const systemPrompt = new SystemPrompt(() => deps.systemPrompt(tools.active));
  const retrySettings = () => session.settings.retry;
  const compaction = new CompactionController({
    clock,
    random,
    stream: deps.stream,
    emit,
    settings: () => session.settings.compaction,
    retrySettings,
    path,
    model: () => models.active,
    summarizers: () => models.summarizers(),
    budget,
    overheadTokens: () => Math.ceil((systemPrompt.text.length + JSON.stringify(tools.active).length) / 4),
    extensions: () => deps.extensions?.compaction,
    appendCompaction: (result) => {
      const summary = deps.secrets?.mask(result.summary) ?? result.summary;
      const entry = current.record.append({ type: "compaction", ...result, summary });
      pending.compacted();
      todos.compacted(current.record.context.todoEntries);
      return entry;
    },
    appendPrune: (entryIds) => void current.record.append({ type: "prune", entryIds }),
    appendUsage: (usage) => bill({ current }, usage),
  });
  const session: SessionInternals = {
    deps,
    current,
    events,
    queues,
    toolChoice,
    models,
    retry: new RetryController({ clock, random, settings: retrySettings, emit }),
    fallback: new RetryFallback({ clock, log, models, settings: retrySettings, emit }),
    budget,
    compaction,
    driver,
    todos,
    rules: new SessionRules({
      cwd: deps.cwd,
      log,
      settings: () => session.settings.ttsr,
      path,
      load: deps.loadRules?.bind(deps),
    }),
    tools,
    systemPrompt,
    bash: new BashExecutions({
      clock,
      log,
      home: () => createBashHome({ deps, current, driver, models, pending, detached }),
      whenIdle: () => driver.waitForIdle(),
    }),
    detached,
    pending,
    restored,
    changes,
    intake: new PromptIntake(clock),
    questions: new Questions(() => driver.isEnding),
    settings,
    wasForced: false,
    abortCount: 0,
    isOver: false,
  };
  restored.begin();
  return session;
}

/** What decides whether another run follows, at this moment. */
export function continuationOf(session: SessionInternals): ContinuationContext {
  const { rules, retry, fallback, budget, compaction, queues, todos, events, current, deps } = session;
  return {
    ttsr: rules.controller,
    retry,
    fallback,
    budget,
    compaction,
    queues,
    todos,
    isUserForced: () => session.wasForced,
    emit: (event) => events.emit(event),
    record: current.record,
    settings: () => session.settings,
    now: () => deps.clock.now(),
  };
}

/** Calls that were paid for and left nothing else behind. */
export function bill({ current }: Pick<SessionInternals, "current">, usage: UsageByModel): void {
  current.record.append({ type: "custom", customType: billedUsageType, data: { usage } });
}

function createModels(deps: AgentSessionDeps, current: CurrentRecord): ModelControl {
  return new ModelControl({
    ...deps,
    record: () => current.record,
    sessionId: () => current.record.sessionId,
    problemWith: (model) => deps.budget.problemWith(model),
    onSelected: (selected) => deps.extensions?.selected(selected),
  });
}

function forbidsForcedChoice({ active, activeThinkingLevel }: ModelControl): boolean {
  if (!active || (activeThinkingLevel ?? "off") === "off") return false;
  return capabilitiesOf(active).forbidsForcedChoiceWhileThinking;
}

function createQueues(events: EventStream<AgentSessionEvent>, settings: SessionSettings): MessageQueues {
  const queues: MessageQueues = new MessageQueues(() => announceQueues(events, queues));
  queues.steeringMode = settings.steeringMode;
  queues.followUpMode = settings.followUpMode;
  queues.interruptMode = settings.interruptMode;
  return queues;
}

/** The texts are made only if a subscriber looks at them. */
function announceQueues(events: EventStream<AgentSessionEvent>, queues: MessageQueues): void {
  const { steering, followUp } = queues.view();
  const texts = (items: readonly { message: AgentMessage }[]) =>
    items.filter(({ message }) => message.role === "user").map(({ message }) => plainText(message));
  events.emit({
    type: "queue_update",
    get steering() {
      return texts(steering());
    },
    get followUp() {
      return texts(followUp());
    },
  });
}
