// Results grouped by file: files of one directory together under its name, and never more than a model can use.

import type { OutputTruncation } from "../output/capture.js";
import { maxOutputBytes, maxOutputLines } from "../output/text.js";

export interface FileLines {
  /** As shown: on one line, with `/`. */
  readonly path: string;
  readonly lines: readonly string[];
}

/** `# dir`, `## └─ file`, lines; a file without a directory is `# file`. Directories in the order they come up. */
export function groupByDirectory(files: readonly FileLines[]): string[] {
  const groups = new Map<string, FileLines[]>();
  for (const file of files) {
    const parent = splitPath(file.path).parent;
    const group = groups.get(parent);
    if (group) group.push(file);
    else groups.set(parent, [file]);
  }
  return [...groups].flatMap(([parent, members]) => {
    const blocks = members.flatMap(({ path, lines }) => {
      const { name } = splitPath(path);
      return [parent === "" ? `# ${name}` : `## └─ ${name}`, ...lines];
    });
    return parent === "" ? blocks : [`# ${parent}`, ...blocks];
  });
}

export interface HeadTruncation extends Omit<OutputTruncation, "direction" | "artifactId"> {
  direction: "head";
}

/** As many whole lines from the beginning as may be shown; says so when those are not all. */
export function headOfLines(lines: readonly string[]): {
  text: string;
  remarks: string[];
  truncation?: HeadTruncation;
} {
  let shown = 0;
  let outputBytes = -1; // the first line has no line feed before it
  let totalBytes = -1;
  let isFull = false;
  for (const line of lines) {
    const bytes = Buffer.byteLength(line) + 1;
    totalBytes += bytes;
    isFull ||= shown === maxOutputLines || outputBytes + bytes > maxOutputBytes;
    if (isFull) continue;
    shown++;
    outputBytes += bytes;
  }
  const text = lines.slice(0, shown).join("\n");
  if (!isFull) return { text, remarks: [] };
  const byLines = shown === maxOutputLines;
  return {
    text,
    remarks: [`Showing lines 1-${shown} of ${lines.length}${byLines ? "" : " (50KB limit)"}`],
    truncation: {
      direction: "head",
      truncatedBy: byLines ? "lines" : "bytes",
      totalLines: lines.length,
      totalBytes,
      outputLines: shown,
      outputBytes,
      shownRange: { start: 1, end: shown },
    },
  };
}

function splitPath(path: string): { parent: string; name: string } {
  const slash = path.lastIndexOf("/");
  return { parent: slash === 0 ? "/" : path.slice(0, Math.max(slash, 0)), name: path.slice(slash + 1) };
}
