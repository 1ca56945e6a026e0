// Finds a text that differs from the file only invisibly: space at the ends of lines, and characters that look alike
// (quotes, dashes, spaces). Never a guess: the text must fit in exactly one position, and indentation, letters and
// digits have to be exact.

import { isUtf8 } from "node:buffer";
import { blockSimilarity } from "./closest-text.js";

const maxFileBytes = 2_000_000;

export interface LooseMatch {
  /** Where it begins in the file's view, in bytes, and on which line. */
  readonly at: number;
  readonly line: number;
  /** What stands there, and what is to stand there instead. */
  readonly found: Buffer;
  readonly wished: Buffer;
}

/** `leastSimilarity` is a fraction. Undefined where the text is in no place, in several, or too unlike. */
export function looseMatch(
  file: Buffer,
  { wanted, wished }: { wanted: Buffer; wished: Buffer },
  leastSimilarity: number,
): LooseMatch | undefined {
  if (file.length > maxFileBytes || !isUtf8(file)) return undefined;
  const [text, oldText] = [file.toString("utf8"), wanted.toString("utf8")];
  const oldLines = oldText.split("\n");
  const sought = oldLines.map((line, index) => plain(index === oldLines.length - 1 ? line : line.trimEnd())).join("\n");
  if (sought.trim() === "") return undefined;
  const lines = text.split("\n");
  const kept = lines.map((line) => plain(line.trimEnd()));
  const seen = kept.join("\n");
  const start = seen.indexOf(sought);
  if (start === -1 || seen.includes(sought, start + 1)) return undefined;
  const placeOf = placesIn(lines, kept);
  const from = placeOf(start);
  const found = text.slice(from, placeOf(start + sought.length - 1) + 1);
  const foundLines = found.split("\n");
  if (blockSimilarity(foundLines, oldLines) < leastSimilarity) return undefined;
  return {
    at: Buffer.byteLength(text.slice(0, from)),
    line: text.slice(0, from).split("\n").length,
    found: Buffer.from(found),
    wished: Buffer.from(withFoundLines(wished.toString("utf8").split("\n"), oldLines, foundLines).join("\n")),
  };
}

/** Each stands for one character, so that places in a line stay the same. */
function plain(line: string): string {
  return line
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " ");
}

/** From a place in the joined `kept` to that in the joined `lines`. */
function placesIn(lines: readonly string[], kept: readonly string[]): (place: number) => number {
  return (place) => {
    let [start, keptStart] = [0, 0];
    for (const [index, line] of lines.entries()) {
      const length = kept[index]?.length ?? 0;
      // What was left out stands between the last character that was kept and the line feed.
      if (place < keptStart + length) return start + place - keptStart;
      if (place === keptStart + length) return start + line.length;
      start += line.length + 1;
      keptStart += length + 1;
    }
    return start;
  };
}

/** Lines at the beginning and at the end that were not meant to change stay as they are in the file. */
function withFoundLines(wished: readonly string[], old: readonly string[], found: readonly string[]): string[] {
  const most = Math.min(wished.length, old.length);
  let head = 0;
  while (head < most && wished[head] === old[head]) head++;
  let tail = 0;
  while (tail < most - head && wished.at(-1 - tail) === old.at(-1 - tail)) tail++;
  return [
    ...found.slice(0, head),
    ...wished.slice(head, wished.length - tail),
    ...found.slice(found.length - tail, found.length),
  ];
}
