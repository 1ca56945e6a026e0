// A plan as people see it: per file what kind of change it is, its hunks and its unified diff, which `git apply` takes.

import { binaryHeadBytes, isBinary } from "../../base/is-binary.js";
import { isOfFiles, type Plan, type PlannedChange, typeAfter, typeBefore } from "../plan.js";
import { type ComparedChange, compareChange } from "./compare-change.js";
import { diffFile } from "./file-diff.js";
import { binaryLine, diffName, gitHeader, gitMode, needsQuotes, quotedName, usualFileMode } from "./git-headers.js";

export interface Figures {
  readonly added: number;
  readonly removed: number;
  readonly hunks: number;
}

export interface ChangeDiff extends Figures {
  diff(maxLength: number): string;
}

export async function diffOf(change: PlannedChange): Promise<ChangeDiff> {
  const compared = await compareChange(change);
  return { ...(await figuresOf(change)), diff: (maxLength) => diffText(change, compared, maxLength) };
}

export async function figuresOf(change: PlannedChange): Promise<Figures> {
  const { added, removed, hunkCount } = await compareChange(change);
  return { added, removed, hunks: hunkCount };
}

/** What one decides about: a file without hunks counts as one. */
export async function hunksIn({ changes }: Pick<Plan, "changes">): Promise<number> {
  let total = 0;
  for (const change of changes) total += Math.max((await compareChange(change)).hunkCount, 1);
  return total;
}

function diffText(change: PlannedChange, { before, after, spans }: ComparedChange, maxLength: number): string {
  if (!isOfFiles(change)) return typedDiff(change, maxLength);
  const { kind, stamp, mode = stamp.mode } = change;
  const name = diffName(change);
  if (kind === "create") return newFile(name, { bytes: after, mode: change.mode, maxLength });
  if (kind === "delete") return deletedFile(name, { bytes: before, mode: stamp.mode, maxLength });
  const modes =
    mode === stamp.mode ? [] : [`old mode ${gitMode("file", stamp.mode)}`, `new mode ${gitMode("file", mode)}`];
  const isWithout = spans.length === 0;
  if (!isWithout && [before, after].some(isBinaryFile))
    return gitHeader(name, modes) + binaryLine(name, { before: before.length, after: after.length });
  const header = modes.length > 0 || (needsQuotes(name) && !isWithout) ? gitHeader(name, modes) : "";
  if (isWithout && header !== "") return `${header}${endOfHeader}`;
  return header + diffFile({ before, after, spans, displayPath: name, kind: undefined }, maxLength).diff;
}

/** Without it git would take the plain diff of the next file for a part of this one. */
const endOfHeader = "\n";

interface OneSide {
  readonly bytes: Buffer;
  readonly mode: number | undefined;
  readonly maxLength: number;
}

function newFile(name: string, { bytes, mode = usualFileMode, maxLength }: OneSide, isAlways = false): string {
  const header = gitHeader(name, [`new file mode ${gitMode("file", mode)}`]);
  if (bytes.length === 0) return `${header}${endOfHeader}`;
  if (isBinaryFile(bytes)) return header + binaryLine(name, { after: bytes.length });
  const isPlain = mode === usualFileMode && !needsQuotes(name) && !isAlways;
  return (isPlain ? "" : header) + oneSided(name, { bytes, kind: "create", maxLength });
}

function deletedFile(name: string, { bytes, mode = usualFileMode, maxLength }: OneSide, isAlways = false): string {
  const header = gitHeader(name, [`deleted file mode ${gitMode("file", mode)}`]);
  if (bytes.length === 0) return `${header}${endOfHeader}`;
  if (isBinaryFile(bytes)) return header + binaryLine(name, { before: bytes.length });
  const isPlain = (mode & 0o111) === 0 && !needsQuotes(name) && !isAlways;
  return (isPlain ? "" : header) + oneSided(name, { bytes, kind: "delete", maxLength });
}

function oneSided(
  name: string,
  { bytes, kind, maxLength }: { bytes: Buffer; kind: "create" | "delete"; maxLength: number },
): string {
  const [before, after] = kind === "create" ? [nothing, bytes] : [bytes, nothing];
  const spans = [{ start: 0, end: before.length, length: after.length }];
  return diffFile({ before, after, spans, displayPath: name, kind }, maxLength).diff;
}

const nothing = Buffer.alloc(0);

/** As git shows it: what goes and what comes, unless both are links. Directories, which git does not know, in words. */
function typedDiff(change: PlannedChange, maxLength: number): string {
  const name = diffName(change);
  const { stamp } = change;
  const [was, is] = [typeBefore(change), typeAfter(change)];
  const [before, after] = [Buffer.from(change.before), Buffer.from(change.after)];
  if (was === "symlink" && is === "symlink") {
    const spans = [{ start: 0, end: before.length, length: after.length }];
    return gitHeader(name, []) + diffFile({ before, after, spans, displayPath: name }, maxLength).diff;
  }
  if (was === "directory" && is === "directory")
    return `Directory ${quotedName(name)}: mode ${octal(stamp.mode)} → ${octal(change.mode ?? stamp.mode)}\n`;
  let text = "";
  if (was === "directory") text += `Directory ${quotedName(name)}: deleted\n`;
  else if (was === "symlink") text += linkSide(name, { bytes: before, kind: "delete", maxLength });
  else if (was) text += deletedFile(name, { bytes: before, mode: stamp.mode, maxLength }, true);
  if (is === "directory") text += `Directory ${quotedName(name)}: created${modeNote(change.mode)}\n`;
  else if (is === "symlink") text += linkSide(name, { bytes: after, kind: "create", maxLength });
  else if (is) text += newFile(name, { bytes: after, mode: change.mode, maxLength }, true);
  return text;
}

function linkSide(name: string, side: { bytes: Buffer; kind: "create" | "delete"; maxLength: number }): string {
  const word = side.kind === "create" ? "new" : "deleted";
  return gitHeader(name, [`${word} file mode ${gitMode("symlink", 0)}`]) + oneSided(name, side);
}

function modeNote(mode: number | undefined): string {
  return mode === undefined ? "" : `, mode ${octal(mode)}`;
}

function octal(mode: number): string {
  return mode.toString(8);
}

function isBinaryFile(bytes: Buffer): boolean {
  return isBinary(bytes.subarray(0, binaryHeadBytes));
}
