// What a diff's lines do not show of a file, in words: its mode, its new name, its line ends, bytes that are no text.

import { writtenOut } from "../../base/written-out.js";
import type { DiffFile } from "../../protocol/diff.js";
import { typeNotes } from "../../render/type-notes.js";
import type { ReviewDiff, ReviewFile } from "../../sdk/review/review-source.js";

type PlannedBytes = NonNullable<ReturnType<NonNullable<ReviewDiff["binaries"]>["get"]>>;

export function notesOf(
  file: DiffFile & { hasCrlf?: boolean },
  about: ReviewFile | undefined,
  next?: PlannedBytes,
): string[] {
  const { kind, to, binary, lossy, gone, hunks, type = "file", oldType = type } = file;
  const notes: string[] = [];
  if (about?.group) return [writtenOut(about.group.text)];
  if (to !== undefined) notes.push(`Renamed to ${writtenOut(to)}`);
  notes.push(...typeNotes(file, writtenOut));
  if (binary) notes.push(`Binary file, ${kind}: its bytes are not shown`, ...binaryNotes(about, next));
  if (lossy) notes.push("Not all of it is UTF-8: such lines are shown as Latin-1");
  if (gone) notes.push("Written again since: what this change left there is not kept");
  const isEmpty = !binary && !gone && hunks.length === 0 && type === "file" && oldType === "file";
  if (isEmpty && kind === "create") notes.push("An empty file");
  if (isEmpty && kind === "delete") notes.push("It was empty");
  if (hunks.length > 0 && file.hasCrlf) notes.push("Line ends are CRLF");
  else if (hunks.some(({ lines }) => lines.some((line) => line.endsWith("\r"))))
    notes.push("Line ends differ: CRLF is written out as \\u000d");
  return notes;
}

function binaryNotes(about: ReviewFile | undefined, next: PlannedBytes | undefined): string[] {
  if (!about) return [];
  const { kind, size, sha256 } = about;
  return [
    ...(kind === "create" ? [] : [`now  ${size.toLocaleString("en")} bytes  sha256 ${sha256}`]),
    ...(next ? [`then ${next.size.toLocaleString("en")} bytes  sha256 ${next.sha256}`] : []),
  ];
}

/** Every line of the diff ends so: then it is said once. */
export function hasCrlf({ hunks }: DiffFile): boolean {
  let isAny = false;
  for (const { lines } of hunks)
    for (const [index, line] of lines.entries()) {
      if (line[0] === "\\") continue;
      const endsFile = lines[index + 1]?.[0] === "\\";
      if (!line.endsWith("\r") && !endsFile) return false;
      isAny ||= line.endsWith("\r");
    }
  return isAny;
}
