// For a text that is not in a file: the closest match, so that the next try can be right. The work is bounded for any
// file: one pass over its first lines, then a precise comparison of a few blocks.

import { editDistance } from "../../base/edit-distance.js";
import { stripEscapes } from "../../base/sanitize.js";
import { cutText } from "../output/text.js";

const maxFileLength = 2_000_000;
const maxWantedLines = 200;
const maxLineLength = 300;
const maxPlaces = 5;
const maxShownLines = 10;
const leastSimilarity = 0.5;

/** `Closest match (<n>% similar) at line <l>:` and the lines that differ, or undefined where nothing is near. */
export function closestMatch(text: string, wanted: string): string | undefined {
  const lines = text.slice(0, maxFileLength).split("\n");
  const wantedLines = withoutLastEmpty(wanted.split("\n")).slice(0, maxWantedLines);
  let best = { at: 0, similarity: 0 };
  for (const at of likelyPlaces(lines, wantedLines)) {
    const similarity = blockSimilarity(lines.slice(at, at + wantedLines.length), wantedLines);
    if (similarity > best.similarity) best = { at, similarity };
  }
  if (best.similarity < leastSimilarity) return undefined;
  // Even where what differs was not compared (a line's far end, the last line feed), it is not the same.
  const percent = Math.min(99, Math.floor(best.similarity * 100));
  return [
    `Closest match (${percent}% similar) at line ${best.at + 1}:`,
    ...differences(wantedLines, lines.slice(best.at, best.at + wantedLines.length)),
  ].join("\n");
}

/** Where blocks begin whose line is most similar to the longest line of the wanted text. */
function likelyPlaces(lines: readonly string[], wanted: readonly string[]): number[] {
  let anchor = 0;
  for (const [index, line] of wanted.entries()) if (line.length > (wanted[anchor]?.length ?? 0)) anchor = index;
  const pairs = pairsOf(wanted[anchor] ?? "");
  const best: { at: number; score: number }[] = [];
  for (const [index, line] of lines.entries()) {
    const score = likeness(line, pairs);
    if (score < leastSimilarity / 2 || (best.length === maxPlaces && score <= (best.at(-1)?.score ?? 0))) continue;
    best.push({ at: Math.max(0, index - anchor), score });
    best.sort((a, b) => b.score - a.score);
    best.length = Math.min(best.length, maxPlaces);
  }
  return best.map(({ at }) => at);
}

function pairsOf(line: string): Set<number> {
  const pairs = new Set<number>();
  const text = line.trim().slice(0, maxLineLength);
  for (let index = 0; index + 1 < text.length; index++)
    pairs.add(text.charCodeAt(index) * 65_536 + text.charCodeAt(index + 1));
  return pairs;
}

/** Shared pairs of neighbouring characters: rough, and quick enough for every line of a file. */
function likeness(line: string, wanted: ReadonlySet<number>): number {
  const pairs = pairsOf(line);
  if (pairs.size + wanted.size === 0) return 0;
  let shared = 0;
  for (const pair of pairs) if (wanted.has(pair)) shared++;
  return (2 * shared) / (pairs.size + wanted.size);
}

/** Line by line, each weighing as much as it is long. */
export function blockSimilarity(lines: readonly string[], wanted: readonly string[]): number {
  let [equal, total] = [0, 0];
  for (const [index, line] of wanted.entries()) {
    const [a, b] = [line.slice(0, maxLineLength), (lines[index] ?? "").slice(0, maxLineLength)];
    const weight = Math.max(a.length, b.length);
    total += weight;
    equal += a === b ? weight : weight - editDistance(a, b);
  }
  return total === 0 ? 0 : equal / total;
}

/** `-` is what was asked for, `+` what is there. */
function differences(wanted: readonly string[], found: readonly string[]): string[] {
  const shown: string[] = [];
  let hidden = 0;
  for (const [index, line] of wanted.entries()) {
    const there = found[index] ?? "";
    if (line === there) continue;
    if (shown.length < 2 * maxShownLines) shown.push(`- ${shownLine(line)}`, `+ ${shownLine(there)}`);
    else hidden++;
  }
  if (shown.length === 0) return ["The lines are the same; what follows them is not."];
  return hidden === 0 ? shown : [...shown, `… ${hidden} more lines differ`];
}

function shownLine(line: string): string {
  return cutText(stripEscapes(line), maxLineLength);
}

function withoutLastEmpty(lines: string[]): string[] {
  return lines.length > 1 && lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
