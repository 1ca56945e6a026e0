// Which words of a changed line really changed. Two lines that have little in common are shown whole: marks everywhere
// would mark nothing.

import { diffWordsWithSpace } from "diff";

/** `[start, end)` in UTF-16 units. */
export type Range = readonly [start: number, end: number];

export interface ChangedWords {
  readonly old: readonly Range[];
  readonly new: readonly Range[];
}

/** A longer line is compared by its ends alone. */
const maxLength = 2000;
const maxEditLength = 200;
/** Of the shorter line: less in common, and the two are not the same line. */
const minCommon = 0.3;

/** Undefined where the lines are equal or have too little in common. */
export function changedWords(before: string, after: string): ChangedWords | undefined {
  if (before === after) return undefined;
  const parts =
    before.length > maxLength || after.length > maxLength
      ? undefined
      : diffWordsWithSpace(before, after, { maxEditLength });
  const ranges = parts ? rangesOf(parts) : middleOf(before, after);
  const kept = before.length - lengthOf(ranges.old);
  return kept < minCommon * Math.min(before.trim().length, after.trim().length) ? undefined : ranges;
}

function rangesOf(parts: readonly { value: string; added?: boolean; removed?: boolean }[]): ChangedWords {
  const old: Range[] = [];
  const fresh: Range[] = [];
  let [at, newAt] = [0, 0];
  for (const { value, added, removed } of parts) {
    if (removed) addRange(old, [at, at + value.length]);
    if (added) addRange(fresh, [newAt, newAt + value.length]);
    if (!added) at += value.length;
    if (!removed) newAt += value.length;
  }
  return { old, new: fresh };
}

/** Two that touch are one. */
function addRange(ranges: Range[], [start, end]: Range): void {
  const last = ranges.at(-1);
  if (last?.[1] === start) ranges[ranges.length - 1] = [last[0], end];
  else ranges.push([start, end]);
}

/** What is left when the equal beginnings and ends are cut off. */
function middleOf(before: string, after: string): ChangedWords {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  if (isHalf(before[start - 1])) start--;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  if (isHalf(before.at(-1 - end)) && end > 0) end--;
  const range = (text: string): Range[] => (text.length - end > start ? [[start, text.length - end]] : []);
  return { old: range(before), new: range(after) };
}

/** The first half of a character that takes two units. */
function isHalf(unit: string | undefined): boolean {
  return unit !== undefined && /[\ud800-\udbff]/.test(unit);
}

function lengthOf(ranges: readonly Range[]): number {
  return ranges.reduce((sum, [start, end]) => sum + end - start, 0);
}
