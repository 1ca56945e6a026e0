// A todo list in words, for the model. Long lists and long entries are cut: the model has the list from its own calls.

import type { TodoPhase, TodoStatus, TodoTask } from "../../protocol/todos.js";

const maxListed = 50;
const maxContentLength = 200;

export function isOpen({ status }: { status: TodoStatus }): boolean {
  return status === "pending" || status === "in_progress";
}

/** What todo_write answers. */
export function todoSummary(phases: readonly TodoPhase[], errors: readonly string[]): string {
  const lines = errors.length === 0 ? [] : [`Errors: ${errors.join("; ")}`];
  if (phases.length === 0) return lines[0] ?? "Todo list cleared.";
  const open = phases.flatMap((phase) => phase.tasks.filter(isOpen).map((task) => `${taskLine(task)} (${phase.id})`));
  const current = phases.findIndex(({ tasks }) => tasks.some(isOpen));
  const at = current === -1 ? phases.length - 1 : current;
  const { name, tasks } = phases[at] ?? { name: "", tasks: [] };
  const done = tasks.filter((task) => !isOpen(task)).length;
  return [
    ...lines,
    `Remaining items (${open.length}):`,
    ...listed(open),
    `Phase ${at + 1}/${phases.length} "${cut(name)}" — ${done}/${tasks.length} tasks complete`,
  ].join("\n");
}

/** What the model is told when it stops early. */
export function reminderText(open: readonly TodoTask[], attempt: number, maxAttempts: number): string {
  return [
    `You stopped with ${open.length} incomplete todo item(s):`,
    ...listed(open.map(taskLine)),
    "",
    "Go on with them. If they are done, or not wanted any more, say so with todo_write.",
    `(Reminder ${attempt}/${maxAttempts})`,
  ].join("\n");
}

function taskLine({ id, content, status }: TodoTask): string {
  return `- ${id} [${status}] ${cut(content)}`;
}

function listed(lines: readonly string[]): string[] {
  if (lines.length <= maxListed) return [...lines];
  return [...lines.slice(0, maxListed), `- … and ${lines.length - maxListed} more`];
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > maxContentLength ? `${line.slice(0, maxContentLength)}…` : line;
}
