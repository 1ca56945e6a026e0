// What the todo_write tool does to a list, as a pure function. Operations apply in their order; one that cannot is
// reported and the rest still apply. A phase or task that nothing touched is the same object afterwards.

import type { TodoPhase, TodoStatus, TodoTask } from "../../protocol/todos.js";
import { normalizeTodos } from "./normalize-todos.js";

/** Which members an operation needs depends on `op`; one that lacks them is reported. */
export interface TodoOp extends Partial<NewTask> {
  readonly op: "replace" | "add_phase" | "add_task" | "update" | "remove_task";
  readonly phases?: readonly NewPhase[];
  readonly name?: string;
  readonly tasks?: readonly NewTask[];
  readonly phase?: string;
  readonly id?: string;
}

interface NewPhase {
  readonly name: string;
  readonly tasks?: readonly NewTask[];
}

interface NewTask {
  readonly content: string;
  readonly status?: TodoStatus;
  readonly notes?: string;
  readonly details?: string;
}

/** A list that grows beyond this is no plan any more. */
export const maxTasks = 500;

export function applyTodoOps(phases: readonly TodoPhase[], ops: readonly TodoOp[]) {
  const errors: string[] = [];
  let current = [...phases];
  for (const op of ops) {
    const next = applyOp(current, op);
    if (typeof next === "string") errors.push(next);
    else if (taskCount(next) > Math.max(maxTasks, taskCount(current))) errors.push(`More than ${maxTasks} tasks`);
    else current = next;
  }
  return { phases: withOneInProgress(current), errors };
}

/** The new list, or why there is none. */
function applyOp(phases: TodoPhase[], op: TodoOp): TodoPhase[] | string {
  switch (op.op) {
    case "replace":
      if (!op.phases) return needs(op, "phases");
      return normalizeTodos(op.phases.map(newPhase));
    case "add_phase":
      return op.name === undefined ? needs(op, "name") : addPhase(phases, { name: op.name, tasks: op.tasks ?? [] });
    case "add_task":
      if (op.phase === undefined || op.content === undefined) return needs(op, "phase and content");
      return addTask(phases, op.phase, { ...op, content: op.content });
    case "update":
      return op.id === undefined ? needs(op, "id") : changeTask(phases, op.id, (task) => [updated(task, op)]);
    case "remove_task":
      return op.id === undefined ? needs(op, "id") : changeTask(phases, op.id, () => []);
  }
}

function needs({ op }: TodoOp, members: string): string {
  return `${op} needs ${members}`;
}

/** Only the members that the model may set: an id of its choosing is not among them. */
function newPhase({ name, tasks = [] }: NewPhase) {
  return { name, tasks: tasks.map(newTask) };
}

function newTask({ content, status, notes, details }: NewTask) {
  return {
    content,
    ...(status === undefined ? {} : { status }),
    ...(notes === undefined ? {} : { notes }),
    ...(details === undefined ? {} : { details }),
  };
}

function addPhase(phases: TodoPhase[], { name, tasks }: { name: string; tasks: readonly NewTask[] }): TodoPhase[] {
  const first = nextNumber("task", allTasks(phases));
  const added = tasks.map(
    (task, index): TodoTask => ({ id: `task-${first + index}`, status: "pending", ...newTask(task) }),
  );
  return [...phases, { id: `phase-${nextNumber("phase", phases)}`, name, tasks: added }];
}

function addTask(phases: TodoPhase[], phaseId: string, task: NewTask): TodoPhase[] | string {
  const phase = phases.find(({ id }) => id === phaseId);
  if (!phase) return `Phase "${shortened(phaseId)}" not found`;
  const id = `task-${nextNumber("task", allTasks(phases))}`;
  const added: TodoTask = { id, status: "pending", ...newTask(task) };
  return phases.map((other) => (other === phase ? { ...phase, tasks: [...phase.tasks, added] } : other));
}

function changeTask(phases: TodoPhase[], taskId: string, change: (task: TodoTask) => TodoTask[]): TodoPhase[] | string {
  const phase = phases.find(({ tasks }) => tasks.some(({ id }) => id === taskId));
  if (!phase) return `Task "${shortened(taskId)}" not found`;
  const tasks = phase.tasks.flatMap((task) => (task.id === taskId ? change(task) : [task]));
  return phases.map((other) => (other === phase ? { ...phase, tasks } : other));
}

function updated(task: TodoTask, op: TodoOp): TodoTask {
  return { ...task, ...newTask({ ...op, content: op.content ?? task.content }) };
}

/** One beyond the highest in use, so that an id is not given again while its task is there. */
function nextNumber(kind: "phase" | "task", items: readonly { id: string }[]): number {
  const pattern = new RegExp(`^${kind}-(\\d{1,9})$`);
  return items.reduce((highest, { id }) => Math.max(highest, Number(pattern.exec(id)?.[1] ?? 0)), 0) + 1;
}

/** The first that is in progress stays so; without one the first that is pending begins. */
function withOneInProgress(phases: TodoPhase[]): TodoPhase[] {
  const tasks = allTasks(phases);
  const active =
    tasks.find(({ status }) => status === "in_progress") ?? tasks.find(({ status }) => status === "pending");
  return phases.map((phase) => {
    const changed = phase.tasks.map((task): TodoTask => {
      if (task === active) return task.status === "in_progress" ? task : { ...task, status: "in_progress" };
      return task.status === "in_progress" ? { ...task, status: "pending" } : task;
    });
    return changed.every((task, index) => task === phase.tasks[index]) ? phase : { ...phase, tasks: changed };
  });
}

export function allTasks(phases: readonly TodoPhase[]): TodoTask[] {
  return phases.flatMap(({ tasks }) => tasks);
}

function taskCount(phases: readonly TodoPhase[]): number {
  return phases.reduce((sum, { tasks }) => sum + tasks.length, 0);
}

function shortened(id: string): string {
  return id.length > 80 ? `${id.slice(0, 80)}…` : id;
}
