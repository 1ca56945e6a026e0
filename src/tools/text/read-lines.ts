// Choosing lines of a text file by bytes: only what is shown is ever decoded, so a long file costs one scan.

import { isAscii } from "node:buffer";
import { maxOutputBytes, maxOutputLines, sizeText } from "../output/text.js";
import type { HeadTruncation } from "../search/grouped-output.js";
import { toolFailure } from "../tool.js";

/** Lines are counted from 1; `end` is inclusive. */
export interface LineSelection {
  start: number;
  end?: number;
  maxLines: number;
}

export interface Truncation extends HeadTruncation {
  /** The first line that was not shown, where there is one. */
  nextOffset?: number;
}

export interface ShownLines {
  text: string;
  /** What to tell about it. */
  remarks: string[];
  truncation?: Truncation;
}

/** `sel`: `L50`, `L50-L120`, `raw`. Without one, the first 300 lines. */
export function parseSelection(sel: string | undefined, defaultLimit = 300): LineSelection {
  if (sel === undefined || sel.trim() === "") return { start: 1, maxLines: defaultLimit };
  if (sel.trim().toLowerCase() === "raw") return { start: 1, maxLines: maxOutputLines };
  const [, from, to] = /^\s*L?(\d{1,9})(?:\s*-\s*L?(\d{1,9}))?\s*$/i.exec(sel) ?? [];
  if (from === undefined) throw toolFailure(`Invalid sel '${sel.slice(0, 80)}'. Use L50, L50-L120 or raw.`);
  const start = Number(from);
  if (start === 0) throw toolFailure("L0 is invalid; lines are 1-indexed. Use sel=L1.");
  if (to === undefined) return { start, maxLines: maxOutputLines };
  const end = Number(to);
  if (end < start) throw toolFailure(`Invalid range L${start}-L${end}: end must be >= start.`);
  return { start, end, maxLines: maxOutputLines };
}

/** `isTruncated`: the file goes on after `bytes`, so its last line and its length are not known. */
export function selectLines(
  { bytes, isTruncated }: { bytes: Uint8Array; isTruncated: boolean },
  selection: LineSelection,
): ShownLines {
  const { start } = selection;
  const wantedEnd = Math.min(selection.end ?? Number.POSITIVE_INFINITY, start + selection.maxLines - 1);
  const { totalLines, from, to } = scanLines(bytes, start, wantedEnd);
  if (start > totalLines && !(start === 1 && totalLines === 0)) throw beyondEnd(start, totalLines, isTruncated);

  const window = bytes.subarray(from, to);
  const shown = window.length > maxOutputBytes ? headOf(window) : window;
  const byBytes = shown.length < window.length;
  const outputLines = lineCount(shown);
  const end = start + outputLines - 1;
  const { text, isLossy } = decode(shown);
  const remarks: string[] = [];
  const cutsLine = byBytes && shown.at(-1) !== newline;
  const isShort = byBytes || end < Math.min(selection.end ?? totalLines, totalLines);
  if (isShort) {
    remarks.push(`Showing lines ${start}-${end} of ${totalLines}${byBytes ? " (50KB limit)" : ""}`);
    if (cutsLine) remarks.push(`Line ${end} is cut`);
    if (end < totalLines) remarks.push(`Use sel=L${end + 1} to continue`);
  }
  if (isLossy) remarks.push("Not valid UTF-8: invalid bytes are shown as U+FFFD");
  if (isTruncated) remarks.push(`Only the first ${sizeText(bytes.length)} of the file were read`);
  if (!isShort) return { text, remarks };
  const truncation: Truncation = {
    direction: "head",
    truncatedBy: byBytes ? "bytes" : "lines",
    totalLines,
    totalBytes: bytes.length,
    outputLines,
    outputBytes: shown.length,
    shownRange: { start, end },
    ...(end < totalLines ? { nextOffset: end + 1 } : {}),
  };
  return { text, remarks, truncation };
}

const newline = 0x0a;

/** Counts all lines, and finds the bytes from the beginning of line `start` to the end of line `end`. */
function scanLines(bytes: Uint8Array, start: number, end: number): { totalLines: number; from: number; to: number } {
  let from = start === 1 ? 0 : bytes.length;
  let to = bytes.length;
  let line = 1;
  let position = 0;
  for (; position < bytes.length; line++) {
    const found = bytes.indexOf(newline, position);
    if (line === end) to = found === -1 ? bytes.length : found + 1;
    position = found === -1 ? bytes.length : found + 1;
    if (line + 1 === start) from = position;
  }
  return { totalLines: line - 1, from, to };
}

function beyondEnd(start: number, totalLines: number, isTruncated: boolean): Error {
  const total = isTruncated ? `the first ${totalLines} lines can be read` : `${totalLines} lines total`;
  return toolFailure(`Offset ${start} is beyond end of file (${total})`);
}

/** As many whole lines as fit; of a single longer line as many whole characters. */
function headOf(bytes: Uint8Array): Uint8Array {
  const lastLine = bytes.lastIndexOf(newline, maxOutputBytes - 1);
  if (lastLine !== -1) return bytes.subarray(0, lastLine + 1);
  let length = maxOutputBytes;
  // Back to the beginning of a character; text that is no UTF-8 gives up after three bytes.
  while (length > maxOutputBytes - 3 && ((bytes[length] ?? 0) & 0xc0) === 0x80) length--;
  return bytes.subarray(0, length);
}

function lineCount(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) lines++;
  return bytes.length > 0 && bytes.at(-1) !== newline ? lines + 1 : lines;
}

function decode(bytes: Uint8Array): { text: string; isLossy: boolean } {
  const dropLast = (text: string) => (text.endsWith("\n") ? text.slice(0, -1) : text);
  // The usual case, and the one that needs no decoder.
  if (isAscii(bytes))
    return {
      text: dropLast(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")),
      isLossy: false,
    };
  try {
    return { text: dropLast(new TextDecoder("utf-8", { fatal: true }).decode(bytes)), isLossy: false };
  } catch {
    // Not UTF-8: shown as well as possible, with a remark.
    return { text: dropLast(new TextDecoder().decode(bytes)), isLossy: true };
  }
}
