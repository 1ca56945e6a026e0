// What a program printed, as a model reads it: no escape sequences, no controls, and of an overwritten line only its last
// state. Lines stay lines, so their numbers are those of the raw output.

import { stripEscapes } from "../../base/sanitize.js";

export interface PlainOutput {
  readonly text: string;
  /** Text was left out because a carriage return wrote over it, as progress bars do. */
  readonly isOverwritten: boolean;
}

export function plainOutput(raw: string): PlainOutput {
  const text = withoutControls(raw);
  if (!text.includes("\r")) return { text, isOverwritten: false };
  let isOverwritten = false;
  const lines = text.split("\n").map((line) => {
    const shown = lastWritten(line);
    if (shown.length < line.replaceAll("\r", "").length) isOverwritten = true;
    return shown;
  });
  return { text: lines.join("\n"), isOverwritten };
}

/** Keeps LF, TAB and CR. NUL is shown, since it separates names that would run together. */
export function withoutControls(raw: string): string {
  return stripEscapes(sevenBit(raw)).replaceAll("\u0000", "␀").replace(otherControls, "");
}

/** The one-character forms of escape sequences as ESC and a letter; the patterns for those are linear on any text. */
export function sevenBit(text: string): string {
  return text.replace(c1Controls, (control) => `\u001b${String.fromCharCode(control.charCodeAt(0) - 0x40)}`);
}

/** What follows the last carriage return; those at the very end only finish the line. */
function lastWritten(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === "\r") end--;
  return line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
}

const c1Controls = /[\u0080-\u009f]/g;
const otherControls = /[^\P{Cc}\t\n\r]/gu;
