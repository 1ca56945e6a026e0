// The todo list of a session: who may change it, how it comes back from a session file, when the model is reminded of
// it, and how finished tasks leave it. The list is in memory; what the tool makes of it is in the tool's results.

import type { Clock } from "../../base/clock.js";
import { isObject } from "../../base/json.js";
import type { SessionEvent } from "../../protocol/events.js";
import type { AssistantMessage, DeveloperMessage } from "../../protocol/messages.js";
import type { TodoPhase, TodoPhaseInput, TodoStatus, TodoTask } from "../../protocol/todos.js";
import { allTasks, applyTodoOps, type TodoOp } from "./apply-todo-ops.js";
import { normalizeTodos } from "./normalize-todos.js";
import { isOpen, reminderText, todoSummary } from "./todo-text.js";

export interface TodoSettings {
  readonly enabled: boolean;
  readonly reminders: boolean;
  /** For each user prompt. */
  readonly remindersMax: number;
  /** How long a finished task stays; 0: not at all; negative: for ever. */
  readonly clearDelaySeconds: number;
  /** A plan comes before the first piece of work; see `eager-todo.ts`. */
  readonly eager?: boolean;
}

export const defaultTodoSettings: TodoSettings = {
  enabled: true,
  reminders: true,
  remindersMax: 3,
  clearDelaySeconds: 60,
};

export interface TodoTrackerOptions {
  readonly clock: Clock;
  emit(event: Extract<SessionEvent, { type: "todo_auto_clear" }>): void;
  /** Asked whenever it matters, so that a change counts at once. */
  settings(): TodoSettings;
}

export interface TodoReminder {
  /** To be emitted after `agent_end`. */
  readonly event: Extract<SessionEvent, { type: "todo_reminder" }>;
  /** To open the next run with. */
  readonly message: DeveloperMessage;
}

type Entries = readonly { readonly type: string; readonly message?: unknown }[];

export class TodoTracker {
  readonly #options: TodoTrackerOptions;
  /** Replaced, never changed: what was given out stays as it was. */
  #phases: readonly TodoPhase[] = [];
  readonly #timers = new Set<() => void>();
  #reminders = 0;

  constructor(options: TodoTrackerOptions) {
    this.#options = options;
  }

  get(): TodoPhase[] {
    return [...this.#phases];
  }

  /** A host's list replaces the old one. */
  set(phases: readonly TodoPhaseInput[]): TodoPhase[] {
    this.#cancelTimers();
    this.#change(normalizeTodos(phases));
    return this.get();
  }

  /** What to tell the model about it. */
  applyOps(ops: readonly TodoOp[]): string {
    const { phases, errors } = applyTodoOps(this.#phases, ops);
    this.#change(phases);
    return todoSummary(phases, errors);
  }

  /** The session is another one now, or at another entry. `results`: those of the tool on its path. */
  restore(results: Entries): void {
    this.#reminders = 0;
    this.#take(lastPhases(results) ?? []);
  }

  /** The conversation was summarised: the list is what the model made of it last, if it ever made one. */
  compacted(results: Entries): void {
    const last = lastPhases(results);
    if (last) this.#take(last);
  }

  /** A prompt of the user: the count of reminders starts again. */
  promptStart(): void {
    this.#reminders = 0;
  }

  /**
   * Whether the model, which has just ended its run with this reply, is to be told of open tasks. `isUserForced`: the
   * user had chosen the tool of this turn, and is not to be led away from it.
   */
  isReminderDue(reply: AssistantMessage, { isUserForced = false } = {}): boolean {
    const { enabled, reminders, remindersMax } = this.#options.settings();
    if (!enabled || !reminders || isUserForced || this.#reminders >= remindersMax) return false;
    if (reply.stopReason === "error" || reply.stopReason === "aborted") return false;
    if (reply.content.some(({ type }) => type === "toolCall") || endsWithQuestion(reply)) return false;
    return allTasks(this.#phases).some(isOpen);
  }

  /** The reminder, which then counts as given. Undefined if the last open task is gone by now. */
  takeReminder(): TodoReminder | undefined {
    const { clock, settings } = this.#options;
    const open = allTasks(this.#phases).filter(isOpen);
    if (open.length === 0) return undefined;
    const attempt = ++this.#reminders;
    const maxAttempts = settings().remindersMax;
    return {
      event: {
        type: "todo_reminder",
        todos: open.map(({ id, content, status }) => ({ id, content, status })),
        attempt,
        maxAttempts,
      },
      message: {
        role: "developer",
        content: [{ type: "text", text: reminderText(open, attempt, maxAttempts) }],
        attribution: "agent",
        timestamp: clock.now(),
      },
    };
  }

  /** The session ends; nothing is emitted any more. */
  dispose(): void {
    this.#cancelTimers();
  }

  /** A list from the record: tasks that were finished then are removed. */
  #take(phases: readonly TodoPhase[]): void {
    this.#cancelTimers();
    this.#phases = without(phases, (task) => !isOpen(task));
  }

  #change(phases: readonly TodoPhase[]): void {
    const before = new Set(allTasks(this.#phases));
    this.#phases = phases;
    const finished = allTasks(phases).filter((task) => !isOpen(task) && !before.has(task));
    if (finished.length > 0) this.#clearLater(new Set(finished));
  }

  /**
   * By the task itself and not by its id: a new list may reuse the old ids, and its tasks must not be removed at the
   * time of the old ones.
   */
  #clearLater(finished: ReadonlySet<TodoTask>): void {
    const { clearDelaySeconds } = this.#options.settings();
    if (clearDelaySeconds < 0) return;
    const cancel = this.#options.clock.after(clearDelaySeconds * 1000, () => {
      this.#timers.delete(cancel);
      const rest = without(this.#phases, (task) => finished.has(task));
      if (allTasks(rest).length === allTasks(this.#phases).length) return;
      this.#phases = rest;
      this.#options.emit({ type: "todo_auto_clear" });
    });
    this.#timers.add(cancel);
  }

  #cancelTimers(): void {
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }
}

/** Phases that lose their last task go with it. */
function without(phases: readonly TodoPhase[], isLeaving: (task: TodoTask) => boolean): TodoPhase[] {
  return phases.flatMap((phase) => {
    const tasks = phase.tasks.filter((task) => !isLeaving(task));
    if (tasks.length === phase.tasks.length) return [phase];
    return tasks.length === 0 ? [] : [{ ...phase, tasks }];
  });
}

/** The user is to answer, not the model. Closing quotes and marks may follow the question mark. */
function endsWithQuestion({ content }: AssistantMessage): boolean {
  const last = content.findLast((block) => block.type === "text" && block.text.trim() !== "");
  return last?.type === "text" && /[?？؟][\s"'”’»)\]*_`]*$/.test(last.text.slice(-200));
}

function lastPhases(results: Entries): TodoPhase[] | undefined {
  for (let index = results.length - 1; index >= 0; index--) {
    const phases = phasesOf(results[index]?.message);
    if (phases) return phases;
  }
  return undefined;
}

/** The list in the result of a todo_write call; undefined for any other message, and for one that failed. */
function phasesOf(message: unknown): TodoPhase[] | undefined {
  if (!isObject(message) || message.role !== "toolResult" || message.toolName !== "todo_write") return undefined;
  if (message.isError === true || !isObject(message.details)) return undefined;
  const { phases } = message.details;
  return Array.isArray(phases) && phases.every(isPhase) ? normalizeTodos(phases) : undefined;
}

/** Other programs write session files too: nothing is taken for granted. */
function isPhase(value: unknown): value is TodoPhase {
  return (
    isObject(value) && isText(value.id) && isText(value.name) && Array.isArray(value.tasks) && value.tasks.every(isTask)
  );
}

const statuses: readonly TodoStatus[] = ["pending", "in_progress", "completed", "abandoned"];

function isTask(value: unknown): value is TodoTask {
  if (!isObject(value) || !isText(value.id) || !isText(value.content)) return false;
  const isStatus = statuses.some((status) => status === value.status);
  return isStatus && isTextOrAbsent(value.notes) && isTextOrAbsent(value.details);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || isText(value);
}
