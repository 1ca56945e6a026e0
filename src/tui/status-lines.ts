// The lines between the conversation and the editor: the todo that is next, what is queued, and the line that is printed once
// when the program begins.

import { visibleWidth } from "@earendil-works/pi-tui";
import { oneLine } from "../base/sanitize.js";
import { writtenOut } from "../base/written-out.js";
import type { AgentMessage, AgentSession, Theme } from "../sdk/index.js";
import { cutTo } from "./cut-to.js";

const maxQueuedLines = 3;

/** Empty where there are none, or all are done. */
export function todoLines(session: AgentSession, theme: Theme, width: number): string[] {
  const tasks = session.getTodoPhases().flatMap((phase) => phase.tasks);
  const counted = tasks.filter(({ status }) => status !== "abandoned");
  const done = counted.filter(({ status }) => status === "completed").length;
  const next = tasks.find(({ status }) => status === "in_progress") ?? tasks.find(({ status }) => status === "pending");
  if (!next) return [];
  const text = ` ${theme.fg("accent", "☐")} ${done}/${counted.length} todos: ${oneLine(next.content, 200)}`;
  return [cutTo(text, width)];
}

/** What waits for the run, in the order in which it is delivered. */
export function queuedLines(session: AgentSession, key: string | undefined, theme: Theme, width: number): string[] {
  const texts = session.queuedMessages.map(textOf).filter((text) => text !== "");
  const hint = key === undefined ? "" : theme.fg("muted", `${key} takes it back`);
  const shown = texts.slice(0, maxQueuedLines).map((text, index) => {
    const end = index === 0 ? hint : "";
    const room = Math.max(10, width - visibleWidth(end) - 2);
    const line = cutTo(` ${theme.fg("accent", "⏵")} queued: ${oneLine(text, 300)}`, room);
    return `${line}${" ".repeat(Math.max(1, width - visibleWidth(line) - visibleWidth(end) - 1))}${end}`;
  });
  const rest = texts.length - shown.length;
  return rest > 0 ? [...shown, theme.fg("muted", `   … ${rest} more queued`)] : shown;
}

export interface PendingFact {
  readonly id: string;
  readonly label: string;
  readonly status?: string;
}

/**
 * What waits for a decision, the newest first, and how to decide. Too narrow for both: first the ways to decide unseen go,
 * then the names are cut, then they go.
 */
export function pendingLine(actions: readonly PendingFact[], theme: Theme, width: number): string[] {
  if (actions.length === 0) return [];
  const count = `${actions.length} pending`;
  const names = actions.map(
    ({ id, label, status }) => `${id} ${writtenOut(label)}${status === "stale" ? " stale" : ""}`,
  );
  const all = names.join(" · ");
  const roomBeside = (hint: string) => width - visibleWidth(count) - hint.length - 9;
  const [short, long] = ["ctrl+r review", "ctrl+r review · /apply · /discard"];
  const hint = visibleWidth(all) <= roomBeside(long) ? long : short;
  const room = roomBeside(hint);
  const shown = room < 12 ? count : `${count}: ${cutTo(all, room)}`;
  const line = ` ${theme.fg("accent", "◌")} ${shown}`;
  const gap = " ".repeat(Math.max(3, width - visibleWidth(line) - hint.length - 1));
  return [cutTo(`${line}${gap}${theme.fg("muted", hint)}`, width)];
}

function textOf(message: AgentMessage): string {
  if (message.role !== "user") return "";
  if (typeof message.content === "string") return message.content;
  return message.content.map((block) => (block.type === "text" ? block.text : "[image]")).join(" ");
}

/** Printed once, then it scrolls away. */
export function headerText(
  session: AgentSession,
  { version, directory }: { version: string; directory: string },
): string {
  const { tools, extensions } = session.extensionSummary;
  const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;
  const own = [
    ...(tools > 0 ? [count(tools, "tool")] : []),
    ...(extensions > 0 ? [count(extensions, "extension")] : []),
  ];
  return [`galley ${version}`, directory, ...(own.length > 0 ? [own.join(", ")] : []), "? for keys"].join(" · ");
}
