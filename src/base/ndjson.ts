// Newline-delimited JSON: bytes in, frames out. Promises: work linear in the bytes however they are cut up, memory
// bounded by one record, one problem per bad record, and the next record always read.

import { isUtf8 } from "node:buffer";
import { messageOf } from "./errors.js";
import { isObject, type JsonObject } from "./json.js";
import type { TextMask } from "./text-mask.js";

export const maxRecordBytes = 64 * 1024 * 1024;
export const maxNesting = 128;
export const maxKeysPerObject = 100_000;

export type TypedObject = JsonObject & { type: string };
export type Frame = { ok: true; value: TypedObject } | { ok: false; problem: string };

const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

export class FrameReader {
  readonly #maxBytes: number;
  /** The incomplete record, in the pieces in which it arrived; joined once, when it is complete. */
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #discarding = false;
  #isFirst = true;

  constructor(maxBytes = maxRecordBytes) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    let start = 0;
    // LF only. U+2028 and friends are legal inside a JSON string, and a line reader would cut the frame there.
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#take(chunk.subarray(start, end), frames);
      this.#finish(frames);
      start = end + 1;
    }
    if (start < chunk.length) this.#take(chunk.subarray(start), frames);
    return frames;
  }

  /** At the end of the stream a last record without LF still counts. */
  end(): Frame[] {
    const frames: Frame[] = [];
    if (this.#bytes > 0 || this.#discarding) this.#finish(frames);
    return frames;
  }

  #take(piece: Uint8Array, frames: Frame[]): void {
    if (this.#discarding || piece.length === 0) return;
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) {
      this.#discarding = true;
      this.#pieces = [];
      frames.push({ ok: false, problem: `Record exceeds ${this.#maxBytes} bytes` });
      return;
    }
    this.#pieces.push(piece);
  }

  #finish(frames: Frame[]): void {
    const pieces = this.#pieces;
    const wasDiscarding = this.#discarding;
    this.#pieces = [];
    this.#bytes = 0;
    this.#discarding = false;
    const first = this.#isFirst;
    this.#isFirst = false;
    if (wasDiscarding) return;
    let record = pieces.length === 1 && pieces[0] ? asBuffer(pieces[0]) : Buffer.concat(pieces);
    if (first && record.subarray(0, 3).equals(byteOrderMark)) record = record.subarray(3);
    const frame = parseRecord(record);
    if (frame) frames.push(frame);
  }
}

/** One record without its LF. Blank records give nothing. */
export function parseRecord(bytes: Buffer): Frame | undefined {
  const record = bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes;
  if (isBlank(record)) return undefined;
  if (!isUtf8(record)) return { ok: false, problem: "Invalid UTF-8" };
  const excess = structureProblem(record);
  if (excess) return { ok: false, problem: excess };
  let value: unknown;
  try {
    value = JSON.parse(record.toString("utf8"));
  } catch (error) {
    // Newer versions of Node add line and column. A record is one line, so the position is enough.
    return { ok: false, problem: messageOf(error).replace(/ \(line 1 column \d+\)$/, "") };
  }
  if (!isObject(value)) return { ok: false, problem: `Expected a JSON object, got ${kindOf(value)}` };
  if (typeof value.type !== "string") return { ok: false, problem: 'Expected a string member "type"' };
  return { ok: true, value: value as TypedObject };
}

/** Compact JSON and LF. Line separators are escaped, so that a host's careless line reader keeps the frame whole. */
export function encodeFrame(value: object, mask?: TextMask): string {
  return asLine(JSON.stringify(value), mask);
}

/** The line for JSON text that was put together elsewhere, without the secrets that the mask knows. */
export function asLine(text: string, mask?: TextMask): string {
  const json = mask?.isActive ? mask.line(text) : text;
  // One `includes` per character is faster than a regular expression.
  const isRisky = json.includes("\u2028") || json.includes("\u2029") || json.includes("\u0085");
  return `${isRisky ? json.replace(lineSeparators, escapeCharacter) : json}\n`;
}

const lineSeparators = /[\u0085\u2028\u2029]/g;

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Counts nesting and keys on the bytes, so that a bomb is refused before the parser builds it. */
function structureProblem(record: Buffer): string | undefined {
  if (record.length <= maxNesting) return undefined; // too short to break either limit
  const keys: number[] = [];
  let depth = 0;
  for (let index = 0; index < record.length; index++) {
    const byte = record[index] as number;
    if (byte === QUOTE) {
      index = endOfString(record, index);
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > maxNesting) return `Nesting exceeds ${maxNesting} levels`;
      keys[depth] = 0;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (depth > 0) depth--;
    } else if (byte === COLON) {
      const count = (keys[depth] ?? 0) + 1;
      if (count > maxKeysPerObject) return `An object has more than ${maxKeysPerObject} keys`;
      keys[depth] = count;
    }
  }
  return undefined;
}

/** The index of the closing quote, or the last byte if there is none. Jumps by quotes, since strings are long. */
function endOfString(record: Buffer, open: number): number {
  for (let close = record.indexOf(QUOTE, open + 1); close !== -1; close = record.indexOf(QUOTE, close + 1)) {
    let backslashes = 0;
    while (record[close - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return close;
  }
  return record.length - 1;
}

function isBlank(record: Buffer): boolean {
  for (const byte of record) if (byte !== 0x20 && byte !== 0x09 && byte !== CR) return false;
  return true;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
