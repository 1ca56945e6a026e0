// What really differs in a planned file. A planned change is never altered, so it is compared once, however often its
// figures, its diff or its hunks are asked for.

import { isOfFiles, type PlannedChange } from "../plan.js";
import { compareTexts } from "./compare-texts.js";
import { type Hunk, hunksOf, type Span } from "./file-diff.js";

export interface ComparedChange {
  readonly before: Buffer;
  readonly after: Buffer;
  readonly spans: readonly Span[];
  readonly hunks: readonly Hunk[];
  readonly added: number;
  readonly removed: number;
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
  if (!isOfFiles(change)) return { before, after, spans: [], hunks: [], added: 0, removed: 0 };
  const replacements = await compareTexts(before, after);
  const spans = replacements.map(({ start, end, newStart, newEnd }) => ({ start, end, length: newEnd - newStart }));
  const hunks = hunksOf({ before, after, spans });
  const added = hunks.reduce((sum, hunk) => sum + hunk.added, 0);
  const removed = hunks.reduce((sum, hunk) => sum + hunk.removed, 0);
  return { before, after, spans, hunks, added, removed };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
