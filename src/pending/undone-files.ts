// What became of the files of a change: an undo may be applied in parts, by file or by hunk, and each part may be
// undone itself. All of it follows from the records alone.

import { contentHash } from "../base/file-type.js";
import type { UndoFile, UndoRecord } from "../plans/change-writer.js";

/** Every file is again what it was before the change. `all`: the newest first. */
export function isUndone(record: UndoRecord, all: readonly UndoRecord[]): boolean {
  return undosOf(record, all).length > 0 && filesToUndo(record, all).length === 0;
}

/** The files that no undo has restored completely, each with what the last part of one left there. */
export function filesToUndo(record: UndoRecord, all: readonly UndoRecord[]): readonly UndoFile[] {
  const undos = undosOf(record, all);
  if (undos.length === 0) return record.files;
  return record.files.flatMap((file) => {
    const undo = undos.find(({ files }) => files.some(({ path }) => path === file.path));
    const last = undo?.files.find(({ path }) => path === file.path);
    if (!undo || !last) return [file];
    return startsOf(undo, file, all).includes(last.afterHash) ? [] : [{ ...file, afterHash: last.afterHash }];
  });
}

/**
 * What a file was before the changes that an undo takes back together: each of them is undone where the file is as it
 * was before the first. A hash, or null for no file.
 */
function startsOf({ undoes = [] }: UndoRecord, { path, before }: UndoFile, all: readonly UndoRecord[]) {
  const together = all.filter(({ txid }) => undoes.includes(txid)).flatMap(({ files }) => files);
  const befores = together.filter((file) => file.path === path).map((file) => file.before);
  return [before, ...befores].map((old) => old && contentHash(old.type, old.bytes));
}

/** What undid it, in whole or in part, and was not undone itself. */
function undosOf({ txid }: UndoRecord, all: readonly UndoRecord[]): UndoRecord[] {
  return all.filter((other) => other.undoes?.includes(txid) && !isUndone(other, all));
}
