// What is said of a staged command: rows of changed files, what could not be staged, what only the view has.

import { sizeText } from "../../files/layer/stage-limits.js";
import type { Effects } from "../../files/layer/stage-view.js";
import { printable } from "../../files/paths/resolve-path.js";
import { isGrouped } from "../diff/git-group.js";
import { figuresOf } from "../diff/plan-diff.js";
import type { PlannedChange } from "../plan.js";
import { figuresText, isBinaryContent } from "./plan-effects.js";

export interface StagedCommand extends Pick<Effects, "notStaged" | "kept" | "dropped"> {
  /** Absent where nothing was staged. */
  readonly pendingId?: string | undefined;
  readonly changes: readonly PlannedChange[];
  /** Shown paths. */
  readonly stalePaths?: readonly string[] | undefined;
  readonly network: "off" | "hosts" | "on";
  /** Stands for the rows of git's own files: `git: main 1a2b3c4 → 5d6e7f8, 14 objects, index`. Default: their number. */
  readonly gitGroup?: string | undefined;
}

const maxRows = 30;
const maxLeftOut = 10;

/** For the model, after the command's output. */
export async function stagedCommandText(staged: StagedCommand): Promise<string> {
  const { changes, dropped, pendingId, network } = staged;
  const notes = [staleText(staged), notStagedText(staged.notStaged), keptText(staged.kept)].filter(
    (line) => line !== "",
  );
  if (dropped !== undefined) return [dropped.text, ...notes].join("\n");
  if (changes.length === 0) return ["No files changed.", ...notes].join("\n");
  const head = `Staged as ${pendingId ?? "nothing"} – not written yet: ${figuresText(changes)}`;
  const rows = (await changeRows(changes, staged.gitGroup)).map((row) => `  ${row}`);
  const closing = `${network === "off" ? "Network was off. " : ""}Nothing outside the project could be written.`;
  return [head, ...rows, ...notes, closing].join("\n");
}

function staleText({ stalePaths = [] }: StagedCommand): string {
  if (stalePaths.length === 0) return "";
  const more = stalePaths.length > maxLeftOut ? ` … and ${stalePaths.length - maxLeftOut} more` : "";
  const names = stalePaths.slice(0, maxLeftOut).map(printable).join(", ");
  return `Stale: another program changed ${names}${more} meanwhile.`;
}

/** Deletions first; at most 30, then how many more there are. */
export async function changeRows(changes: readonly PlannedChange[], gitGroup?: string): Promise<string[]> {
  const isGit = (change: PlannedChange) => isGrouped({ fromCommand: true }, change);
  const own = changes.filter((change) => !isGit(change));
  const ordered = [...own.filter(({ kind }) => kind === "delete"), ...own.filter(({ kind }) => kind !== "delete")];
  const gitFiles = changes.length - own.length;
  const group = gitFiles === 0 ? [] : [gitGroup ?? `git: ${gitFiles} file${gitFiles === 1 ? "" : "s"}`];
  const shown = ordered.slice(0, maxRows - group.length);
  const rows: string[] = [];
  for (const change of shown) rows.push(await changeRow(change));
  const more = ordered.length - shown.length;
  return [...rows, ...group, ...(more > 0 ? [`… and ${more.toLocaleString("en-US")} more`] : [])];
}

async function changeRow(change: PlannedChange): Promise<string> {
  const { kind, stamp, type = "file" } = change;
  const letter = { create: "A", delete: "D", modify: "M", rename: "R" }[kind];
  const was = stamp.type ?? "file";
  const slash = type === "directory" ? "/" : "";
  const target = type === "symlink" ? ` -> ${linkText(kind === "delete" ? change.before : change.after)}` : "";
  const name = `${letter} ${printable(stamp.path)}${slash}${target}`;
  const remarks = [
    ...(kind === "modify" && was !== type ? [`was a ${typeNames[was]}`] : []),
    ...(kind === "modify" && was === type ? modeRemark(change) : []),
    ...(type === "file" && was === "file" ? await lineRemark(change) : []),
    ...(change.renamedFrom === undefined ? [] : [`(from ${printable(change.renamedFrom)})`]),
    ...(change.protected ? ["(protected)"] : []),
  ];
  return remarks.length === 0 ? name : `${name}  ${remarks.join(" ")}`;
}

const typeNames = { file: "file", symlink: "link", directory: "directory" };

function linkText(target: Uint8Array): string {
  return printable(Buffer.from(target).toString("utf8"));
}

function modeRemark({ mode, stamp }: PlannedChange): string[] {
  if (mode === undefined || mode === stamp.mode) return [];
  return [`mode ${stamp.mode.toString(8).padStart(4, "0")} -> ${mode.toString(8).padStart(4, "0")}`];
}

/** `+3 -1`, or for what has no lines the sizes. */
async function lineRemark(change: PlannedChange): Promise<string[]> {
  const { before, after, kind } = change;
  if (isBinaryContent(before) || isBinaryContent(after)) {
    if (Buffer.compare(before, after) === 0 && kind === "modify") return [];
    const sizes = [
      ...(kind === "create" ? [] : [sizeText(before.length)]),
      ...(kind === "delete" ? [] : [sizeText(after.length)]),
    ];
    return [`binary, ${sizes.join(" -> ")}`];
  }
  const { added, removed } = await figuresOf(change);
  return [...(added > 0 ? [`+${added}`] : []), ...(removed > 0 ? [`-${removed}`] : [])];
}

function notStagedText(notStaged: Effects["notStaged"]): string {
  if (notStaged.length === 0) return "";
  const shown = notStaged.slice(0, maxLeftOut).map(({ path, why }) => `${printable(path)} (${why})`);
  const more = notStaged.length - shown.length;
  return `Not staged: ${shown.join(", ")}${more > 0 ? ` and ${more.toLocaleString("en-US")} more` : ""}.`;
}

function keptText({ files, bytes }: Effects["kept"]): string {
  if (files === 0) return "";
  return `Kept in the view only: ${files.toLocaleString("en-US")} ignored file${files === 1 ? "" : "s"} (${sizeText(bytes)}).`;
}

const renameHint = "In the staged view a directory cannot be renamed in one step. Use mv, then git add -A.";

/** For a command that failed; undefined where its output does not tell of it. */
export function crossDeviceHint(output: string): string | undefined {
  return /cross-device|EXDEV/i.test(output) ? renameHint : undefined;
}
