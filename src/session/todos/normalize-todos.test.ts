import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normalizeTodos } from "./normalize-todos.js";
import { idsOf, sentPhases } from "./todos.test-kit.js";

describe("normalizeTodos", () => {
  it("fills in ids and status and keeps everything else", () => {
    expect(
      normalizeTodos([
        { name: "One", tasks: [{ content: "a" }, { content: "b", status: "completed", notes: "n", details: "d" }] },
        { name: "Two" },
        { name: "Three", tasks: [{ content: "c", status: "in_progress" }] },
      ]),
    ).toEqual([
      {
        id: "phase-1",
        name: "One",
        tasks: [
          { id: "task-1", content: "a", status: "pending" },
          { id: "task-2", content: "b", status: "completed", notes: "n", details: "d" },
        ],
      },
      { id: "phase-2", name: "Two", tasks: [] },
      { id: "phase-3", name: "Three", tasks: [{ id: "task-3", content: "c", status: "in_progress" }] },
    ]);
  });

  it.each([
    [
      ["a", "b"],
      ["a", "b"],
    ],
    [
      [undefined, "x", undefined],
      ["task-1", "x", "task-3"],
    ],
    [
      ["task-1", "task-1", "task-1"],
      ["task-1", "task-2", "task-3"],
    ],
    [
      [undefined, "task-1"],
      ["task-2", "task-1"],
    ],
    [
      [undefined, "task-1", undefined, "task-3"],
      ["task-2", "task-1", "task-4", "task-3"],
    ],
    [
      ["", "x", "x"],
      ["task-1", "x", "task-3"],
    ],
  ])("numbers %j as %j", (sent, expected) => {
    const tasks = sent.map((id) => ({ content: "x", ...(id === undefined ? {} : { id }) }));
    expect(idsOf(normalizeTodos([{ name: "P", tasks }])).tasks).toEqual(expected);
    const perPhase = tasks.map((task) => ({ name: "P", tasks: [task] }));
    expect(idsOf(normalizeTodos(perPhase)).tasks).toEqual(expected);
    const phases = sent.map((id) => ({ name: "P", ...(id === undefined ? {} : { id: id.replace("task", "phase") }) }));
    expect(idsOf(normalizeTodos(phases)).phases).toEqual(expected.map((id) => id.replace("task", "phase")));
  });

  it("keeps several tasks in progress, and an empty list empty", () => {
    const tasks = [
      { content: "a", status: "in_progress" as const },
      { content: "b", status: "in_progress" as const },
    ];
    expect(normalizeTodos([{ name: "P", tasks }])[0]?.tasks.map(({ status }) => status)).toEqual([
      "in_progress",
      "in_progress",
    ]);
    expect(normalizeTodos([])).toEqual([]);
  });

  it("drops what it does not know", () => {
    const sent = [{ name: "P", color: "red", tasks: [{ content: "a", priority: 1 }] }];
    expect(normalizeTodos(sent)).toEqual([
      { id: "phase-1", name: "P", tasks: [{ id: "task-1", content: "a", status: "pending" }] },
    ]);
  });

  it("makes ids unique, loses nothing, and leaves a good list alone", () => {
    fc.assert(
      fc.property(sentPhases, (sent) => {
        const list = normalizeTodos(sent);
        const ids = idsOf(list);
        expect(new Set(ids.phases).size).toBe(ids.phases.length);
        expect(new Set(ids.tasks).size).toBe(ids.tasks.length);
        expect(list.map(({ name, tasks }) => [name, tasks.map(({ content }) => content)])).toEqual(
          sent.map(({ name, tasks = [] }) => [name, tasks.map(({ content }) => content)]),
        );
        expect(normalizeTodos(list)).toEqual(list);
      }),
    );
  });
});
