// A tool call as lines: one with its main argument, then what came of it, folded.

import { visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { oneLine, sanitizeForTerminal } from "../../base/sanitize.js";
import { writtenOut } from "../../base/written-out.js";
import { cutTo } from "../cut-to.js";
import { changedFiles, changeLines, changeTitle } from "./change-lines.js";
import type { ToolItem } from "./chat-log.js";
import type { ChatLook } from "./chat-look.js";
import { pendingIdOf } from "./result-details.js";

const maxFoldedRows = 8;
/** Their end says what came of them: the failure, the exit code, what was staged. */
const commandNames = new Set(["bash", "!", "!!"]);

export function toolLines(item: ToolItem, look: ChatLook, width: number): string[] {
  return ["", titleLine(item, look, width), ...bodyLines(item, look, width)];
}

function bodyLines(item: ToolItem, look: ChatLook, width: number): string[] {
  const files = changedFiles(item);
  if (files) return changeLines(files, look, width);
  const resolved = item.name === "resolve" ? resolveLines(item, look, width) : undefined;
  return resolved ?? outputLines(item, look, width);
}

/** How what was proposed stands, in warning colour while it waits. */
function badgeOf(item: ToolItem, { theme }: ChatLook): string {
  if (item.state !== "done" || pendingIdOf(item.result) === undefined) return "";
  const { outcome = "proposed" } = item;
  if (outcome === "") return "";
  const colour = { applied: "success", discarded: "muted" }[outcome] ?? "warning";
  return theme.fg(colour, outcome);
}

function titleLine(item: ToolItem, look: ChatLook, width: number): string {
  const { theme, now } = look;
  const { state, name, startedAt, endedAt } = item;
  const sign = {
    waiting: theme.fg("muted", "○"),
    running: theme.fg("accent", theme.spinnerFrames[Math.floor(now() / 100) % theme.spinnerFrames.length] ?? "…"),
    done: theme.fg("success", "●"),
    failed: theme.fg("error", "✗"),
  }[state];
  const seconds = startedAt === undefined ? 0 : Math.floor(((endedAt ?? now()) - startedAt) / 1000);
  const end = [seconds > 0 ? theme.fg("muted", `${seconds}s`) : "", badgeOf(item, look)].filter(Boolean).join("  ");
  const room = Math.max(4, width - 4 - visibleWidth(end));
  const text =
    name === "resolve"
      ? `${theme.bold("Resolve")} ${resolveTitle(item)}`
      : `${theme.bold(oneLine(name, 60))}  ${changeTitle(item)}`;
  const line = ` ${sign} ${cutTo(text, room)}`;
  return end === ""
    ? line
    : `${line}${" ".repeat(Math.max(1, width - visibleWidth(line) - visibleWidth(end) - 1))}${end}`;
}

function outputLines({ name, result, state }: ToolItem, look: ChatLook, width: number): string[] {
  const { theme, areToolsUnfolded } = look;
  const text = result?.content
    .map((block) => (block.type === "text" ? block.text : `[image: ${block.mimeType}]`))
    .join("\n");
  if (!text?.trim()) return [];
  const lines = sanitizeForTerminal(text.trimEnd()).split("\n");
  const colour = state === "failed" ? "error" : "toolOutput";
  const rowsOf = (line: string) =>
    wrapTextWithAnsi(line.replaceAll("\t", "    "), Math.max(1, width - 4)).map((row) => paintLine(row, theme, colour));
  const rows = areToolsUnfolded
    ? lines.flatMap(rowsOf)
    : foldedRows(lines, { rowsOf, isEnd: commandNames.has(name), theme });
  const edge = theme.fg("border", "│");
  return rows.map((row) => ` ${edge} ${row}`);
}

interface Fold {
  rowsOf(line: string): string[];
  /** The last rows are kept, not the first. */
  readonly isEnd: boolean;
  readonly theme: ChatLook["theme"];
}

/** Only the lines that may be seen are wrapped. */
function foldedRows(lines: readonly string[], { rowsOf, isEnd, theme }: Fold): string[] {
  const near = isEnd ? lines.slice(-maxFoldedRows - 1) : lines.slice(0, maxFoldedRows + 1);
  const rows = near.flatMap(rowsOf);
  // One row is as long as the words that would stand for it.
  if (near.length === lines.length && rows.length <= maxFoldedRows + 1) return rows;
  const rest = lines.length - near.length + rows.length - maxFoldedRows;
  const note = theme.fg("muted", `… ${rest} ${isEnd ? "earlier" : "more"} line${rest === 1 ? "" : "s"} (ctrl+o)`);
  return isEnd ? [note, ...rows.slice(-maxFoldedRows)] : [...rows.slice(0, maxFoldedRows), note];
}

/** The lines of a preview are told by their sign too. */
function paintLine(line: string, theme: ChatLook["theme"], colour: string): string {
  if (/^\+(?!\+\+ )/.test(line)) return theme.fg("toolDiffAdded", line);
  if (/^-(?!-- )/.test(line)) return theme.fg("toolDiffRemoved", line);
  return theme.fg(colour, line);
}

// A call of `resolve` as lines: what the model wanted, what became of it, and why.

const maxReasonLength = 72;

/** `Resolve apply  proposed -> resolved`, for the first line. */
function resolveTitle(item: Pick<ToolItem, "args" | "state">): string {
  const { action, reason } = (item.args ?? {}) as { action?: unknown; reason?: unknown };
  const becomes = action === "apply" ? "resolved" : "rejected";
  const road = item.state === "done" ? `proposed -> ${becomes}` : "proposed";
  const why = typeof reason === "string" && reason.trim() !== "" ? `  ${oneLine(reason, maxReasonLength)}` : "";
  return `${action === "apply" ? "apply" : "discard"}  ${road}${why}`;
}

/** Undefined where the result is not about one action: then its text says it. */
function resolveLines({ result, state }: ToolItem, look: ChatLook, width: number): string[] | undefined {
  const details = (result?.details ?? {}) as { action?: unknown; label?: unknown; reason?: unknown; partial?: unknown };
  const { action, label = "pending action", reason } = details;
  if (state !== "done" || details.partial === true || typeof label !== "string") return undefined;
  if (action !== "apply" && action !== "discard") return undefined;
  const { theme } = look;
  const at = label.indexOf(": ");
  const [source, summary] = at === -1 ? ["", label] : [label.slice(0, at), label.slice(at + 2)];
  const said = action === "apply" ? "✓ Accept: " : "✗ Discard: ";
  const badge = source === "" ? "" : ` [${writtenOut(source)}]`;
  const bar = cutTo(` ${said}${writtenOut(summary)}${badge}`, Math.max(1, width - 2));
  const filled = bar + " ".repeat(Math.max(0, width - 2 - visibleWidth(bar)));
  const why = typeof reason === "string" && reason.trim() !== "" ? oneLine(reason, 300) : "No reason provided";
  return [
    ` ${theme.inverse(theme.fg(action === "apply" ? "success" : "warning", filled))}`,
    "",
    `   ${theme.italic(cutTo(why, Math.max(1, width - 4)))}`,
  ];
}
