// A unified diff from spans whose positions are known: nothing is searched for, and only the lines that are shown are
// decoded.

import { isUtf8 } from "node:buffer";
import { quotedName } from "./git-headers.js";

/** The original bytes `[start, end)` became `length` others. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly length: number;
}

export interface ChangedFile {
  readonly displayPath: string;
  readonly before: Buffer;
  readonly after: Buffer;
  /** Ascending; bytes outside them are equal. */
  readonly spans: readonly Span[];
  /** Where one side is no file at all; empty bytes alone do not tell. */
  readonly kind?: "create" | "delete" | undefined;
}

export interface FileDiff {
  diff: string;
  /** In the new file, from 1. */
  firstChangedLine: number;
}

/** Around each change. Hunks are cut, and numbered, with this many. */
export const contextLines = 3;
const defaultMaxLength = 51_200;

export function diffFile(file: ChangedFile, maxLength = defaultMaxLength): FileDiff {
  const { displayPath, before, after, spans, kind } = file;
  const sides = { before: indexLines(before), after: indexLines(after) };
  const blocks = changedBlocks(spans, sides);
  const nothing = "/dev/null";
  let diff = `--- ${kind === "create" ? nothing : sideName(`a/${displayPath}`)}\n`;
  diff += `+++ ${kind === "delete" ? nothing : sideName(`b/${displayPath}`)}\n`;
  for (const group of groupBlocks(blocks)) {
    const { text, isCut } = hunkText(group, sides, maxLength - diff.length);
    diff += text;
    if (!isCut) continue;
    diff += cutNotice(maxLength);
    break;
  }
  return { diff, firstChangedLine: (blocks[0]?.newStart ?? 0) + 1 };
}

/** Git needs a tab to find the end of a name with spaces. */
function sideName(name: string): string {
  const quoted = quotedName(name);
  return quoted === name && name.includes(" ") ? `${name}\t` : quoted;
}

/** One hunk of the diff, as ranges of bytes that change together. */
export interface Hunk {
  readonly added: number;
  readonly removed: number;
  readonly changes: readonly { readonly start: number; readonly end: number; readonly bytes: Buffer }[];
  /** All that the diff shows of it, context included: bytes of the old text, and of the new one. */
  readonly old: ByteRange;
  readonly fresh: ByteRange;
}

export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The hunks of `diffFile`'s diff, in its order. Putting the bytes of all of them in place gives the new file. */
export function hunksOf(file: Omit<ChangedFile, "displayPath">): Hunk[] {
  const { hunks, ...sides } = hunkBlocks(file);
  const at = (lines: Lines, line: number) => lines.starts[line] ?? lines.bytes.length;
  return hunks.map((blocks) => ({
    ...shownRanges(blocks, sides, at),
    added: blocks.reduce((sum, { newStart, newEnd }) => sum + newEnd - newStart, 0),
    removed: blocks.reduce((sum, { oldStart, oldEnd }) => sum + oldEnd - oldStart, 0),
    changes: blocks.map(({ oldStart, oldEnd, newStart, newEnd }) => ({
      start: at(sides.before, oldStart),
      end: at(sides.before, oldEnd),
      bytes: file.after.subarray(at(sides.after, newStart), at(sides.after, newEnd)),
    })),
  }));
}

export interface HunkBlocks extends Sides {
  readonly hunks: readonly (readonly Block[])[];
}

/** The hunks of `diffFile`'s diff as ranges of lines. */
export function hunkBlocks({ before, after, spans }: Omit<ChangedFile, "displayPath">): HunkBlocks {
  const sides = { before: indexLines(before), after: indexLines(after) };
  return { ...sides, hunks: groupBlocks(changedBlocks(spans, sides)) };
}

function shownRanges(
  blocks: readonly Block[],
  { before, after }: Sides,
  at: (lines: Lines, line: number) => number,
): Pick<Hunk, "old" | "fresh"> {
  const { oldFrom, oldTo, newFrom, newTo } = shownLines(blocks, before);
  return {
    old: { start: at(before, oldFrom), end: at(before, oldTo) },
    fresh: { start: at(after, newFrom), end: at(after, newTo) },
  };
}

/** Several diffs as one, within the limit of one. */
export function joinDiffs(diffs: readonly string[], maxLength = defaultMaxLength): string {
  let joined = "";
  for (const diff of diffs) {
    if (joined.length + diff.length > maxLength) return joined + cutNotice(maxLength);
    joined += diff;
  }
  return joined;
}

/** The last line of a diff that was cut. */
export function cutNotice(maxLength: number): string {
  return `… diff cut at ${maxLength} characters\n`;
}

export interface Lines {
  readonly bytes: Buffer;
  /** Where each line begins, and the end of the text. */
  readonly starts: readonly number[];
  readonly count: number;
}

export interface Sides {
  readonly before: Lines;
  readonly after: Lines;
}

/** Whole lines that change together; indexes from 0, ends exclusive. */
export interface Block {
  oldStart: number;
  oldEnd: number;
  newStart: number;
  newEnd: number;
}

function indexLines(bytes: Buffer): Lines {
  const starts = [0];
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) starts.push(at + 1);
  if (starts.at(-1) !== bytes.length) starts.push(bytes.length);
  return { bytes, starts, count: starts.length - 1 };
}

/** The line in which a byte stands; behind the last byte, the line that is not there yet. */
function lineAt({ starts, bytes, count }: Lines, offset: number): number {
  if (offset >= bytes.length) return bytes.length > 0 && bytes.at(-1) !== 0x0a ? count - 1 : count;
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((starts[middle] as number) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

function changedBlocks(spans: readonly Span[], { before, after }: Sides): Block[] {
  const blocks: Block[] = [];
  let shift = 0;
  for (const { start, end, length } of spans) {
    const newStart = start + shift;
    shift += length - (end - start);
    const block = { oldStart: lineAt(before, start), newStart: lineAt(after, newStart), oldEnd: 0, newEnd: 0 };
    block.oldEnd = lineAt(before, end);
    block.newEnd = lineAt(after, newStart + length);
    // The line in which the span ends changes too, unless it begins there in both texts.
    const isWhole = before.starts[block.oldEnd] === end && after.starts[block.newEnd] === newStart + length;
    if (!isWhole) {
      block.oldEnd = Math.min(block.oldEnd + 1, before.count);
      block.newEnd = Math.min(block.newEnd + 1, after.count);
    }
    const last = blocks.at(-1);
    if (last && block.oldStart <= last.oldEnd) {
      last.oldEnd = Math.max(last.oldEnd, block.oldEnd);
      last.newEnd = Math.max(last.newEnd, block.newEnd);
    } else blocks.push(block);
  }
  return blocks.map((block) => withoutEqualEnds(block, { before, after })).filter((block) => !isEmpty(block));
}

/** A span may begin at the end of a line that itself stays. */
function withoutEqualEnds(block: Block, { before, after }: Sides): Block {
  let { oldStart, oldEnd, newStart, newEnd } = block;
  const isEqual = (oldLine: number, newLine: number) => lineBytes(before, oldLine).equals(lineBytes(after, newLine));
  while (oldStart < oldEnd && newStart < newEnd && isEqual(oldStart, newStart)) {
    oldStart++;
    newStart++;
  }
  while (oldStart < oldEnd && newStart < newEnd && isEqual(oldEnd - 1, newEnd - 1)) {
    oldEnd--;
    newEnd--;
  }
  return { oldStart, oldEnd, newStart, newEnd };
}

function isEmpty({ oldStart, oldEnd, newStart, newEnd }: Block): boolean {
  return oldStart === oldEnd && newStart === newEnd;
}

/** Blocks whose surroundings touch share a hunk. */
function groupBlocks(blocks: readonly Block[]): Block[][] {
  const groups: Block[][] = [];
  let previous: Block | undefined;
  for (const block of blocks) {
    if (previous && block.oldStart - previous.oldEnd <= 2 * contextLines) groups.at(-1)?.push(block);
    else groups.push([block]);
    previous = block;
  }
  return groups;
}

/** The lines of a hunk with their context. A hunk has one block or more. */
function shownLines(blocks: readonly Block[], before: Lines) {
  const [first, last] = [blocks[0] as Block, blocks.at(-1) as Block];
  const oldFrom = Math.max(0, first.oldStart - contextLines);
  const oldTo = Math.min(before.count, last.oldEnd + contextLines);
  return {
    oldFrom,
    oldTo,
    newFrom: first.newStart - (first.oldStart - oldFrom),
    newTo: last.newEnd + (oldTo - last.oldEnd),
  };
}

/** As many lines as `maxLength` has room for; nothing where that is no changed one. */
function hunkText(
  blocks: readonly Block[],
  { before, after }: Sides,
  maxLength: number,
): { text: string; isCut: boolean } {
  const { oldFrom, oldTo, newFrom, newTo } = shownLines(blocks, before);
  let text = `@@ -${range(oldFrom, oldTo - oldFrom)} +${range(newFrom, newTo - newFrom)} @@\n`;
  let isCut = false;
  let isChangeShown = false;
  const add = (sign: string, lines: Lines, from: number, to: number) => {
    for (let line = from; line < to && !isCut; line++) {
      const next = sign + lineText(lines, line, maxLength);
      isCut = text.length + next.length > maxLength;
      if (isCut) return;
      text += next;
      isChangeShown ||= sign !== " ";
    }
  };
  let position = oldFrom;
  for (const { oldStart, oldEnd, newStart, newEnd } of blocks) {
    add(" ", before, position, oldStart);
    add("-", before, oldStart, oldEnd);
    add("+", after, newStart, newEnd);
    position = oldEnd;
  }
  add(" ", before, position, oldTo);
  return { text: isCut && !isChangeShown ? "" : text, isCut };
}

function range(from: number, length: number): string {
  return `${rangeStart(from, length)},${length}`;
}

/** Lines are counted from 1; an empty range is named by the line before it. */
export function rangeStart(from: number, length: number): number {
  return length === 0 ? from : from + 1;
}

function lineBytes({ bytes, starts }: Lines, line: number): Buffer {
  return bytes.subarray(starts[line], starts[line + 1]);
}

/** With its newline, or with the note that there is none. */
export function lineText(lines: Lines, line: number, maxLength = Number.POSITIVE_INFINITY): string {
  const bytes = lineBytes(lines, line);
  // A line that alone breaks the limit is not decoded to find that out: a byte makes at most one character.
  const shown = bytes.subarray(0, 4 * maxLength + 4);
  // Bytes that are no UTF-8 would all look alike.
  const text = shown.toString(isUtf8(shown) ? "utf8" : "latin1");
  return bytes.at(-1) === 0x0a ? text : `${text}\n\\ No newline at end of file\n`;
}
