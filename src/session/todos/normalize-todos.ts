// A todo list as it is kept, from one as a host sends it: every phase and task has an id of its own, every task a
// status. What was sent is otherwise kept as it is, in its order.

import type { TodoPhase, TodoPhaseInput, TodoTask } from "../../protocol/todos.js";

/** The input is already checked; unknown members are left behind. */
export function normalizeTodos(phases: readonly TodoPhaseInput[]): TodoPhase[] {
  const phaseIds = idsFor("phase", phases);
  const taskIds = idsFor(
    "task",
    phases.flatMap(({ tasks = [] }) => tasks),
  );
  let taskCount = 0;
  return phases.map(({ name, tasks = [] }, index) => ({
    id: phaseIds[index] ?? "",
    name,
    tasks: tasks.map(({ content, status = "pending", notes, details }): TodoTask => {
      const id = taskIds[taskCount++] ?? "";
      return { id, content, status, notes, details };
    }),
  }));
}

/** The first with an id keeps it. The others are numbered by their position, or with the next number that is free. */
function idsFor(kind: "phase" | "task", items: readonly { id?: string }[]): string[] {
  const taken = new Set<string>();
  const own = items.map(({ id }) => {
    if (!id || taken.has(id)) return undefined;
    taken.add(id);
    return id;
  });
  let number = 0;
  return own.map((id, index) => {
    if (id !== undefined) return id;
    number = Math.max(number, index) + 1;
    while (taken.has(`${kind}-${number}`)) number++;
    return `${kind}-${number}`;
  });
}
