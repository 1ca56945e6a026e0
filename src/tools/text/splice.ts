// Replacing spans of bytes, and keeping track of where the original bytes went when that happens more than once.

import type { Span } from "../../plans/diff/file-diff.js";

/** Replaces the bytes `[start, end)`. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
}

export type { Span };

/** `splices` are ascending and do not overlap. */
export function applySplices(bytes: Buffer, splices: readonly Splice[]): Buffer {
  const grown = splices.reduce((sum, { start, end, bytes }) => sum + bytes.length - (end - start), 0);
  const result = Buffer.allocUnsafe(bytes.length + grown);
  let [from, to] = [0, 0];
  for (const splice of splices) {
    to += bytes.copy(result, to, from, splice.start);
    to += splice.bytes.copy(result, to);
    from = splice.end;
  }
  bytes.copy(result, to, from);
  return result;
}

/** One list for two steps: `later` refers to the bytes after `earlier`. Both are ascending, and so is the result. */
export function composeSpans(earlier: readonly Span[], later: readonly Span[]): Span[] {
  if (earlier.length === 0) return [...later];
  // Everything is put on the bytes in the middle, where both lists meet: what overlaps or touches there is one span.
  let shift = 0;
  const steps = earlier.map(({ start, end, length }) => {
    const from = start + shift;
    shift += length - (end - start);
    return { from, to: from + length, grownBefore: length - (end - start), grownAfter: 0 };
  });
  for (const { start, end, length } of later)
    steps.push({ from: start, to: end, grownBefore: 0, grownAfter: length - (end - start) });
  steps.sort((a, b) => a.from - b.from || a.to - b.to);

  const groups: typeof steps = [];
  for (const step of steps) {
    const last = groups.at(-1);
    if (last && step.from <= last.to) {
      last.to = Math.max(last.to, step.to);
      last.grownBefore += step.grownBefore;
      last.grownAfter += step.grownAfter;
    } else groups.push({ ...step });
  }
  let grown = 0;
  return groups.map(({ from, to, grownBefore, grownAfter }) => {
    const start = from - grown;
    grown += grownBefore;
    return { start, end: to - grown, length: to - from + grownAfter };
  });
}
