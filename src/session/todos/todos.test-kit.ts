// Random todo lists and operations, for the tests that try them all.

import fc from "fast-check";
import type { TodoPhase, TodoPhaseInput, TodoStatus } from "../../protocol/todos.js";
import type { TodoOp } from "./apply-todo-ops.js";

export const statuses = fc.constantFrom<TodoStatus>("pending", "in_progress", "completed", "abandoned");
const text = fc.constantFrom("Map it", "Build", "Test", "x");
const optional = { requiredKeys: ["content"] as "content"[] };
const newTask = fc.record({ content: text, status: statuses, notes: text, details: text }, optional);
const newTasks = fc.array(newTask, { maxLength: 4 });
const newPhase = fc.record({ name: text, tasks: newTasks }, { requiredKeys: ["name"] });
const taskId = fc.nat(8).map((number) => `task-${number}`);
const phaseId = fc.nat(4).map((number) => `phase-${number}`);

export const todoOps: fc.Arbitrary<TodoOp[]> = fc.array(
  fc.oneof(
    fc.record({ op: fc.constant("replace" as const), phases: fc.array(newPhase, { maxLength: 3 }) }),
    fc.record({ op: fc.constant("add_phase" as const), name: text, tasks: newTasks }),
    fc.record({ op: fc.constant("add_task" as const), phase: phaseId, content: text }),
    fc.record({ op: fc.constant("update" as const), id: taskId, status: statuses }),
    fc.record({ op: fc.constant("update" as const), id: taskId, content: text, notes: text }),
    fc.record({ op: fc.constant("remove_task" as const), id: taskId }),
    fc.record({ op: fc.constantFrom("replace", "add_phase", "add_task", "update", "remove_task") }),
  ),
  { maxLength: 8 },
);

const id = fc.constantFrom("", "task-1", "task-2", "task-9", "phase-1", "phase-2", "mine");
const sentTask = fc.record({ id, content: text, status: statuses, notes: text, details: text }, optional);
export const sentPhases: fc.Arbitrary<TodoPhaseInput[]> = fc.array(
  fc.record({ id, name: text, tasks: fc.array(sentTask, { maxLength: 5 }) }, { requiredKeys: ["name"] }),
  { maxLength: 5 },
);

/** Ids of both kinds, each kind by itself without repetition. */
export function idsOf(phases: readonly TodoPhase[]): { phases: string[]; tasks: string[] } {
  return {
    phases: phases.map((phase) => phase.id),
    tasks: phases.flatMap(({ tasks }) => tasks.map((task) => task.id)),
  };
}
