// Pending actions and changes as text for a terminal. Foreign text is cleaned here, before colours are added.

import { ageText } from "../../base/age-text.js";
import { oneLine, sanitizeForTerminal } from "../../base/sanitize.js";
import type { Change } from "../../protocol/pending.js";
import { displayName } from "../../sdk/manage-sessions.js";
import type { PendingSession } from "../../sdk/pending-sessions.js";
import type { ListedAction } from "../../sdk/review/listed-action.js";
import { colouredDiff } from "../diff-text.js";
import { alignedRows, countText, figuresText, stateText } from "../table.js";

const maxPromptLength = 48;
const maxFilesNamed = 3;

/** A row per action, grouped by session where there are several; what cannot be read is a row too. */
export function pendingText(found: readonly PendingSession[], now: number): string {
  const actions = found.flatMap((each) => each.actions);
  const indent = found.length > 1 ? "  " : "";
  const rows = alignedRows(actions.map((action) => rowOf(action, now))).map((row) => `${indent}${row}`);
  const lines = new Map(
    actions.map((action, index) => [action, [rows[index] ?? "", ...restsOnLines(action, `${indent}      `)]]),
  );
  const blocks = found.map(({ session, actions: own, damage }) => [
    ...(found.length > 1 ? [`${displayName(session)}  (session ${session.id})`] : []),
    ...own.flatMap((action) => lines.get(action) ?? []),
    ...(damage === undefined ? [] : [`${indent}${session.path} is damaged (${damage})`]),
  ]);
  return sanitizeForTerminal(`${blocks.map((block) => block.join("\n")).join("\n\n")}\n`);
}

function rowOf({ name, action, prompt, stored }: ListedAction, now: number): string[] {
  const { status, files = [], sourceToolName, createdAt, label } = action;
  // What no prompt caused was done by a command of the user's, which the label names.
  const words = oneLine(prompt || label, maxPromptLength);
  const state = stored.damage === undefined ? stateText(status) : `damaged (${stored.damage})`;
  return [name, state, firstOf(files), figuresText(files), sourceToolName, ageText(now - createdAt), words];
}

/** `src/help.ts (+2)` */
function firstOf(files: readonly { readonly path: string }[]): string {
  const [first] = files;
  return first ? `${first.path}${files.length > 1 ? ` (+${files.length - 1})` : ""}` : "";
}

/** `rests on pa_7 for src/help.ts` */
function restsOnLines({ restsOn }: Pick<ListedAction, "restsOn">, indent = ""): string[] {
  return restsOn.map(({ id, files }) => `${indent}rests on ${id} for ${files.join(", ")}`);
}

/** What stands above its diff. */
export function aboutAction(listed: ListedAction, now: number): string {
  const { name, action, prompt } = listed;
  const { label, status, sourceToolName, createdAt } = action;
  const words = oneLine(prompt, maxPromptLength);
  const lines = [
    `${name}  ${stateText(status)}  ${label}`,
    `${sourceToolName}, ${ageText(now - createdAt)}${words === "" ? "" : `: ${words}`}`,
    ...restsOnLines(listed),
  ];
  return sanitizeForTerminal(`${lines.join("\n")}\n`);
}

export function aboutChange({ id, label, state, by, at, reason }: Change, now: number): string {
  const why = reason === "" ? "" : `: ${reason}`;
  return sanitizeForTerminal(
    `${id}  ${stateText(state)}  ${label}\ndecided by the ${by}, ${ageText(now - at)}${why}\n`,
  );
}

interface FileFigures {
  readonly path: string;
  readonly kind?: string | undefined;
  readonly to?: string | undefined;
  readonly added?: number | undefined;
  readonly removed?: number | undefined;
  readonly hunks?: number | undefined;
  readonly stale?: boolean | undefined;
  readonly type?: string | undefined;
  readonly newType?: string | undefined;
  readonly target?: string | undefined;
  readonly mode?: number | undefined;
  readonly newMode?: number | undefined;
  readonly protected?: boolean | undefined;
  readonly isGitData?: boolean | undefined;
}

/** A table of files, with a total where there are several. */
export function statText(all: readonly FileFigures[], git?: string | undefined): string {
  const files = all.filter(({ isGitData }) => !isGitData);
  const rows = files.map((file) => [
    file.kind ?? "modify",
    nameOf(file),
    ...(isLineless(file) ? [] : [figuresText([file])]),
    ...(file.hunks === undefined || isLineless(file) ? [] : [countText(file.hunks, "hunk")]),
    ...(file.newMode === undefined ? [] : [modeText(file)]),
    ...(file.protected ? ["protected"] : []),
    ...(file.stale ? [stateText("stale")] : []),
  ]);
  const own = git === undefined ? [] : [`  git: ${git}`];
  const total = files.length > 1 ? [`${countText(files.length, "file")}, ${figuresText(files)}`] : [];
  return sanitizeForTerminal(`${[...alignedRows(rows).map((row) => `  ${row}`), ...own, ...total].join("\n")}\n`);
}

/** Links and directories: what they are is said with their name. */
function isLineless({ type, newType }: FileFigures): boolean {
  return [type, newType].some((each) => each === "symlink" || each === "directory");
}

function nameOf({ path, to, type, newType = type, target, kind }: FileFigures): string {
  if (to !== undefined) return `${path} -> ${to}`;
  if (newType === "directory" && kind !== "delete") return `${path}/`;
  if (kind === "delete" && type === "directory") return `${path}/`;
  return target === undefined ? path : `${path} -> ${target}`;
}

function modeText({ type, newType, mode, newMode }: FileFigures): string {
  const fresh = `mode ${(newMode ?? 0).toString(8)}`;
  return newType !== undefined && newType !== type
    ? fresh
    : `mode ${(mode ?? 0).toString(8)} → ${(newMode ?? 0).toString(8)}`;
}

/** The diffs one after the other, coloured on a terminal. */
export function diffText(diffs: readonly { readonly diff?: string | undefined }[]): string {
  return colouredDiff(sanitizeForTerminal(diffs.map(({ diff = "" }) => diff).join("")), process.stdout);
}

/** A row per change, the newest first. */
export function changesText(changes: readonly Change[], now: number): string {
  if (changes.length === 0) return "";
  const rows = changes.map(({ id, at, by, state, files, label }) => {
    const names = files.slice(0, maxFilesNamed).map(({ path }) => path);
    const more = files.length > maxFilesNamed ? [`+${files.length - maxFilesNamed} more`] : [];
    return [id, ageText(now - at), by, stateText(state), figuresText(files), [...names, ...more].join(", "), label];
  });
  return sanitizeForTerminal(`${alignedRows(rows).join("\n")}\n`);
}

const pastWords: Readonly<Record<string, string>> = { modify: "modified", create: "created", delete: "deleted" };

/** What a change wrote, a line per file. */
export function writtenText({ files, git }: Pick<Change, "files" | "git">): string {
  const rows = files
    .filter(({ isGitData }) => !isGitData)
    .map((file) => [
      pastWords[file.kind] ?? file.kind,
      nameOf(file),
      ...(isLineless(file) ? [] : [figuresText([file])]),
    ]);
  const own = git === undefined ? [] : [`git: ${git}`];
  return sanitizeForTerminal([...alignedRows(rows), ...own].map((row) => `  ${row}\n`).join(""));
}
