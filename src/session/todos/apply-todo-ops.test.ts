import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import type { TodoPhase, TodoTask } from "../../protocol/todos.js";
import { allTasks, applyTodoOps, maxTasks, type TodoOp } from "./apply-todo-ops.js";
import { normalizeTodos } from "./normalize-todos.js";
import { todoSummary } from "./todo-text.js";
import { idsOf, sentPhases, todoOps } from "./todos.test-kit.js";

const task = (number: number, status: TodoTask["status"], content = `c${number}`): TodoTask => ({
  id: `task-${number}`,
  content,
  status,
});
const list: TodoPhase[] = [
  { id: "phase-1", name: "Build", tasks: [task(1, "completed"), task(2, "in_progress"), task(3, "pending")] },
  { id: "phase-2", name: "Ship", tasks: [task(4, "pending")] },
];

const shown = (phases: readonly TodoPhase[]) => allTasks(phases).map(({ id, status }) => `${id} ${status}`);

function apply(...ops: TodoOp[]) {
  const { phases, errors } = applyTodoOps(list, ops);
  return { shown: shown(phases), errors, phases };
}

describe("operations", () => {
  it("replace starts a new list with new ids, and its first task", () => {
    const phases = [
      {
        name: "A",
        tasks: [
          { content: "x", notes: "n" },
          { content: "y", details: "d" },
        ],
      },
      { name: "B" },
    ];
    expect(apply({ op: "replace", phases }).phases).toEqual([
      {
        id: "phase-1",
        name: "A",
        tasks: [
          { id: "task-1", content: "x", status: "in_progress", notes: "n" },
          { id: "task-2", content: "y", status: "pending", details: "d" },
        ],
      },
      { id: "phase-2", name: "B", tasks: [] },
    ]);
    expect(apply({ op: "replace", phases: [] }).phases).toEqual([]);
  });

  it("replace takes no ids from the model, whatever they are", () => {
    const phases = [{ id: 5, name: "A", tasks: [{ id: { a: 1 }, content: "x" }] }];
    expect(idsOf(apply({ op: "replace", phases }).phases)).toEqual({ phases: ["phase-1"], tasks: ["task-1"] });
  });

  it("add_phase goes to the end, with numbers that follow", () => {
    const { phases } = apply({
      op: "add_phase",
      name: "Rest",
      tasks: [{ content: "x" }, { content: "y", status: "completed" }],
    });
    expect(phases.at(-1)).toEqual({
      id: "phase-3",
      name: "Rest",
      tasks: [task(5, "pending", "x"), task(6, "completed", "y")],
    });
    expect(apply({ op: "add_phase", name: "Empty" }).phases.at(-1)).toEqual({
      id: "phase-3",
      name: "Empty",
      tasks: [],
    });
  });

  it("add_task goes to the end of its phase", () => {
    const { phases } = apply({ op: "add_task", phase: "phase-1", content: "x", notes: "n", details: "d" });
    expect(phases[0]?.tasks.at(-1)).toEqual({
      id: "task-5",
      content: "x",
      status: "pending",
      notes: "n",
      details: "d",
    });
    expect(phases[1]).toBe(list[1]);
  });

  it("update changes what it names", () => {
    const { phases } = apply({ op: "update", id: "task-3", content: "new", notes: "n", details: "d" });
    expect(phases[0]?.tasks[2]).toEqual({ id: "task-3", content: "new", status: "pending", notes: "n", details: "d" });
    expect(apply({ op: "update", id: "task-2", status: "completed" }).shown).toEqual([
      "task-1 completed",
      "task-2 completed",
      "task-3 in_progress",
      "task-4 pending",
    ]);
  });

  it("remove_task leaves the phase", () => {
    const { phases, shown: left } = apply({ op: "remove_task", id: "task-4" });
    expect(left).toEqual(["task-1 completed", "task-2 in_progress", "task-3 pending"]);
    expect(phases[1]).toEqual({ id: "phase-2", name: "Ship", tasks: [] });
  });

  it("apply in order, each on what the last one left", () => {
    const { shown: left, errors } = apply(
      { op: "add_phase", name: "P" },
      { op: "add_task", phase: "phase-3", content: "x" },
      { op: "update", id: "task-5", status: "abandoned" },
      { op: "remove_task", id: "task-1" },
    );
    expect(errors).toEqual([]);
    expect(left).toEqual(["task-2 in_progress", "task-3 pending", "task-4 pending", "task-5 abandoned"]);
  });

  it("keep the first task that is in progress and stop the later ones", () => {
    expect(apply({ op: "update", id: "task-4", status: "in_progress" }).shown[3]).toBe("task-4 pending");
    expect(apply({ op: "update", id: "task-1", status: "in_progress" }).shown).toEqual([
      "task-1 in_progress",
      "task-2 pending",
      "task-3 pending",
      "task-4 pending",
    ]);
  });

  it("leave nothing in progress where nothing is open", () => {
    const ops = [2, 3, 4].map((number): TodoOp => ({ op: "update", id: `task-${number}`, status: "completed" }));
    expect(apply(...ops).shown.join()).not.toContain("in_progress");
  });

  it("never take an odd id for a number", () => {
    const odd = normalizeTodos([
      {
        name: "P",
        tasks: [
          { id: "task-99999999999999999999", content: "a" },
          { id: "task-x", content: "b" },
        ],
      },
    ]);
    const { phases } = applyTodoOps(odd, [{ op: "add_task", phase: "phase-1", content: "c" }]);
    expect(idsOf(phases).tasks[2]).toBe("task-1");
  });
});

describe("errors", () => {
  it("are listed, and the rest still applies", () => {
    const { errors, shown: left } = apply(
      { op: "add_task", phase: "phase-9", content: "x" },
      { op: "update", id: "task-9", status: "completed" },
      { op: "remove_task", id: "x".repeat(200) },
      { op: "remove_task", id: "task-3" },
      { op: "replace" },
      { op: "add_phase" },
      { op: "add_task", phase: "phase-1" },
      { op: "update" },
      { op: "remove_task" },
    );
    expect(errors).toEqual([
      'Phase "phase-9" not found',
      'Task "task-9" not found',
      `Task "${"x".repeat(80)}…" not found`,
      "replace needs phases",
      "add_phase needs name",
      "add_task needs phase and content",
      "update needs id",
      "remove_task needs id",
    ]);
    expect(left).toEqual(["task-1 completed", "task-2 in_progress", "task-4 pending"]);
  });

  it("end a list that grows for ever, but not the work on one that is long already", () => {
    const many = (count: number) => [{ name: "P", tasks: Array.from({ length: count }, () => ({ content: "x" })) }];
    expect(apply({ op: "replace", phases: many(maxTasks + 1) }).errors).toEqual(["More than 500 tasks"]);
    const full = applyTodoOps([], [{ op: "replace", phases: many(maxTasks) }]).phases;
    expect(applyTodoOps(full, [{ op: "add_task", phase: "phase-1", content: "x" }]).errors).toHaveLength(1);
    const sent = normalizeTodos(many(maxTasks + 5));
    expect(applyTodoOps(sent, [{ op: "update", id: "task-2", status: "completed" }]).errors).toEqual([]);
  });
});

describe("whatever the operations", () => {
  it("ids are unique, at most one task is in progress, and one is if any is open", () => {
    fc.assert(
      fc.property(sentPhases, todoOps, (sent, ops) => {
        const { phases } = applyTodoOps(normalizeTodos(sent), ops);
        const ids = idsOf(phases);
        expect(new Set(ids.phases).size).toBe(ids.phases.length);
        expect(new Set(ids.tasks).size).toBe(ids.tasks.length);
        const states = allTasks(phases).map(({ status }) => status);
        const isAnyOpen = states.includes("pending") || states.includes("in_progress");
        expect(states.filter((status) => status === "in_progress")).toHaveLength(isAnyOpen ? 1 : 0);
      }),
      { numRuns: runs(1000) },
    );
  });

  it("no task is lost but by remove_task and replace, and the input stays as it was", () => {
    fc.assert(
      fc.property(sentPhases, todoOps, (sent, ops) => {
        const before = normalizeTodos(sent);
        const copy = structuredClone(before);
        const kept = ops.filter(({ op }) => op !== "replace");
        const { phases } = applyTodoOps(before, kept);
        expect(before).toEqual(copy);
        const removed = new Set(kept.flatMap(({ op, id = "" }) => (op === "remove_task" ? [id] : [])));
        const expected = idsOf(before).tasks.filter((id) => !removed.has(id));
        expect(idsOf(phases).tasks).toEqual(expect.arrayContaining(expected));
        expect(idsOf(phases).phases).toEqual(expect.arrayContaining(idsOf(before).phases));
      }),
      { numRuns: runs(1000) },
    );
  });

  it("what nothing touched is the same object", () => {
    const { phases } = applyTodoOps(list, [{ op: "add_task", phase: "phase-2", content: "x" }]);
    expect(phases[0]).toBe(list[0]);
    expect(phases[1]?.tasks[0]).toBe(list[1]?.tasks[0]);
  });
});

describe("todoSummary", () => {
  it("lists what is left and the phase that is under way", () => {
    expect(todoSummary(list, [])).toBe(
      [
        "Remaining items (3):",
        "- task-2 [in_progress] c2 (phase-1)",
        "- task-3 [pending] c3 (phase-1)",
        "- task-4 [pending] c4 (phase-2)",
        'Phase 1/2 "Build" — 1/3 tasks complete',
      ].join("\n"),
    );
  });

  it("puts errors first", () => {
    const errors = ['Phase "phase-9" not found', 'Task "task-9" not found'];
    const done: TodoPhase[] = [{ id: "phase-1", name: "A", tasks: [task(1, "abandoned")] }];
    expect(todoSummary(done, errors)).toBe(
      'Errors: Phase "phase-9" not found; Task "task-9" not found\nRemaining items (0):\nPhase 1/1 "A" — 1/1 tasks complete',
    );
    expect(todoSummary([], errors.slice(1))).toBe('Errors: Task "task-9" not found');
  });

  it("says when nothing is left", () => {
    expect(todoSummary([], [])).toBe("Todo list cleared.");
  });

  it("stays short", () => {
    const tasks = Array.from({ length: 60 }, (_, index) => task(index, "pending", "long\n".repeat(1000)));
    const text = todoSummary([{ id: "phase-1", name: "n".repeat(1000), tasks }], []);
    expect(text.length).toBeLessThan(20_000);
    expect(text.split("\n")).toHaveLength(1 + 50 + 1 + 1);
    expect(text).toContain("\n- … and 10 more\n");
  });
});
