// What really differs in a planned file. A planned change is never altered, so it is compared once, however often its
// figures, its diff or its hunks are asked for.

import { isOfFiles, type PlannedChange } from "../plan.js";
import { compareTexts } from "./compare-texts.js";
import { type Hunk, hunkBlocks, hunksOf, type Span } from "./file-diff.js";

export class ComparedChange {
  readonly before: Buffer;
  readonly after: Buffer;
  readonly spans: readonly Span[];
  readonly hunkCount: number;
  readonly added: number;
  readonly removed: number;
  #hunks: readonly Hunk[] | undefined;

  constructor(before: Buffer, after: Buffer, spans: readonly Span[]) {
    this.before = before;
    this.after = after;
    this.spans = spans;
    const { hunks } = hunkBlocks(this);
    this.hunkCount = hunks.length;
    let [added, removed] = [0, 0];
    for (const blocks of hunks)
      for (const { oldStart, oldEnd, newStart, newEnd } of blocks) {
        added += newEnd - newStart;
        removed += oldEnd - oldStart;
      }
    this.added = added;
    this.removed = removed;
  }

  /** Made when they are asked for: of a plan with thousands of files most are only counted. */
  get hunks(): readonly Hunk[] {
    this.#hunks ??= hunksOf(this);
    return this.#hunks;
  }
}

const known = new WeakMap<PlannedChange, Promise<ComparedChange>>();

export function compareChange(change: PlannedChange): Promise<ComparedChange> {
  const found = known.get(change) ?? compare(change);
  known.set(change, found);
  return found;
}

async function compare(change: PlannedChange): Promise<ComparedChange> {
  const [before, after] = [asBuffer(change.before), asBuffer(change.after)];
  // A link or a directory is decided about as a whole.
  const replacements = isOfFiles(change) ? await compareTexts(before, after) : [];
  const spans = replacements.map(({ start, end, newStart, newEnd }) => ({ start, end, length: newEnd - newStart }));
  return new ComparedChange(before, after, spans);
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
