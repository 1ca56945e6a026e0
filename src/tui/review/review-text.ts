// A diff as text: to be copied, and the side of a hunk that can be edited.

import type { DiffFile, DiffHunk } from "../../protocol/diff.js";

export function diffText(files: readonly DiffFile[]): string {
  return files
    .map(({ path, kind, to, hunks }) => {
      const old = kind === "create" ? "/dev/null" : `a/${path}`;
      const fresh = kind === "delete" ? "/dev/null" : `b/${to ?? path}`;
      const body = hunks.map((hunk) => [headOf(hunk), ...hunk.lines].join("\n"));
      return [`--- ${old}`, `+++ ${fresh}`, ...body].join("\n");
    })
    .join("\n")
    .concat("\n");
}

export function headOf({ oldStart, oldLines, newStart, newLines }: DiffHunk): string {
  return `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`;
}

/** With its context; line ends stay as the file has them. */
export function newSideOf({ lines }: DiffHunk): string {
  const fresh = lines.filter((line) => line[0] === " " || line[0] === "+");
  return fresh.map((line) => `${line.slice(1).replace(/\r$/, "")}\n`).join("");
}
