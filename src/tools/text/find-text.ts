// Where a text stands in a file's view, and the sentences for when that is nowhere or in several places.

import { stripEscapes } from "../../base/sanitize.js";
import { cutText } from "../output/text.js";
import { toolFailure } from "../tool.js";
import { closestMatch } from "./closest-text.js";
import type { TextView } from "./text-view.js";

const maxOccurrences = 1_000_000;
const maxPreviews = 5;
const maxLineLength = 200;

export interface Search {
  readonly displayPath: string;
  readonly view: TextView;
  readonly wanted: Buffer;
  /** Every occurrence, not overlapping, instead of the only one. */
  readonly all: boolean;
}

/** Ascending places in the view, at least one. */
export function findText(search: Search): number[] {
  const { displayPath, view, wanted, all } = search;
  const places = occurrences(view.bytes, wanted);
  const [first, second] = places;
  if (first === undefined) throw notFound(search);
  if (places.length > maxOccurrences)
    throw toolFailure(`Found more than ${maxOccurrences} occurrences in ${displayPath}. Give a longer old_text.`);
  if (all) return places;
  // Two that overlap are two as well: replacing the first would be a guess.
  const other = second ?? view.bytes.indexOf(wanted, first + 1);
  if (other !== -1) throw ambiguous(search, second === undefined ? [first, other] : places);
  return places;
}

function occurrences(bytes: Buffer, wanted: Buffer): number[] {
  const places: number[] = [];
  if (wanted.length === 0) return places; // nothing but a byte order mark was asked for
  for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, at + wanted.length)) {
    places.push(at);
    if (places.length > maxOccurrences) break;
  }
  return places;
}

function notFound({ displayPath, view, wanted }: Search): Error {
  const sentences = [
    `Could not find the exact text in ${displayPath}. ` +
      "The old text must match exactly including all whitespace and newlines.",
  ];
  const text = wanted.toString("utf8");
  if (text.includes("\ufffd"))
    sentences.push("U+FFFD stands for bytes that are not valid UTF-8 and matches none of them: leave them out.");
  const closest = closestMatch(view.bytes.toString("utf8", 0, 8_000_000), text);
  if (closest !== undefined) sentences.push(closest);
  return toolFailure(sentences.join("\n\n"));
}

function ambiguous({ displayPath, view }: Search, places: readonly number[]): Error {
  const previews = places.slice(0, maxPreviews).map((place) => preview(view.bytes, place));
  const hidden = places.length - previews.length;
  return toolFailure(
    [
      `Found ${places.length} occurrences in ${displayPath}:`,
      previews.join("\n--\n") + (hidden > 0 ? `\n… ${hidden} more` : ""),
      "Add more context lines to disambiguate.",
    ].join("\n\n"),
  );
}

/** The line with its neighbours, numbered as grep shows them. */
function preview(bytes: Buffer, place: number): string {
  const start = lineStart(bytes, place);
  const line = countLines(bytes.subarray(0, start)) + 1;
  const around: string[] = [];
  if (start > 0) around.push(`${line - 1}-${lineFrom(bytes, lineStart(bytes, start - 1))}`);
  around.push(`${line}:${lineFrom(bytes, start)}`);
  const next = bytes.indexOf(0x0a, place) + 1;
  if (next > 0 && next < bytes.length) around.push(`${line + 1}-${lineFrom(bytes, next)}`);
  return around.join("\n");
}

/** `lastIndexOf` counts a negative position from the end. */
function lineStart(bytes: Buffer, place: number): number {
  return place === 0 ? 0 : bytes.lastIndexOf(0x0a, place - 1) + 1;
}

function lineFrom(bytes: Buffer, start: number): string {
  const end = bytes.indexOf(0x0a, start);
  const line = bytes.subarray(start, Math.min(end === -1 ? bytes.length : end, start + 4 * maxLineLength));
  return cutText(stripEscapes(line.toString("utf8")), maxLineLength);
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) lines++;
  return lines;
}
