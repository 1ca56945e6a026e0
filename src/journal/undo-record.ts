// The undo record of a change set: the files as they were before. One undo file per change set, written in step 3 of an
// apply. Its first line describes the change; one line per changed file follows, with the old bytes.

import { join } from "node:path";
import { throwIfAborted } from "../base/abort.js";
import { GalleyError } from "../base/errors.js";
import { contentHash, usualType } from "../base/file-type.js";
import { inLanes } from "../base/in-lanes.js";
import { isObject } from "../base/json.js";
import type { DiskStat } from "../files/disk/disk.js";
import type { OldContent, UndoFile, UndoHeader, UndoRecord } from "../plans/change-writer.js";
import { indexMeaning } from "../plans/git-index.js";
import { undoneIn } from "../plans/plan.js";
import { failingFor, ignoring, staleError } from "./apply-failures.js";
import type { ChangeDisk } from "./change-set.js";
import { typesOf } from "./ops/op-types.js";
import type { PreparedOp } from "./ops/prepared-op.js";
import { decodeRecords, encodeRecord, isKnown } from "./records.js";
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
  const bytesOf = ({ found }: PreparedOp) => (found && found.kind !== "directory" ? found.sizeBytes : 0);
  return ops.reduce((sum, op) => sum + bytesOf(op), 0) <= maxKeptBytes;
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
  const lines = files.map(({ before, afterHash, type, ...about }) => {
    const old = before && { ...before, bytes: base64(before.bytes) };
    return encodeRecord({ type: "file", ...about, before: old, after: afterHash, ...leftType(type) });
  });
  return Buffer.concat([encodeRecord(header), ...lines]);
}

/** Undo must restore exactly what was previewed. */
async function originalOf(deps: SerialStepContext, op: PreparedOp, total: number): Promise<StoredFile["before"]> {
  const { found, before, beforeBytes } = op;
  if (!found) return null;
  const { before: type = usualType } = typesOf(op);
  const about = { mode: found.mode, mtimeMs: found.modifiedMs, ...(type === usualType ? {} : { type }) };
  // Step 1 found this hash, and step 4 compares it again.
  if (beforeBytes && contentHash(type, beforeBytes) === before) return { bytes: base64(beforeBytes), ...about };
  const bytes = await bytesNow(deps, op, found);
  if (!bytes || contentHash(type, bytes) !== before) throw staleError([op.shownPath], total);
  return { bytes: base64(bytes), ...about };
}

async function bytesNow(
  { disk, pins }: SerialStepContext,
  { path }: PreparedOp,
  { kind, identity, sizeBytes }: DiskStat,
): Promise<Uint8Array | undefined> {
  if (kind === "directory") return new Uint8Array();
  if (kind === "link") return disk.readlink(await pins.of(path)).catch(ignoring("ENOENT", "EINVAL"));
  return (await disk.read(await pins.of(path), identity, { maxBytes: sizeBytes + 1 }))?.bytes;
}

function linesOf(op: PreparedOp, before: StoredFile["before"]): Uint8Array {
  const { kind, path, shownPath, after, from, shownFrom = shownPath } = op;
  const meaning = op.bytes && indexMeaning(path, op.bytes);
  const marks = { ...leftType(typesOf(op).after), ...(op.isProtected ? { protected: true as const } : {}), meaning };
  const line = (file: StoredFile) => encodeRecord({ type: "file", ...file });
  if (kind !== "respell") return line({ kind, path, shownPath, before, after, ...marks });
  const old = { kind: "delete", path: from ?? path, shownPath: shownFrom, before, after: null } as const;
  return Buffer.concat([line({ kind: "create", path, shownPath, before: null, after, ...marks }), line(old)]);
}

/** Undefined if there is no record; throws `file_changed` if it is damaged. */
export async function readUndoRecord(disk: ChangeDisk, path: string): Promise<UndoRecord | undefined> {
  const stat = await disk.lstat(path).catch(ignoring("ENOENT"));
  const read = stat && (await disk.read(path, stat.identity, { maxBytes: maxRecordBytes }));
  if (!read) return undefined;
  const { records, soundBytes } = decodeRecords(read.bytes);
  const [header, ...files] = records;
  if (read.isTruncated || soundBytes !== read.bytes.length || !isObject(header) || header.type !== "change")
    throw new GalleyError("file_changed", "it is cut, or was changed since");
  if (!isKnown(header.version)) throw new GalleyError("unsupported", "a newer galley wrote it");
  // The checksum proves that galley wrote the record, so its shape is known.
  const undoes = header.undoes === undefined ? {} : { undoes: undoneIn(header.undoes) };
  return { ...(header as unknown as UndoHeader), ...undoes, files: (files as StoredFile[]).map(fileOf) };
}

interface StoredFile {
  kind: UndoFile["kind"];
  path: string;
  shownPath: string;
  before: (Omit<OldContent, "bytes"> & { bytes: string }) | null;
  after: string | null;
  /** Of what is left. A line's own type is `file`, whatever it is about. */
  leaves?: UndoFile["type"];
  protected?: true;
  meaning?: string;
}

function leftType(type: UndoFile["type"]): Pick<StoredFile, "leaves"> {
  return type === undefined || type === usualType ? {} : { leaves: type };
}

function fileOf({ kind, path, shownPath, before, after, leaves, meaning, ...marks }: StoredFile): UndoFile {
  const old = before && { ...before, bytes: Buffer.from(before.bytes, "base64") };
  return {
    kind,
    path,
    shownPath,
    before: old,
    afterHash: after,
    ...(leaves ? { type: leaves } : {}),
    ...(marks.protected ? { protected: true } : {}),
    afterMeaning: meaning,
  };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}
