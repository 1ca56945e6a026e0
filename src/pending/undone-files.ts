// What became of the files of a change: an undo may be applied in parts, by file or by hunk, and each part may be
// undone itself. All of it follows from the records alone.

import { sha256Of } from "../base/digest.js";
import type { UndoFile, UndoRecord } from "../preview/change-writer.js";

/** Every file is again what it was before the change. `all`: the newest first. */
export function isUndone(record: UndoRecord, all: readonly UndoRecord[]): boolean {
  return undosOf(record, all).length > 0 && filesToUndo(record, all).length === 0;
}

/** The files that no undo has restored completely, each with what the last part of one left there. */
export function filesToUndo(record: UndoRecord, all: readonly UndoRecord[]): readonly UndoFile[] {
  const undone = undosOf(record, all).flatMap(({ files }) => files);
  if (undone.length === 0) return record.files;
  return record.files.flatMap((file) => {
    const last = undone.find(({ path }) => path === file.path);
    if (!last) return [file];
    const isBack = last.afterHash === (file.before && sha256Of(file.before.bytes));
    return isBack ? [] : [{ ...file, afterHash: last.afterHash }];
  });
}

/** What undid it, in whole or in part, and was not undone itself. */
function undosOf({ txid }: UndoRecord, all: readonly UndoRecord[]): UndoRecord[] {
  return all.filter((other) => other.undoes === txid && !isUndone(other, all));
}
