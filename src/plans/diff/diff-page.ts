// A diff in pages of bounded size. A page may end inside a hunk; the position where the next one begins names file, hunk
// and line, so that no page costs more than what it shows.

import { isUtf8 } from "node:buffer";
import { binaryHeadBytes, isBinary } from "../../base/is-binary.js";
import type { DiffFile, DiffHunk } from "../../protocol/diff.js";
import type { FileChangeKind } from "../../protocol/pending.js";
import { isOfFiles, type PlannedChange, typeAfter, typeBefore, typeMember } from "../plan.js";
import { compareChange } from "./compare-change.js";
import { contextLines, type HunkBlocks, hunkBlocks, type Lines, lineText, rangeStart } from "./file-diff.js";
import { usualFileMode } from "./git-headers.js";

export interface ShownFile {
  readonly path: string;
  readonly kind: FileChangeKind;
  readonly to?: string;
  /** Undefined where its bytes are no longer available. */
  readonly change: PlannedChange | undefined;
}

/** `file` is an index; hunks are counted from 1, their lines from 0. */
export interface DiffPosition {
  readonly file: number;
  readonly hunk: number;
  readonly line: number;
}

export interface DiffPageOptions {
  /** Other files are left out. */
  readonly only?: ReadonlySet<string>;
  readonly from?: DiffPosition;
  /**
   * Lines shown around each hunk; default 3. Hunks stay those of 3, so that their numbers hold: with more they may touch,
   * but no line is shown twice; with fewer the lines between two changes of one hunk are still shown.
   */
  readonly context?: number;
  readonly maxBytes?: number;
}

const usualBytes = 768 * 1024;
/** What a file and a hunk cost besides their path and lines. */
const headBytes = 100;

/** At least one line or one file without lines, however large it is. `next` is absent on the last page. */
export async function diffPage(
  files: readonly ShownFile[],
  { only, from, context = contextLines, maxBytes = usualBytes }: DiffPageOptions = {},
): Promise<{ files: DiffFile[]; next?: DiffPosition }> {
  const page: DiffFile[] = [];
  let room = maxBytes;
  for (let index = from?.file ?? 0; index < files.length; index++) {
    const file = files[index] as ShownFile;
    if (only && !only.has(file.path)) continue;
    const start = index === from?.file ? from : { file: index, hunk: 1, line: 0 };
    room -= headBytes + Buffer.byteLength(JSON.stringify(file.path));
    if (room < 0 && page.length > 0) return { files: page, next: start };
    const { about, blocks } = await openFile(file);
    const isFirst = page.length === 0;
    const { hunks, bytes, next } = blocks ? takeHunks(blocks, { start, context, room, isFirst }) : noHunks;
    if (hunks.length > 0 || !next) page.push({ ...about, hunks });
    room -= bytes;
    if (next) return { files: page, next: { file: index, ...next } };
    if (file.change) halfRead.delete(file.change);
  }
  return { files: page };
}

interface OpenFile {
  readonly about: Omit<DiffFile, "hunks">;
  /** Undefined where no lines are shown. */
  readonly blocks?: HunkBlocks;
}

/** Files that a page ended in: their lines are not looked for again. */
const halfRead = new WeakMap<PlannedChange, OpenFile>();

async function openFile({ path, kind, to, change }: ShownFile): Promise<OpenFile> {
  const about = { path, kind, to };
  if (!change) return { about: { ...about, gone: true } };
  const open = halfRead.get(change) ?? (await compared(change, { ...about, ...typesOf(change), ...modesOf(change) }));
  halfRead.set(change, open);
  return open;
}

async function compared(change: PlannedChange, about: OpenFile["about"]): Promise<OpenFile> {
  if (!isOfFiles(change)) return { about };
  const sides = await compareChange(change);
  const both = [sides.before, sides.after];
  if (both.some((bytes) => isBinary(bytes.subarray(0, binaryHeadBytes))))
    return { about: { ...about, binary: true, ...sizesOf(change) } };
  const isLossy = !both.every((bytes) => isUtf8(bytes));
  return { about: { ...about, ...(isLossy ? { lossy: true as const } : {}) }, blocks: hunkBlocks(sides) };
}

/** Of a created file only where it is unusual. */
function modesOf(change: PlannedChange): Pick<DiffFile, "oldMode" | "newMode"> {
  const { kind, mode, stamp, type = "file" } = change;
  if (mode === undefined || type === "symlink") return {};
  if (kind === "create") return type === "file" && mode === usualFileMode ? {} : { newMode: mode };
  if (kind !== "modify" || typeBefore(change) !== type) return {};
  return mode === stamp.mode ? {} : { oldMode: stamp.mode, newMode: mode };
}

function sizesOf({ before, after, stamp, kind }: PlannedChange): Pick<DiffFile, "oldSize" | "newSize"> {
  return {
    ...(stamp.exists ? { oldSize: before.length } : {}),
    ...(kind === "delete" ? {} : { newSize: after.length }),
  };
}

function typesOf(change: PlannedChange): Partial<DiffFile> {
  const [was, is] = [typeBefore(change), typeAfter(change)];
  return {
    ...typeMember(is ?? was),
    ...(was && is && was !== is ? { oldType: was } : {}),
    ...(is === "symlink" ? { target: Buffer.from(change.after).toString() } : {}),
    ...(was === "symlink" ? { oldTarget: Buffer.from(change.before).toString() } : {}),
    ...(change.protected ? { protected: true } : {}),
    ...(change.renamedFrom === undefined ? {} : { renamedFrom: change.renamedFrom }),
  };
}

interface Taken {
  readonly hunks: DiffHunk[];
  readonly bytes: number;
  readonly next?: Pick<DiffPosition, "hunk" | "line">;
}

const noHunks: Taken = { hunks: [], bytes: 0 };

interface Room {
  readonly start: Pick<DiffPosition, "hunk" | "line">;
  readonly context: number;
  readonly room: number;
  /** Nothing is on the page yet: the first line has its place. */
  readonly isFirst: boolean;
}

function takeHunks(blocks: HunkBlocks, { start, context, room, isFirst }: Room): Taken {
  const hunks: DiffHunk[] = [];
  let bytes = 0;
  for (let number = start.hunk; number <= blocks.hunks.length; number++) {
    const { head, segments } = layOut(blocks, number, context);
    const skipped = number === start.hunk ? start.line : 0;
    const lines: string[] = [];
    const hunk: DiffHunk = { number, ...head, lines, ...(skipped > 0 ? { continued: true } : {}) };
    bytes += headBytes;
    let position = 0;
    for (const { sign, of, from, to } of segments) {
      const behind = Math.min(Math.max(skipped - position, 0), to - from);
      for (let line = from + behind; line < to; line++) {
        const texts = `${sign}${lineText(of, line)}`.slice(0, -1).split("\n");
        bytes += texts.reduce((sum, text) => sum + Buffer.byteLength(JSON.stringify(text)) + 1, 0);
        const isHeld = isFirst && hunks.length === 0;
        if (bytes > room && !isHeld) return { hunks, bytes, next: { hunk: number, line: position + line - from } };
        if (lines.length === 0) hunks.push(hunk);
        lines.push(...texts);
      }
      position += to - from;
    }
  }
  return { hunks, bytes };
}

interface Segment {
  readonly sign: " " | "-" | "+";
  readonly of: Lines;
  readonly from: number;
  readonly to: number;
}

/** One hunk with its surroundings, which end where those of its neighbours begin. */
function layOut({ before, after, hunks }: HunkBlocks, number: number, context: number) {
  const [previous, blocks = [], following] = [hunks[number - 2], hunks[number - 1], hunks[number]];
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (!first || !last) throw new RangeError(`There is no hunk ${number}.`);
  const gapBefore = first.oldStart - (previous?.at(-1)?.oldEnd ?? 0);
  const taken = previous ? Math.min(context, gapBefore) : 0;
  const leading = Math.min(context, gapBefore - taken);
  const trailing = Math.min(context, (following?.[0]?.oldStart ?? before.count) - last.oldEnd);
  const segments: Segment[] = [];
  let position = first.oldStart - leading;
  for (const { oldStart, oldEnd, newStart, newEnd } of blocks) {
    segments.push(
      { sign: " ", of: before, from: position, to: oldStart },
      { sign: "-", of: before, from: oldStart, to: oldEnd },
      { sign: "+", of: after, from: newStart, to: newEnd },
    );
    position = oldEnd;
  }
  segments.push({ sign: " ", of: before, from: position, to: last.oldEnd + trailing });
  const oldLines = last.oldEnd + trailing - (first.oldStart - leading);
  const newLines = last.newEnd + trailing - (first.newStart - leading);
  const oldStart = rangeStart(first.oldStart - leading, oldLines);
  const newStart = rangeStart(first.newStart - leading, newLines);
  return { head: { oldStart, oldLines, newStart, newLines }, segments };
}
