// Lines that a module drew, as far as they may reach the terminal: colours and the mark of the cursor stay, every other
// escape sequence and control character goes.

import { CURSOR_MARKER } from "@earendil-works/pi-tui";
import { sanitizeForTerminal } from "../../base/sanitize.js";

const kept = new RegExp(`\\u001b\\[[0-9;:]*m|${CURSOR_MARKER.replace("[", "\\[")}`, "g");

export function cleanLine(line: string): string {
  let clean = "";
  let at = 0;
  for (const { 0: match, index } of line.matchAll(kept)) {
    clean += sanitizeForTerminal(line.slice(at, index)) + match;
    at = index + match.length;
  }
  return (clean + sanitizeForTerminal(line.slice(at))).replace(/[\n\r]/g, " ").replaceAll("\t", "   ");
}

/** Throws for what is no list of strings. */
export function cleanLines(lines: unknown): string[] {
  if (!Array.isArray(lines) || !lines.every((line) => typeof line === "string"))
    throw new TypeError("render must return an array of strings");
  return lines.map(cleanLine);
}
