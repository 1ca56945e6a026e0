// Reads what ripgrep prints with `--heading --null --line-number`: a path, NUL, its lines, an empty line. Every line
// begins with its number, so neither a name nor a text can pass for something else. Holds one line at a time, and of a
// longer one only its beginning.

import { stripEscapes } from "../../base/sanitize.js";
import { cutText } from "../output/text.js";
import type { GrepLine } from "./grep-first.js";

export const maxLineLength = 1024;

/** Enough for that many characters of any kind, and their number in front. */
const maxLineBytes = 4 * maxLineLength + 24;
const maxPathBytes = 64 * 1024;
const nul = 0;
const newline = 0x0a;

export interface GrepListener {
  /** Invalid UTF-8 in its name becomes U+FFFD. `false`: skip the rest of this file. */
  onFile(path: string): boolean;
  onLine(line: GrepLine): void;
  /** The file is binary: the lines that were reported do not count. */
  onBinary(): void;
  onFileEnd(): void;
}

export class GrepReader {
  readonly #listener: GrepListener;
  readonly #emptyLine: Buffer;
  readonly #separator: Buffer;
  #state: "path" | "line" | "rest of line" | "rest of file" = "path";
  #rest: Buffer = Buffer.alloc(0);

  /** `emptyLine` is between files: with `--crlf` a sorted search ends it as Windows does, one with threads does not. */
  constructor(listener: GrepListener, emptyLine: "\n" | "\r\n" = "\n") {
    this.#listener = listener;
    this.#emptyLine = Buffer.from(emptyLine);
    this.#separator = Buffer.from(`\n${emptyLine}`);
  }

  push(chunk: Uint8Array): void {
    const fresh = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const bytes = this.#rest.length === 0 ? fresh : Buffer.concat([this.#rest, fresh]);
    let at = 0;
    while (at < bytes.length) {
      const state = this.#state;
      const next = this.#step(bytes, at);
      if (next === at && this.#state === state) break;
      at = next;
    }
    // A copy: the chunk belongs to the sender.
    this.#rest = Buffer.from(bytes.subarray(at));
  }

  end(): void {
    if (this.#state === "line" && this.#rest.length > 0) this.push(Buffer.of(newline));
    if (this.#state === "line" || this.#state === "rest of line") this.#listener.onFileEnd();
    this.#state = "path";
    this.#rest = Buffer.alloc(0);
  }

  /** How far it came. If it stays at `at` in the same state, more is needed. */
  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case "path":
        return this.#readPath(bytes, at);
      case "line":
        return this.#readLine(bytes, at);
      case "rest of line": {
        const end = bytes.indexOf(newline, at);
        if (end === -1) return bytes.length;
        this.#state = "line";
        return end + 1;
      }
      case "rest of file": {
        const end = bytes.indexOf(this.#separator, at);
        // The last bytes may be the first part of the separator.
        if (end === -1) return Math.max(at, bytes.length - this.#emptyLine.length);
        this.#state = "path";
        return end + this.#separator.length;
      }
    }
  }

  #readPath(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(nul, at);
    // No path is that long; what has no end is no path.
    if (end === -1) return bytes.length - at > maxPathBytes ? bytes.length : at;
    this.#state = this.#listener.onFile(bytes.toString("utf8", at, end)) ? "line" : "rest of file";
    return end + 1;
  }

  #readLine(bytes: Buffer, at: number): number {
    // A line of a file begins with its number.
    if (bytes[at] === this.#emptyLine[0]) {
      if (bytes.length - at < this.#emptyLine.length) return at;
      this.#state = "path";
      this.#listener.onFileEnd();
      return at + this.#emptyLine.length;
    }
    const found = bytes.indexOf(newline, at);
    const length = (found === -1 ? bytes.length : found) - at;
    if (found === -1 && length <= maxLineBytes) return at;
    const line = lineOf(bytes.subarray(at, at + Math.min(length, maxLineBytes)), length > maxLineBytes);
    if (line) this.#listener.onLine(line);
    else this.#listener.onBinary();
    // ripgrep's one remark about a binary file is the last line for that file.
    if (!line) this.#state = "rest of file";
    else if (found === -1) this.#state = "rest of line";
    // The line feed may be the first half of the separator.
    return found === -1 ? bytes.length : line ? found + 1 : found;
  }
}

/** Undefined if it is not a line of a file. */
function lineOf(bytes: Buffer, goesOn: boolean): GrepLine | undefined {
  let digits = 0;
  while (isDigit(bytes[digits])) digits++;
  const mark = bytes[digits];
  if (digits === 0 || (mark !== 0x3a && mark !== 0x2d)) return undefined;
  const number = Number(bytes.toString("latin1", 0, digits));
  return { number, isMatch: mark === 0x3a, ...shownLine(bytes.toString("utf8", digits + 1), goesOn) };
}

/** A line of a file as it is shown. `goesOn`: what is given is only its beginning. */
export function shownLine(line: string, goesOn = false): { text: string; isCut: boolean } {
  const text = stripEscapes(line.endsWith("\r") ? line.slice(0, -1) : line);
  return { text: cutText(text, maxLineLength), isCut: goesOn || text.length > maxLineLength };
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}
