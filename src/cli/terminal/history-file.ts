// What the user sent in one project, in a file that only the user may read. A file that cannot be read or written costs the
// history, never the program.

import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sha256Of } from "../../base/digest.js";
import { ownDirectory } from "../../base/home.js";
import { randomIds } from "../../base/ids.js";
import type { PromptHistoryFile } from "../../tui/editor/input-access.js";

export const maxKept = 500;
const maxTextLength = 100_000;

export function historyFile(agentDir: string, root: string): string {
  return join(ownDirectory(agentDir), "history", `${sha256Of(Buffer.from(root)).slice(0, 16)}.jsonl`);
}

/** `mask`: of secrets that the user typed. */
export function openHistory(path: string, mask: (text: string) => string = (text) => text): PromptHistoryFile {
  return {
    load() {
      const texts = linesIn(path).flatMap(textIn);
      const kept = texts.slice(-maxKept);
      // Shortened seldom: most starts only read.
      if (texts.length > 2 * maxKept) replace(path, kept.map(lineOf).join(""));
      return kept;
    },
    add(text) {
      if (text.length > maxTextLength) return;
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        appendFileSync(path, lineOf(mask(text)), { mode: 0o600 });
      } catch {
        // a full or read-only disk: the history of this run is in memory
      }
    },
  };
}

function linesIn(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch {
    return []; // there is none yet, or it cannot be read
  }
}

/** A line that another program damaged is skipped. */
function textIn(line: string): string[] {
  try {
    const text: unknown = JSON.parse(line);
    return typeof text === "string" && text !== "" ? [text] : [];
  } catch {
    return [];
  }
}

function lineOf(text: string): string {
  return `${JSON.stringify(text)}\n`;
}

function replace(path: string, text: string): void {
  const next = `${path}.${randomIds.entry()}`;
  try {
    writeFileSync(next, text, { mode: 0o600, flag: "wx" });
    renameSync(next, path);
  } catch {
    rmSync(next, { force: true }); // the long one stays
  }
}
