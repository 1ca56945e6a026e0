// The report on a staged command: what it did to files, what could not be staged, and what it could not do. Rows have the
// letters of git. Pure.

import type { StagedEffects } from "../../protocol/data.js";
import { count } from "../../tools/output/text.js";

type StagedFile = StagedEffects["files"][number];

const maxRows = 30;
const maxNames = 10;

export interface StagedReport extends StagedEffects {
  /** In place of effects. */
  readonly dropped?: string | undefined;
  readonly network: "off" | "hosts" | "on";
  /** One line for everything in the repository's own directory. */
  readonly gitLine?: string | undefined;
}

/** Line by line. */
export function stagedLines(report: StagedReport): string[] {
  const { notStaged, kept, dropped } = report;
  return [
    ...(dropped === undefined ? effectLines(report) : [dropped]),
    ...(notStaged.length === 0 ? [] : [`Not staged: ${notStagedText(notStaged)}.`]),
    ...(kept.files === 0
      ? []
      : [`Kept in the view only: ${count(kept.files, "ignored file")} (${mebibytes(kept.bytes)}).`]),
    `${networkTexts[report.network]} Nothing outside the project could be written.`,
  ];
}

const networkTexts = {
  off: "Network was off.",
  hosts: "Network was limited to allowed hosts.",
  on: "Network was on.",
};

function effectLines({ pendingId, files, gitLine }: StagedReport): string[] {
  if (pendingId === undefined) return ["No files changed."];
  const renamed = new Set(files.flatMap(({ renamedFrom }) => renamedFrom ?? []));
  const rows = [
    ...files.filter(({ kind, path }) => kind === "delete" && !renamed.has(path)).map(rowOf),
    ...files.filter(({ kind }) => kind !== "delete").map(rowOf),
    ...(gitLine === undefined ? [] : [gitLine]),
  ];
  const more = rows.length - maxRows;
  return [
    `Staged as ${pendingId} – not written yet: ${figuresText(files)}`,
    ...rows.slice(0, maxRows).map((row) => `  ${row}`),
    ...(more > 0 ? [`… and ${more} more`] : []),
  ];
}

/** `4 files (1 modified, 2 created, 1 deleted)`. */
export function figuresText(files: readonly StagedFile[]): string {
  const of = (wanted: string) => files.filter(({ kind }) => kind === wanted).length;
  const parts = [
    [of("modify"), "modified"],
    [of("create"), "created"],
    [of("delete"), "deleted"],
  ] as const;
  const told = parts.filter(([amount]) => amount > 0).map(([amount, what]) => `${amount} ${what}`);
  return `${count(files.length, "file")}${told.length === 0 ? "" : ` (${told.join(", ")})`}`;
}

function rowOf({ path, kind, type, added = 0, removed = 0, target, renamedFrom, protected: isProtected }: StagedFile) {
  const name = type === "directory" ? `${path}/` : path;
  const shown = renamedFrom === undefined ? name : `${renamedFrom} -> ${name}`;
  const letter = renamedFrom === undefined ? { create: "A", delete: "D", modify: "M", rename: "R" }[kind] : "R";
  const figures = [...(added > 0 ? [`+${added}`] : []), ...(removed > 0 ? [`-${removed}`] : [])];
  const link = target === undefined || kind === "delete" ? "" : ` -> ${target}`;
  const lines = figures.length === 0 ? "" : `  ${figures.join(" ")}`;
  return `${letter} ${shown}${link}${lines}${isProtected ? "  (protected: the user applies it)" : ""}`;
}

function notStagedText(notStaged: StagedEffects["notStaged"]): string {
  const named = notStaged.slice(0, maxNames).map(({ path, why }) => `${path} (${why})`);
  const more = notStaged.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

/** `512 B`, `1.1 MiB`. */
function mebibytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const [value, unit] = bytes < 1024 ** 2 ? [bytes / 1024, "KiB"] : [bytes / 1024 ** 2, "MiB"];
  return `${value.toFixed(1).replace(/\.0$/, "")} ${unit}`;
}
