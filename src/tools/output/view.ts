// Which part of an output a model gets: whole lines from its end, or from its beginning where asked, within a number of
// lines and bytes. Line numbers are those of the raw output.

import { plainOutput } from "./plain.js";

export interface LineLimits {
  readonly maxLines: number;
  readonly maxBytes: number;
}

export interface OutputPart {
  readonly text: string;
  readonly outputLines: number;
  readonly outputBytes: number;
  readonly shownRange: { readonly start: number; readonly end: number };
  /** Lines, or the part of one, are missing because of the bytes they have. */
  readonly isCutByBytes: boolean;
  readonly cutLine?: number;
  readonly isOverwritten: boolean;
}

export interface OutputSource {
  /** The raw beginning or end of the output, or all of it. */
  readonly bytes: Buffer;
  readonly isWhole: boolean;
  readonly totalLines: number;
}

/** The first lines; of those the last `tail`, where that is asked too. */
export function showHead(source: OutputSource, limits: LineLimits, tail = limits.maxLines): OutputPart {
  const lastFeed = source.isWhole ? -1 : source.bytes.lastIndexOf(lineFeed);
  const raw = lastFeed === -1 ? source.bytes : source.bytes.subarray(0, lastFeed + 1);
  const { text, isOverwritten } = plainOutput((source.isWhole ? raw : wholeCharacters(raw)).toString());
  const first = headOf(Buffer.from(text), limits);
  const { bytes, lines } = tailOf(first.bytes, { maxLines: tail, maxBytes: limits.maxBytes });
  const isLineCut = first.isLineCut || (!source.isWhole && lastFeed === -1);
  return {
    ...shown(bytes, lines, first.lines),
    isCutByBytes: isLineCut || (first.lines < limits.maxLines && !(first.isAll && source.isWhole)),
    ...(isLineCut ? { cutLine: first.lines } : {}),
    isOverwritten,
  };
}

/** The last lines. */
export function showTail(source: OutputSource, limits: LineLimits): OutputPart {
  const firstFeed = source.isWhole ? -1 : source.bytes.indexOf(lineFeed);
  const beginsInLine = !source.isWhole && (firstFeed === -1 || firstFeed === source.bytes.length - 1);
  const raw = source.isWhole ? source.bytes : source.bytes.subarray(beginsInLine ? 0 : firstFeed + 1);
  const { text, isOverwritten } = plainOutput(raw.subarray(beginsInLine ? characterStart(raw, 0) : 0).toString());
  const last = tailOf(Buffer.from(text), limits);
  const isLineCut = last.isLineCut || (beginsInLine && last.isAll);
  return {
    ...shown(last.bytes, last.lines, source.totalLines),
    isCutByBytes: isLineCut || (last.lines < limits.maxLines && !(last.isAll && source.isWhole)),
    ...(isLineCut ? { cutLine: source.totalLines - last.lines + 1 } : {}),
    isOverwritten,
  };
}

/** Without the bytes of a character that is not complete yet. */
export function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

/** A loop, not `indexOf`: its cost is the same for output that is nothing but line feeds. */
export function countLineFeeds(bytes: Uint8Array): number {
  let found = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === lineFeed) found++;
  return found;
}

export const lineFeed = 0x0a;

interface Selection {
  bytes: Buffer;
  lines: number;
  isAll: boolean;
  isLineCut: boolean;
}

function headOf(text: Buffer, { maxLines, maxBytes }: LineLimits): Selection {
  let end = 0;
  let lines = 0;
  while (end < text.length && lines < maxLines) {
    const found = text.indexOf(lineFeed, end);
    const lineEnd = found === -1 ? text.length : found + 1;
    if (lineEnd > maxBytes) break;
    end = lineEnd;
    lines++;
  }
  if (lines > 0 || text.length === 0)
    return { bytes: text.subarray(0, end), lines, isAll: end === text.length, isLineCut: false };
  return { bytes: wholeCharacters(text.subarray(0, maxBytes)), lines: 1, isAll: false, isLineCut: true };
}

function tailOf(text: Buffer, { maxLines, maxBytes }: LineLimits): Selection {
  const floor = Math.max(0, text.length - maxBytes);
  let start = text.length;
  let lines = 0;
  let lineEnd = text.at(-1) === lineFeed ? text.length - 1 : text.length;
  while (start > 0 && lines < maxLines) {
    const lineStart = lineEnd === 0 ? 0 : text.lastIndexOf(lineFeed, lineEnd - 1) + 1;
    if (lineStart < floor) break;
    start = lineStart;
    lineEnd = lineStart - 1;
    lines++;
  }
  if (lines > 0 || text.length === 0)
    return { bytes: text.subarray(start), lines, isAll: start === 0, isLineCut: false };
  return { bytes: text.subarray(characterStart(text, floor)), lines: 1, isAll: false, isLineCut: true };
}

function shown(bytes: Buffer, lines: number, end: number) {
  return {
    text: bytes.toString(),
    outputLines: lines,
    outputBytes: bytes.length,
    shownRange: { start: end - lines + 1, end },
  };
}

/** The first place at or after `from` where a character begins; bytes that are no UTF-8 give up after three. */
function characterStart(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && at < from + 3 && isContinuation(bytes[at] ?? 0)) at++;
  return at;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
