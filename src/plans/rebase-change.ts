// The same change on other bytes. A hunk fits where its exact old lines, context included, are found again; it may have
// moved. Nothing is guessed: lines that are found several times fit only if they were as many before.

import { sha256Of } from "../base/digest.js";
import { compareChange } from "./diff/compare-change.js";
import type { Hunk } from "./diff/file-diff.js";
import { type FoundContent, isOfFiles, type PlannedChange, stampOf } from "./plan.js";

export interface RebasedChange {
  /** Absent where nothing of it fits. */
  readonly change?: PlannedChange;
  /** The numbers of the hunks that do not fit. */
  readonly left: readonly number[];
}

/** What is there now; undefined where there is no file. */
export type PresentFile = FoundContent | undefined;

export async function rebaseChange(change: PlannedChange, present: PresentFile): Promise<RebasedChange> {
  const { kind, stamp, before: seen, units, ...rest } = change;
  if (kind === "create" && !present) return { change, left: [] };
  // Only lines of files can be found again.
  const isOfLines = isOfFiles(change) && (present?.type ?? "file") === "file";
  if (kind !== "modify" || !isOfLines) return { left: [1] };
  const { before, hunks } = await compareChange(change);
  // Hunks of other bytes than the stamp's would take back what another program wrote.
  const isReadable = present !== undefined && sha256Of(seen) === stamp.sha256;
  if (!isReadable) return { left: hunks.length === 0 ? [1] : hunks.map((_, index) => index + 1) };
  const bytes = Buffer.from(present.bytes.buffer, present.bytes.byteOffset, present.bytes.length);
  const placed: PlacedHunk[] = [];
  const left: number[] = [];
  for (const [index, hunk] of hunks.entries()) {
    const at = placeOf(before.subarray(hunk.old.start, hunk.old.end), { before, from: hunk.old.start, bytes });
    const fits = at === undefined ? undefined : movedTo(hunk, at);
    if (fits && placed.every((other) => !overlap(other, fits))) placed.push(fits);
    else left.push(index + 1);
  }
  if (placed.length === 0 && hunks.length > 0) return { left };
  const counted = units === hunks.length ? { units: placed.length } : left.length === 0 && units ? { units } : {};
  return {
    change: {
      ...rest,
      ...counted,
      kind,
      stamp: stampOf(stamp.path, { bytes, mode: present.mode }),
      before: bytes,
      after: patched(bytes, placed),
    },
    left,
  };
}

type PlacedHunk = Hunk["changes"];

function movedTo({ old, changes }: Hunk, at: number): PlacedHunk {
  const shift = at - old.start;
  return changes.map(({ start, end, bytes }) => ({ start: start + shift, end: end + shift, bytes }));
}

function overlap(a: PlacedHunk, b: PlacedHunk): boolean {
  const [first, second] = [a, b].map((changes) => ({ start: changes[0]?.start ?? 0, end: changes.at(-1)?.end ?? 0 }));
  return first !== undefined && second !== undefined && first.start <= second.end && second.start <= first.end;
}

/** Where the lines stand now. Of several places it is the same one in their order, if there are as many as before. */
function placeOf(
  lines: Buffer,
  { before, from, bytes }: { before: Buffer; from: number; bytes: Buffer },
): number | undefined {
  const [was, now] = [placesOf(lines, before), placesOf(lines, bytes)];
  return was.length === now.length ? now[was.indexOf(from)] : undefined;
}

/** Only whole lines count. */
function placesOf(lines: Buffer, bytes: Buffer): number[] {
  if (lines.length === 0) return bytes.length === 0 ? [0] : [];
  const places: number[] = [];
  for (let at = bytes.indexOf(lines); at !== -1; at = bytes.indexOf(lines, at + 1)) {
    const end = at + lines.length;
    const begins = at === 0 || bytes[at - 1] === 0x0a;
    const ends = end === bytes.length || lines.at(-1) === 0x0a;
    if (begins && ends) places.push(at);
  }
  return places;
}

function patched(bytes: Buffer, placed: readonly PlacedHunk[]): Buffer {
  const pieces: Buffer[] = [];
  let position = 0;
  for (const change of placed.flat().sort((a, b) => a.start - b.start)) {
    pieces.push(bytes.subarray(position, change.start), change.bytes);
    position = change.end;
  }
  return Buffer.concat([...pieces, bytes.subarray(position)]);
}
