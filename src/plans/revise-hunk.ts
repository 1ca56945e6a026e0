// The new side of a hunk, replaced by a text that a person wrote. Line ends stay as they are in the file: a text box knows
// only one kind of them.

import { isUtf8 } from "node:buffer";
import { GalleyError } from "../base/errors.js";
import { noMask } from "../base/text-mask.js";
import { compareChange } from "./diff/compare-change.js";
import type { ByteRange } from "./diff/file-diff.js";
import { isOfFiles, type PlannedChange } from "./plan.js";
import { hunkAt } from "./split-plan.js";

const maxBytes = 16 * 1024 * 1024;
const byteOrderMark = "\uFEFF";

/** `hunk` counts from 1; a file that is created has one. Throws `invalid_argument` for what cannot be edited. */
export async function reviseHunk(
  change: PlannedChange,
  hunk: number,
  text: string,
  mask = noMask,
): Promise<PlannedChange> {
  const { kind, stamp, before } = change;
  const { path } = stamp;
  const after = Buffer.from(change.after);
  if (kind !== "modify" && kind !== "create") throw refused(`${path} cannot be edited: it is a ${kind}.`);
  if (!isOfFiles(change)) throw refused(`${path} cannot be edited: it is not a regular file on both sides.`);
  if (!isUtf8(after) || after.includes(0)) throw refused(`${path} cannot be edited: it is not UTF-8 text.`);
  if (/\p{Surrogate}/u.test(text)) throw refused("The new text is not valid Unicode.");
  const { old, fresh } = await shownRanges(change, hunk);
  const { start, end } = fresh;
  const shown = after.toString("utf8", start, end);
  for (const side of [shown, Buffer.from(before).toString("utf8", old.start, old.end)])
    if (mask.mask(side) !== side) throw refused(maskedText(path));
  const lines = withLineEnds(shown, text);
  const revised = Buffer.concat([after.subarray(0, start), Buffer.from(lines), after.subarray(end)]);
  if (revised.length > maxBytes) throw refused(`${path} cannot be edited: it would be larger than 16 MiB.`);
  if (kind === "modify" && revised.equals(before))
    throw refused(`The new text leaves ${path} as it is. Discard the hunk instead.`);
  const { units: _, ...rest } = change; // what a person wrote was not counted
  return { ...rest, after: revised };
}

async function shownRanges(change: PlannedChange, number: number): Promise<Record<"old" | "fresh", ByteRange>> {
  const { after, hunks } = await compareChange(change);
  if (change.kind === "modify") return hunkAt(change.stamp.path, hunks, number);
  if (number === 1) return { old: { start: 0, end: 0 }, fresh: { start: 0, end: after.length } };
  throw refused(`${change.stamp.path} has no hunk ${number}; it has 1.`);
}

/** Line n keeps the end of line n; a further one gets the most frequent end; a last one that is missing stays so. */
function withLineEnds(old: string, text: string): string {
  const ends = old.match(/\r?\n|[^\n]$/g)?.map((end) => (end.endsWith("\n") ? end : "")) ?? [];
  const usual = mostFrequent(ends.filter((end) => end !== ""));
  const isOpen = ends.at(-1) === "";
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop(); // it ended the line before
  const ended = lines.map((line, index) => {
    const isLast = index === lines.length - 1;
    return line + (isLast && isOpen ? "" : ends[index] || usual);
  });
  const mark = old.startsWith(byteOrderMark) && !text.startsWith(byteOrderMark) ? byteOrderMark : "";
  return mark + ended.join("");
}

/** The first of those that are equally frequent; a line feed where there is none. */
function mostFrequent(ends: readonly string[]): string {
  const count = (end: string) => ends.filter((other) => other === end).length;
  return count("\r\n") > count("\n") || (count("\r\n") === count("\n") && ends[0] === "\r\n") ? "\r\n" : "\n";
}

/** What a person edits is what was shown, and the mask would be written in place of the secret. */
function maskedText(path: string): string {
  return `This hunk of ${path} cannot be edited: a secret in it is masked. Apply or discard it as it is.`;
}

function refused(sentence: string): GalleyError {
  return new GalleyError("invalid_argument", sentence);
}
