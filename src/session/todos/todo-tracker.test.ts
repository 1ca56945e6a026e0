import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AssistantMessage } from "../../protocol/messages.js";
import type { TodoPhaseInput, TodoStatus } from "../../protocol/todos.js";
import { zeroUsage } from "../../provider/provider.js";
import { type ManualClock, manualClock } from "../../testing/manual-clock.js";
import { defaultTodoSettings, type TodoSettings, TodoTracker } from "./todo-tracker.js";
import { sentPhases, todoOps } from "./todos.test-kit.js";

interface Tracked {
  tracker: TodoTracker;
  clock: ManualClock;
  events: string[];
}

function tracked(settings: Partial<TodoSettings> = {}): Tracked {
  const clock = manualClock(1000);
  const events: string[] = [];
  const tracker = new TodoTracker({
    clock,
    emit: ({ type }) => events.push(type),
    settings: () => ({ ...defaultTodoSettings, ...settings }),
  });
  return { tracker, clock, events };
}

function phase(...tasks: [string, TodoStatus][]): TodoPhaseInput {
  return { name: "P", tasks: tasks.map(([content, status]) => ({ content, status })) };
}

const contents = (tracker: TodoTracker) => tracker.get().map(({ tasks }) => tasks.map(({ content }) => content));

function reply(text: string, changes: Partial<AssistantMessage> = {}): AssistantMessage {
  const content: AssistantMessage["content"] = [{ type: "text", text }];
  const message = { role: "assistant", content, api: "x", provider: "x", model: "x", usage: zeroUsage } as const;
  return { ...message, stopReason: "stop", timestamp: 1, ...changes };
}

describe("the list", () => {
  it("is what a host sets, normalized", () => {
    const { tracker } = tracked();
    const stored = tracker.set([{ name: "P", tasks: [{ content: "a", details: "d" }] }]);
    expect(stored).toEqual([
      { id: "phase-1", name: "P", tasks: [{ id: "task-1", content: "a", status: "pending", details: "d" }] },
    ]);
    expect(tracker.get()).toEqual(stored);
    expect(tracker.set([])).toEqual([]);
  });

  it("is what operations make of it", () => {
    const { tracker } = tracked();
    tracker.set([phase(["a", "pending"])]);
    expect(
      tracker.applyOps([
        { op: "update", id: "task-1", status: "completed" },
        { op: "remove_task", id: "x" },
      ]),
    ).toBe('Errors: Task "x" not found\nRemaining items (0):\nPhase 1/1 "P" — 1/1 tasks complete');
    expect(tracker.get()[0]?.tasks[0]?.status).toBe("completed");
  });

  it("given out once stays as it was", () => {
    const { tracker } = tracked();
    const first = tracker.set([phase(["a", "pending"])]);
    const copy = structuredClone(first);
    tracker.applyOps([{ op: "update", id: "task-1", content: "b" }]);
    expect(first).toEqual(copy);
  });
});

describe("restoring", () => {
  const result = (phases: unknown, changes: Record<string, unknown> = {}) => ({
    type: "message",
    message: { role: "toolResult", toolName: "todo_write", isError: false, details: { phases }, ...changes },
  });
  const stored = (status: TodoStatus, content = "a") => [
    { id: "phase-3", name: "P", tasks: [{ id: "task-7", content, status, details: "d" }] },
  ];

  it("takes the last good result on the path", () => {
    const { tracker } = tracked();
    tracker.restore([
      result(stored("pending", "old")),
      result(stored("in_progress", "good")),
      result(stored("pending", "failed"), { isError: true }),
      result(stored("pending", "other tool"), { toolName: "read" }),
      result(stored("pending", "no result"), { role: "custom" }),
      { type: "label" },
    ]);
    expect(tracker.get()).toEqual(stored("in_progress", "good"));
  });

  it.each([
    undefined,
    null,
    "x",
    [null],
    [{ id: "p", name: "P" }],
    [{ id: "p", name: 1, tasks: [] }],
    [{ id: "p", name: "P", tasks: [{ id: "t", content: "c", status: "done" }] }],
    [{ id: "p", name: "P", tasks: [{ id: "t", content: "c", status: ["pending"] }] }],
    [{ id: "p", name: "P", tasks: [{ id: "t", content: "c", status: "pending", notes: 1 }] }],
  ])("passes over %j", (phases) => {
    const { tracker } = tracked();
    tracker.restore([result(stored("pending")), result(phases), { type: "message" }]);
    expect(tracker.get()).toEqual(stored("pending"));
  });

  it("leaves finished tasks behind, and phases that had nothing else", () => {
    const { tracker, clock, events } = tracked();
    tracker.restore([
      result([
        ...stored("completed"),
        {
          id: "phase-4",
          name: "Q",
          tasks: [
            { id: "task-8", content: "b", status: "abandoned" },
            { id: "task-9", content: "c", status: "pending" },
          ],
        },
        { id: "phase-5", name: "Empty", tasks: [] },
      ]),
    ]);
    expect(tracker.get().map(({ id, tasks }) => [id, tasks.map((task) => task.id)])).toEqual([
      ["phase-4", ["task-9"]],
      ["phase-5", []],
    ]);
    clock.advance(100_000);
    expect(events).toEqual([]);
  });

  it("empties the list of a path without any, and stops its timers", () => {
    const { tracker, clock, events } = tracked();
    tracker.set([phase(["a", "completed"], ["b", "pending"])]);
    tracker.restore([]);
    expect(tracker.get()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
    clock.advance(100_000);
    expect(events).toEqual([]);
  });
});

describe("reminders", () => {
  const open = () => {
    const made = tracked();
    made.tracker.set([phase(["Map it", "in_progress"], ["Read", "completed"], ["Write tests", "pending"])]);
    return made;
  };

  it("name what is open", () => {
    const { tracker } = open();
    expect(tracker.isReminderDue(reply("Done."))).toBe(true);
    expect(tracker.takeReminder()).toEqual({
      event: {
        type: "todo_reminder",
        todos: [
          { id: "task-1", content: "Map it", status: "in_progress" },
          { id: "task-3", content: "Write tests", status: "pending" },
        ],
        attempt: 1,
        maxAttempts: 3,
      },
      message: {
        role: "developer",
        content: [
          {
            type: "text",
            text: [
              "You stopped with 2 incomplete todo item(s):",
              "- task-1 [in_progress] Map it",
              "- task-3 [pending] Write tests",
              "",
              "Go on with them. If they are done, or not wanted any more, say so with todo_write.",
              "(Reminder 1/3)",
            ].join("\n"),
          },
        ],
        attribution: "agent",
        timestamp: 1000,
      },
    });
  });

  it("come three times for one prompt", () => {
    const { tracker } = open();
    for (const attempt of [1, 2, 3]) {
      expect(tracker.isReminderDue(reply("Done."))).toBe(true);
      expect(tracker.takeReminder()?.event).toMatchObject({ attempt, maxAttempts: 3 });
    }
    expect(tracker.isReminderDue(reply("Done."))).toBe(false);
    tracker.promptStart();
    expect(tracker.isReminderDue(reply("Done."))).toBe(true);
  });

  it.each([
    ["an error", reply("", { stopReason: "error" })],
    ["an abort", reply("", { stopReason: "aborted" })],
    ["tool calls", reply("", { content: [{ type: "toolCall", id: "c", name: "read", arguments: {} }] })],
    ["a question", reply("Shall I go on?")],
    ["a question and space", reply("Shall I go on? \n")],
    ["a question in marks", reply('I have: **"Shall I go on?"**')],
    ["a question in another script", reply("続けますか？")],
    [
      "a question before thinking",
      reply("", {
        content: [
          { type: "text", text: "Which one?" },
          { type: "thinking", thinking: "hm" },
          { type: "text", text: " " },
        ],
      }),
    ],
  ])("do not follow %s", (_what, message) => {
    expect(open().tracker.isReminderDue(message)).toBe(false);
  });

  it.each([
    reply("Why? Because."),
    reply("What now?", {
      content: [
        { type: "text", text: "What now?" },
        { type: "text", text: "Nothing." },
      ],
    }),
    reply("", { content: [] }),
    reply("cut", { stopReason: "length" }),
  ])("follow any other end (%#)", (message) => {
    expect(open().tracker.isReminderDue(message)).toBe(true);
  });

  it("do not follow a turn that the user forced, nor an empty or finished list", () => {
    const { tracker } = open();
    expect(tracker.isReminderDue(reply("Done."), { isUserForced: true })).toBe(false);
    tracker.set([phase(["a", "completed"], ["b", "abandoned"])]);
    expect(tracker.isReminderDue(reply("Done."))).toBe(false);
    expect(tracker.takeReminder()).toBeUndefined();
  });

  it.each([{ enabled: false }, { reminders: false }, { remindersMax: 0 }])("do not come with %j", (settings) => {
    const { tracker } = tracked(settings);
    tracker.set([phase(["a", "pending"])]);
    expect(tracker.isReminderDue(reply("Done."))).toBe(false);
  });
});

describe("auto clear", () => {
  it("removes a finished task after its delay, and a phase that is empty then", () => {
    const { tracker, clock, events } = tracked();
    tracker.set([phase(["a", "completed"]), phase(["b", "pending"], ["c", "abandoned"]), { name: "Empty" }]);
    clock.advance(59_999);
    expect(contents(tracker)).toEqual([["a"], ["b", "c"], []]);
    expect(events).toEqual([]);
    clock.advance(1);
    expect(contents(tracker)).toEqual([["b"], []]);
    expect(events).toEqual(["todo_auto_clear"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("gives each task its own hour", () => {
    const { tracker, clock, events } = tracked();
    tracker.set([phase(["a", "pending"], ["b", "pending"])]);
    tracker.applyOps([{ op: "update", id: "task-1", status: "completed" }]);
    clock.advance(30_000);
    tracker.applyOps([{ op: "update", id: "task-2", status: "completed" }]);
    clock.advance(30_000);
    expect(contents(tracker)).toEqual([["b"]]);
    clock.advance(30_000);
    expect(contents(tracker)).toEqual([]);
    expect(events).toEqual(["todo_auto_clear", "todo_auto_clear"]);
  });

  it.each([
    ["set", ({ tracker }: Tracked) => tracker.set([phase(["new", "completed"])])],
    [
      "replace",
      ({ tracker }: Tracked) =>
        tracker.applyOps([
          { op: "replace", phases: [{ name: "P", tasks: [{ content: "new", status: "completed" }] }] },
        ]),
    ],
    [
      "an id that is used again",
      ({ tracker }: Tracked) =>
        tracker.applyOps([
          { op: "remove_task", id: "task-1" },
          { op: "add_task", phase: "phase-1", content: "new" },
          { op: "update", id: "task-1", status: "completed" },
        ]),
    ],
  ])("does not take a new task at the hour of the old one: %s", (_how, change) => {
    const made = tracked();
    made.tracker.set([phase(["old", "completed"])]);
    made.clock.advance(59_000);
    change(made);
    made.clock.advance(30_000);
    expect(contents(made.tracker)).toEqual([["new"]]);
    expect(made.events).toEqual([]);
    made.clock.advance(30_000);
    expect(contents(made.tracker)).toEqual([]);
    expect(made.events).toEqual(["todo_auto_clear"]);
  });

  it("spares a task that was opened again", () => {
    const { tracker, clock, events } = tracked();
    tracker.set([phase(["a", "completed"])]);
    tracker.applyOps([{ op: "update", id: "task-1", status: "pending" }]);
    clock.advance(100_000);
    expect(contents(tracker)).toEqual([["a"]]);
    expect(events).toEqual([]);
  });

  it("happens at once with 0, after the answer was given, and never with a negative delay", () => {
    const atOnce = tracked({ clearDelaySeconds: 0 });
    expect(atOnce.tracker.set([phase(["a", "completed"])])).toHaveLength(1);
    atOnce.clock.advance(0);
    expect(atOnce.tracker.get()).toEqual([]);
    expect(atOnce.events).toEqual(["todo_auto_clear"]);
    const never = tracked({ clearDelaySeconds: -1 });
    never.tracker.set([phase(["a", "completed"])]);
    expect(never.clock.pendingTimers).toBe(0);
  });

  it("is not fooled by a delay that no timer can hold", () => {
    const { tracker, clock } = tracked({ clearDelaySeconds: 1e12 });
    tracker.set([phase(["a", "completed"])]);
    clock.advance(2 ** 31 - 2);
    expect(tracker.get()).toHaveLength(1);
  });

  it("ends with the session", () => {
    const { tracker, clock, events } = tracked();
    tracker.set([phase(["a", "completed"])]);
    tracker.dispose();
    expect(clock.pendingTimers).toBe(0);
    clock.advance(100_000);
    expect(events).toEqual([]);
  });

  it("takes finished tasks only, and all of them in the end, whatever happens in between", () => {
    const steps = fc.array(
      fc.tuple(
        fc.nat(40_000),
        fc.oneof(
          todoOps,
          sentPhases.map((phases) => ({ phases })),
        ),
      ),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(steps, (all) => {
        const { tracker, clock } = tracked();
        const openTasks = () =>
          tracker
            .get()
            .flatMap(({ tasks }) => tasks.filter(({ status }) => status === "pending" || status === "in_progress"));
        for (const [waitMs, change] of all) {
          if (Array.isArray(change)) tracker.applyOps(change);
          else tracker.set(change.phases);
          const before = openTasks();
          clock.advance(waitMs);
          expect(openTasks()).toEqual(before);
        }
        clock.advance(60_000);
        expect(tracker.get().flatMap(({ tasks }) => tasks)).toEqual(openTasks());
        expect(clock.pendingTimers).toBe(0);
      }),
    );
  });
});
