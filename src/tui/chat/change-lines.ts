// A call that changes files, as lines: what it does in one line, how it stands, and the changed lines of each file, folded.
// The diff is the one in the tool's own details, so that a resumed session shows the same.

import { visibleWidth } from "@earendil-works/pi-tui";
import { oneLine } from "../../base/sanitize.js";
import { writtenOut, writtenOutLine } from "../../base/written-out.js";
import { callTarget } from "../../sdk/run-report/call-target.js";
import { cutTo } from "../cut-to.js";
import type { ToolItem } from "./chat-log.js";
import type { ChatLook } from "./chat-look.js";
import { detailsOf } from "./result-details.js";

/** Changed lines of a file that are shown while it is folded. */
const maxFoldedChanges = 6;
/** Files that are shown while it is folded; a change of a hundred files must not push everything else away. */
const maxFoldedFiles = 4;

export interface ChangedFile {
  readonly path: string;
  /** With their signs. */
  readonly lines: readonly string[];
}

/** Undefined where the call changes nothing, or does not say what. */
export function changedFiles({ result, args, state }: ToolItem): ChangedFile[] | undefined {
  const details = detailsOf(result);
  if (state !== "done") return undefined;
  const { diff, patch = diff } = details; // in the place of pi the diff is one for display
  if (typeof patch === "string" && patch !== "") return filesOf(patch);
  const { path, content } = (args ?? {}) as { path?: unknown; content?: unknown };
  if (details.created !== true || typeof path !== "string" || typeof content !== "string") return undefined;
  return [
    {
      path,
      lines: content
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => `+${line}`),
    },
  ];
}

/** `3 replacements · 2 files · in src · searched 41`, or what the call names. */
export function changeTitle({ args, result }: Pick<ToolItem, "args" | "result">): string {
  const { totalReplacements, filesTouched, filesSearched, scopePath } = detailsOf(result);
  if (typeof totalReplacements !== "number" || typeof filesTouched !== "number") return callTarget(args);
  return [
    count(totalReplacements, "replacement"),
    count(filesTouched, "file"),
    ...(typeof scopePath === "string" && scopePath !== "" ? [`in ${oneLine(scopePath, 60)}`] : []),
    ...(typeof filesSearched === "number" ? [`searched ${filesSearched.toLocaleString("en")}`] : []),
  ].join(" · ");
}

export function changeLines(files: readonly ChangedFile[], look: ChatLook, width: number): string[] {
  const { theme, areToolsUnfolded } = look;
  const edge = ` ${theme.fg("border", "│")} `;
  const hidden = areToolsUnfolded ? 0 : Math.max(0, files.length - maxFoldedFiles);
  const more = hidden > 0 ? [`${edge}${theme.fg("muted", `… ${count(hidden, "more file")} (ctrl+o)`)}`] : [];
  const shownFiles = files.slice(0, files.length - hidden).flatMap(({ path, lines }) => {
    const changed = lines.filter((line) => /^[+-]/.test(line));
    const shown = areToolsUnfolded ? lines : changed.slice(0, maxFoldedChanges);
    const rest = areToolsUnfolded ? 0 : changed.length - shown.length;
    const added = changed.filter((line) => line.startsWith("+")).length;
    const figures = [added > 0 ? `+${added}` : "", changed.length > added ? `-${changed.length - added}` : ""];
    const figure = figures.filter((each) => each !== "").join(" ");
    const name = cutTo(writtenOut(path), Math.max(4, width - figure.length - 6));
    const gap = " ".repeat(Math.max(1, width - visibleWidth(name) - figure.length - 4));
    return [
      `${edge}${theme.bold(name)}${gap}${theme.fg("muted", figure)}`,
      ...shown.map((line) => edge + paintedLine(line, look, width - 4)),
      ...(rest > 0
        ? [`${edge}${theme.fg("muted", `… ${rest} more changed line${rest === 1 ? "" : "s"} (ctrl+o)`)}`]
        : []),
    ];
  });
  return [...shownFiles, ...more];
}

function paintedLine(line: string, { theme }: ChatLook, width: number): string {
  if (line.startsWith("@@")) return theme.fg("muted", cutTo(line, width));
  const text = cutTo(`${line[0] ?? ""} ${writtenOutLine(line.slice(1)).replaceAll("\t", "    ")}`, width);
  const colour = { "+": "toolDiffAdded", "-": "toolDiffRemoved" }[line[0] ?? ""] ?? "toolDiffContext";
  return theme.fg(colour, text);
}

/** The files of a diff in the usual form. A removed line that begins with two dashes is told from a header by its hunk. */
function filesOf(diff: string): ChangedFile[] {
  const files: { path: string; lines: string[] }[] = [];
  let [removed, added] = [0, 0];
  let from = "";
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    if (removed > 0 || added > 0) {
      if (!line.startsWith("+")) removed--;
      if (!line.startsWith("-")) added--;
      if (line.startsWith("\\")) [removed, added] = [removed + 1, added + 1];
      files.at(-1)?.lines.push(line);
      continue;
    }
    const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
    if (hunk) {
      [removed, added] = [Number(hunk[1] ?? 1), Number(hunk[2] ?? 1)];
      files.at(-1)?.lines.push(line);
    } else if (line.startsWith("--- ")) from = line.slice(4);
    else if (line.startsWith("+++ ")) {
      const to = line.slice(4);
      files.push({ path: (to === "/dev/null" ? from : to).replace(/^[ab]\//, ""), lines: [] });
    }
  }
  return files;
}

function count(number: number, what: string): string {
  return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
}
