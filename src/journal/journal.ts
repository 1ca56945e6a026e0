// The journal on the real disk. Only changes.ts uses it, which loads it with the first change.

import { promises } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf, systemCode } from "../base/errors.js";
import { contentHash } from "../base/file-type.js";
import { inLanes } from "../base/in-lanes.js";
import { makeDirectories } from "../files/disk/make-directories.js";
import { isPlain } from "../files/file-now.js";
import { ifAbsent, notKept } from "../files/refusals.js";
import type { ChangeOutcome, DamagedChange, ListedChanges, UndoRecord } from "../plans/change-writer.js";
import { type ApplyContext, applyChangeSet } from "./apply.js";
import type { AppliedSet, ChangeSet, JournalDirectories, SeenPath } from "./change-set.js";
import { nodeChangeDisk as disk } from "./node-change-disk.js";
import { type RecoverContext, recoverChanges } from "./recover.js";
import { encodeUndoRecord, readUndoRecord, undoEnding, undoPath } from "./undo-record.js";

/** Makes the directories and returns their real paths. Private to the user: replaced files may hold secrets. */
export async function prepareDirectories({
  root,
  journalDir,
  undoDir,
}: JournalDirectories): Promise<JournalDirectories> {
  return { root, journalDir: await makeDirectory(journalDir), undoDir: await makeDirectory(undoDir) };
}

async function makeDirectory(path: string): Promise<string> {
  makeDirectories(path, 0o700);
  return promises.realpath(path);
}

export function applyToRoot(context: Omit<ApplyContext, "disk">, set: ChangeSet): Promise<AppliedSet> {
  return applyChangeSet({ ...context, disk }, set);
}

export function recoverRoot({
  directories,
  ...context
}: Omit<RecoverContext, "disk" | "journalDir"> & { directories: JournalDirectories }): Promise<ChangeOutcome[]> {
  return recoverChanges({ ...context, disk, journalDir: directories.journalDir });
}

/** Compares the same things as step 1 of an apply. Returns the shown paths that differ. */
export async function staleFiles(seen: readonly SeenPath[]): Promise<string[]> {
  const isStale: boolean[] = [];
  const plain = new Map<string, Promise<boolean>>();
  await inLanes(seen.entries(), 8, async ([index, { path, hash }]) => {
    const directory = dirname(path);
    const isThere = plain.get(directory) ?? isPlain(directory).catch(() => true); // the file itself tells why not
    plain.set(directory, isThere);
    isStale[index] = ((await isThere) ? await hashAt(path) : undefined) !== hash;
  });
  return seen.filter((_, index) => isStale[index]).map(({ shownPath }) => shownPath);
}

async function hashAt(path: string): Promise<string | undefined> {
  try {
    const { kind, identity } = await disk.lstat(path);
    if (kind === "directory") return contentHash(kind);
    if (kind === "link") return contentHash("symlink", await disk.readlink(path));
    return kind === "file" ? await disk.digest(path, identity) : "";
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) return undefined;
    return ""; // something is there, but not the file that was seen
  }
}

export async function listUndoRecords(undoDir: string): Promise<ListedChanges> {
  const records: UndoRecord[] = [];
  const damaged: DamagedChange[] = [];
  for (const name of await undoNames(undoDir)) {
    try {
      const record = await readUndoRecord(disk, join(undoDir, name));
      if (record) records.push(record);
    } catch (error) {
      damaged.push({ txid: name.slice(0, -undoEnding.length), reason: messageOf(error) });
    }
  }
  return { records: records.sort((a, b) => b.at - a.at), damaged };
}

/** The directories that these changes made for their files, the outermost first; of the records that are still kept. */
export async function madeDirectories(undoDir: string, txids: readonly string[]): Promise<string[]> {
  const records = await Promise.all(txids.map((txid) => readUndo(undoDir, txid).catch(() => undefined)));
  const all = new Set(records.flatMap((record) => record?.dirs ?? []));
  return [...all].sort((a, b) => a.length - b.length);
}

export function readUndo(undoDir: string, txid: string): Promise<UndoRecord | undefined> {
  return readUndoRecord(disk, undoPath(undoDir, txid));
}

/**
 * Written before the file that it describes, without a sync of its own: a crash may lose the undo, never the file. If it
 * cannot be written, it is removed, and the error names the files that are not written for that reason.
 */
export async function noteUndo(undoDir: string, record: UndoRecord): Promise<void> {
  const path = undoPath(undoDir, record.txid);
  try {
    await promises.writeFile(path, encodeUndoRecord(record), { mode: 0o600, flag: "wx" });
  } catch (error) {
    await forgetUndo(undoDir, record.txid).catch(() => {}); // the first failure is the one to report
    throw notKept(record.files.map(({ shownPath }) => shownPath).join(", "), error);
  }
}

export async function forgetUndo(undoDir: string, txid: string): Promise<void> {
  await promises.rm(undoPath(undoDir, txid), { force: true });
}

/** Removes the oldest records beyond `keep` or `maxBytes`. Another process may be doing the same. */
export async function retain(undoDir: string, { keep, maxBytes }: { keep: number; maxBytes: number }): Promise<void> {
  const found: { path: string; modifiedMs: number; sizeBytes: number }[] = [];
  for (const name of await undoNames(undoDir)) {
    const path = join(undoDir, name);
    const stat = await disk.lstat(path).catch(ifAbsent);
    if (stat) found.push({ path, modifiedMs: stat.modifiedMs, sizeBytes: stat.sizeBytes });
  }
  found.sort((a, b) => b.modifiedMs - a.modifiedMs);
  let total = 0;
  for (const [index, { path, sizeBytes }] of found.entries()) {
    total += sizeBytes;
    if (index >= keep || total > maxBytes) await disk.unlink(path).catch(ifAbsent);
  }
}

async function undoNames(undoDir: string): Promise<string[]> {
  try {
    return (await disk.list(undoDir, 100_000)).map(({ name }) => name).filter((name) => name.endsWith(undoEnding));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}
