// The plan that takes changes back: from what they left to what was there before the first of them. Where a file is not
// as they left it, the plan says which and why: another program's work is never overwritten.

import { contentHash } from "../base/file-type.js";
import type { ChangeWriter, FileSeen, OldContent, UndoFile, UndoRecord } from "../plans/change-writer.js";
import { indexMeaning } from "../plans/git-index.js";
import { type PlannedChange, typeMember } from "../plans/plan.js";
import { filesToUndo } from "./undone-files.js";

export interface FileDifference {
  readonly path: string;
  /** What happened to it since: `was edited`. */
  readonly how: string;
}

export interface InversePlan {
  readonly changes: readonly PlannedChange[];
  /** The files that are not as the changes left them. */
  readonly different: readonly FileDifference[];
}

/** `records`: the changes to take back; `all`: every change that is kept. Both newest first. */
export async function inversePlan(
  { records, all }: { records: readonly UndoRecord[]; all: readonly UndoRecord[] },
  look: ChangeWriter["look"],
): Promise<InversePlan> {
  const planned = new Map<string, PlannedChange>();
  const reached = new Map<string, UndoFile>();
  const different: FileDifference[] = [];
  for (const record of records) {
    const left = filesToUndo(record, all);
    for (const recorded of left.length > 0 ? left : record.files) {
      const newer = reached.get(recorded.path);
      const found = newer ? undefined : await look(recorded.path, recorded.afterHash);
      const { file, now } = asGitLeft(recorded, found);
      const how = newer ? howBetween(file, newer) : howChanged(file, now);
      if (how !== undefined) different.push({ path: file.shownPath, how });
      reached.set(file.path, file);
      planned.set(file.path, inverse(file, planned.get(file.path) ?? startOf(file, now)));
    }
  }
  // A file that they made and removed again is neither there now nor will it be.
  const changes = [...planned.values()].filter(({ kind, stamp }) => kind !== "delete" || stamp.exists);
  return { changes, different };
}

/** An index that git has only refreshed since is as the change left it. */
function asGitLeft(file: UndoFile, now: FileSeen | undefined): { file: UndoFile; now: FileSeen | undefined } {
  const { path, afterMeaning } = file;
  if (!now || now.isAsLeft || now.isOther || afterMeaning === undefined) return { file, now };
  if (indexMeaning(path, now.bytes) !== afterMeaning) return { file, now };
  return { file: { ...file, afterHash: contentHash(now.type, now.bytes) }, now: { ...now, isAsLeft: true } };
}

/** Between two of the changes: the newer one did not find what the older one had left. */
function howBetween({ afterHash }: UndoFile, { before }: UndoFile): string | undefined {
  return afterHash === (before && hashOf(before)) ? undefined : "was edited between the changes";
}

function hashOf({ type, bytes }: OldContent): string {
  return contentHash(type, bytes);
}

function howChanged({ before, afterHash }: UndoFile, now: FileSeen | undefined): string | undefined {
  if (!now) return afterHash === null ? undefined : "was deleted";
  if (now.isAsLeft) return undefined;
  if (now.isOther) return "was replaced by something that is no file";
  if (afterHash === null) return "was created again";
  const isBack = before !== null && contentHash(now.type, now.bytes) === hashOf(before);
  return isBack ? "is already as it was before" : "was edited";
}

type Start = Pick<PlannedChange, "stamp" | "before" | "protected">;

/** The file as the change left it. */
function startOf({ shownPath, afterHash, type }: UndoFile, now: FileSeen | undefined): Start {
  const found = now ?? { bytes: new Uint8Array(), size: 0, mode: 0 };
  const exists = afterHash !== null;
  const left = exists ? typeMember(type) : {};
  const stamp = { path: shownPath, exists, size: found.size, sha256: afterHash ?? "", mode: found.mode, ...left };
  return { stamp, before: exists ? found.bytes : new Uint8Array() };
}

function inverse(file: UndoFile, { stamp, before, ...start }: Start): PlannedChange {
  const { path, before: old } = file;
  const guard = file.protected || start.protected ? { protected: true as const } : {};
  if (old === null)
    return { kind: "delete", path, stamp, before, after: new Uint8Array(), ...typeMember(stamp.type), ...guard };
  const { bytes: after, mode, type } = old;
  // Of a directory the time changes with what is put into it.
  const time = type === "directory" ? {} : { mtimeMs: old.mtimeMs };
  const kind = stamp.exists ? "modify" : "create";
  return { kind, path, stamp, before, after, mode, ...time, ...typeMember(type), ...guard };
}
