import { describe, expect, it } from "vitest";
import { validateArguments } from "../loop/validate-arguments.js";
import { defaultTodoSettings, TodoTracker } from "../session/todos/todo-tracker.js";
import { manualClock } from "../testing/manual-clock.js";
import { createTodoWrite } from "./todo-write.js";

function tool() {
  const store = new TodoTracker({ clock: manualClock(), emit: () => {}, settings: () => defaultTodoSettings });
  return createTodoWrite({ store, storage: () => "memory" });
}

const run = async (made: ReturnType<typeof tool>, args: unknown) => {
  const checked = validateArguments("todo_write", made.parameters, args);
  if (!checked.ok) throw new Error(checked.text);
  return made.execute("call_1", checked.args as never, undefined, () => {}, { cwd: "/" });
};

it("keeps a list and answers with what is left", async () => {
  const made = tool();
  expect({ name: made.name, concurrency: made.concurrency, approval: made.approval }).toEqual({
    name: "todo_write",
    concurrency: "exclusive",
    approval: "read",
  });
  const phases = [{ name: "Build", tasks: [{ content: "Map it" }, { content: "Write tests", notes: null }] }];
  expect(await run(made, { ops: [{ op: "replace", phases }] })).toEqual({
    content: [
      {
        type: "text",
        text: [
          "Remaining items (2):",
          "- task-1 [in_progress] Map it (phase-1)",
          "- task-2 [pending] Write tests (phase-1)",
          'Phase 1/1 "Build" — 0/2 tasks complete',
        ].join("\n"),
      },
    ],
    details: {
      storage: "memory",
      phases: [
        {
          id: "phase-1",
          name: "Build",
          tasks: [
            { id: "task-1", content: "Map it", status: "in_progress" },
            { id: "task-2", content: "Write tests", status: "pending" },
          ],
        },
      ],
    },
  });
  expect(await run(made, { ops: [{ op: "replace", phases: [] }] })).toEqual({
    content: [{ type: "text", text: "Todo list cleared." }],
    details: { phases: [], storage: "memory" },
  });
});

it("lists errors in its answer and applies the rest", async () => {
  const made = tool();
  const ops = [
    { op: "add_task", phase: "phase-9", content: "x" },
    { op: "add_phase", name: "Build", tasks: [{ content: "Map it" }] },
    { op: "update", id: "task-9", status: "completed" },
  ];
  expect((await run(made, { ops })).content).toEqual([
    {
      type: "text",
      text: [
        'Errors: Phase "phase-9" not found; Task "task-9" not found',
        "Remaining items (1):",
        "- task-1 [in_progress] Map it (phase-1)",
        'Phase 1/1 "Build" — 0/1 tasks complete',
      ].join("\n"),
    },
  ]);
});

describe("refuses", () => {
  it.each([
    [{}],
    [{ ops: [{ op: "clear" }] }],
    [{ ops: [{ op: "add_phase", name: " " }] }],
    [{ ops: [{ op: "update", id: "task-1", status: "done" }] }],
    [{ ops: [{ op: "add_task", phase: "phase-1", content: "x".repeat(2001) }] }],
    [{ ops: Array.from({ length: 101 }, () => ({ op: "update" })) }],
  ])("%j", async (args) => {
    await expect(run(tool(), args)).rejects.toThrow('Validation failed for tool "todo_write"');
  });
});
