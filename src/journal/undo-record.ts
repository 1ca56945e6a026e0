// The undo record of a change set: the files as they were before. One undo file per change set, written in step 3 of an
// apply. Its first line describes the change; one line per changed file follows, with the old bytes.

import { join } from "node:path";
import { throwIfAborted } from "../base/abort.js";
import { sha256Of } from "../base/digest.js";
import { inLanes } from "../base/in-lanes.js";
import { isObject } from "../base/json.js";
import type { UndoFile, UndoHeader, UndoRecord } from "../preview/change-writer.js";
import { undoneIn } from "../preview/plan.js";
import type { ChangeDisk } from "./change-set.js";
import { failingFor, ignoring, staleError } from "./failures.js";
import type { PreparedOp } from "./prepare.js";
import { decodeRecords, encodeRecord } from "./records.js";
import type { SerialStepContext, StepContext } from "./step-context.js";

export const undoEnding = ".gu";
/** More than the user's setting can allow, and no more than one JavaScript string can hold. */
const maxKeptBytes = 256 * 1024 * 1024;
const maxRecordBytes = 2 * maxKeptBytes;
/** Read at the same time, and written in the order of the ops. */
const filesAtOnce = 64;
const itself = "the undo record";

export function undoPath(undoDir: string, txid: string): string {
  return join(undoDir, `${txid}${undoEnding}`);
}

/** Whether the old bytes are few enough to be kept. */
export function fitsUndoRecord(ops: readonly PreparedOp[]): boolean {
  return ops.reduce((sum, { found }) => sum + (found?.sizeBytes ?? 0), 0) <= maxKeptBytes;
}

/** The content is durable when this resolves; the caller syncs the directory. Reads what the ops will replace. */
export async function writeUndoRecord(
  { disk, pins, width }: StepContext,
  path: string,
  { header, ops, signal }: { header: UndoHeader; ops: readonly PreparedOp[]; signal?: AbortSignal | undefined },
): Promise<void> {
  const file = await failingFor(itself, async () => disk.create(await pins.of(path), 0o600));
  try {
    await failingFor(itself, () => file.append(encodeRecord(header)));
    for (let start = 0; start < ops.length; start += filesAtOnce) {
      const lines: Uint8Array[] = [];
      await inLanes(ops.slice(start, start + filesAtOnce).entries(), width, async ([index, op]) => {
        throwIfAborted(signal);
        lines[index] = linesOf(op, await failingFor(op.shownPath, () => originalOf({ disk, pins }, op, ops.length)));
      });
      await failingFor(itself, () => file.append(Buffer.concat(lines)));
    }
    await failingFor(itself, () => file.fsync());
  } finally {
    await file.close();
  }
}

/** For a file that is written without the journal: the caller has the old bytes already. */
export function encodeUndoRecord({ files, ...header }: UndoRecord): Uint8Array {
  const lines = files.map(({ kind, path, shownPath, before, afterHash }) => {
    const old = before && { ...before, bytes: base64(before.bytes) };
    return encodeRecord({ type: "file", kind, path, shownPath, before: old, after: afterHash });
  });
  return Buffer.concat([encodeRecord(header), ...lines]);
}

/** Undo must restore exactly what was previewed. */
async function originalOf(
  { disk, pins }: SerialStepContext,
  { path, shownPath, found, before, beforeBytes }: PreparedOp,
  total: number,
): Promise<StoredFile["before"]> {
  if (!found) return null;
  const { mode, modifiedMs: mtimeMs } = found;
  // Step 1 found this hash, and step 4 compares it again.
  if (beforeBytes && sha256Of(beforeBytes) === before) return { bytes: base64(beforeBytes), mode, mtimeMs };
  const read = await disk.read(await pins.of(path), found.identity, { maxBytes: found.sizeBytes + 1 });
  if (!read || sha256Of(read.bytes) !== before) throw staleError([shownPath], total);
  return { bytes: base64(read.bytes), mode, mtimeMs };
}

function linesOf(op: PreparedOp, before: StoredFile["before"]): Uint8Array {
  const { kind, path, shownPath, after, from, shownFrom = shownPath } = op;
  const line = (file: StoredFile) => encodeRecord({ type: "file", ...file });
  if (kind !== "respell") return line({ kind, path, shownPath, before, after });
  const old = { kind: "delete", path: from ?? path, shownPath: shownFrom, before, after: null } as const;
  return Buffer.concat([line({ kind: "create", path, shownPath, before: null, after }), line(old)]);
}

/** Undefined if there is no record, or if it is damaged. */
export async function readUndoRecord(disk: ChangeDisk, path: string): Promise<UndoRecord | undefined> {
  const stat = await disk.lstat(path).catch(ignoring("ENOENT"));
  const read = stat && (await disk.read(path, stat.identity, { maxBytes: maxRecordBytes }));
  if (!read || read.isTruncated) return undefined;
  const { records, soundBytes } = decodeRecords(read.bytes);
  const [header, ...files] = records;
  if (soundBytes !== read.bytes.length || !isObject(header) || header.type !== "change" || header.version !== 1)
    return undefined;
  // The checksum proves that galley wrote the record, so its shape is known.
  const undoes = header.undoes === undefined ? {} : { undoes: undoneIn(header.undoes) };
  return { ...(header as unknown as UndoHeader), ...undoes, files: (files as StoredFile[]).map(fileOf) };
}

interface StoredFile {
  kind: UndoFile["kind"];
  path: string;
  shownPath: string;
  before: { bytes: string; mode: number; mtimeMs: number } | null;
  after: string | null;
}

function fileOf({ kind, path, shownPath, before, after }: StoredFile): UndoFile {
  const old = before && { ...before, bytes: Buffer.from(before.bytes, "base64") };
  return { kind, path, shownPath, before: old, afterHash: after };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}
