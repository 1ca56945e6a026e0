// Writes a whole session file as a draft and then puts it in place: a new file, or the current format of one that an
// older program wrote. A crash leaves what was there, and a draft that the next attempt removes.

import { dirname, join } from "node:path";
import { sha256Of } from "../../base/digest.js";
import { systemCode } from "../../base/errors.js";
import { encodeFrame } from "../../base/ndjson.js";
import type { SessionHeader } from "../../protocol/entries.js";
import { writeAll } from "./append-file.js";
import { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, type SessionDisk } from "./session-disk.js";

export interface NewFile {
  readonly file: number;
  readonly length: number;
}

interface Draft extends NewFile {
  readonly path: string;
}

export interface FileContent {
  readonly header: SessionHeader;
  readonly lines: AsyncIterable<Buffer>;
}

/** The caller holds the lock. Undefined, with everything as it was, when there is something at that path by now. */
export async function createFile(disk: SessionDisk, path: string, content: FileContent): Promise<NewFile | undefined> {
  const draft = await writeDraft(disk, path, content);
  const isPlaced = await dropUnless(disk, draft, async () => place(disk, draft.path, path));
  return isPlaced ? draft : undefined;
}

/**
 * What is in it is durable once it resolves, its name once the directory is synced. Undefined, with everything as it
 * was, when `mayReplace` says so at the last moment. With `backup` the old form stays under that name.
 */
export async function replaceFile(
  disk: SessionDisk,
  path: string,
  content: FileContent & { readonly backup?: string },
  mayReplace: () => boolean,
): Promise<NewFile | undefined> {
  const draft = await writeDraft(disk, path, content);
  const isPlaced = await dropUnless(disk, draft, async () => {
    await disk.sync(draft.file);
    if (!mayReplace()) return false;
    const backup = content.backup === undefined ? undefined : keepUnderFreeName(disk, path, content.backup);
    try {
      disk.rename(draft.path, path);
    } catch (error) {
      if (backup !== undefined) drop(disk, backup); // else every attempt would leave one
      throw error;
    }
    return true;
  });
  return isPlaced ? draft : undefined;
}

/** Always the same for one file, so that it is found again; a name that no user would give a file. */
export function draftPath(path: string): string {
  return join(dirname(path), `.${sha256Of(path).slice(0, 32)}.tmp`);
}

async function writeDraft(disk: SessionDisk, path: string, { header, lines }: FileContent): Promise<Draft> {
  const draftAt = draftPath(path);
  const file = openNew(disk, draftAt);
  const draft = { path: draftAt, file, length: 0 };
  await dropUnless(disk, draft, async () => {
    let pending: Buffer[] = [Buffer.from(encodeFrame(header))];
    let pendingBytes = pending[0]?.length ?? 0;
    const writeOut = () => {
      writeAll(disk, file, Buffer.concat(pending));
      draft.length += pendingBytes;
      pending = [];
      pendingBytes = 0;
    };
    for await (const line of lines) {
      pending.push(line);
      pendingBytes += line.length;
      if (pendingBytes > 1024 * 1024) writeOut();
    }
    writeOut();
    return true;
  });
  return draft;
}

/** A draft of an earlier attempt may be removed: we hold the lock. */
function openNew(disk: SessionDisk, path: string): number {
  const flags = O_RDWR | O_APPEND | O_CREAT | O_EXCL;
  try {
    return disk.open(path, flags);
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
    disk.unlink(path);
    return disk.open(path, flags);
  }
}

/** Runs the step; unless it answers true, the draft is closed and removed. */
async function dropUnless(disk: SessionDisk, draft: Draft, step: () => Promise<boolean>): Promise<boolean> {
  let isDone = false;
  try {
    isDone = await step();
    return isDone;
  } finally {
    if (!isDone) {
      disk.close(draft.file);
      drop(disk, draft.path);
    }
  }
}

function drop(disk: SessionDisk, path: string): void {
  try {
    disk.unlink(path);
  } catch {
    // A leftover file does no harm; the first error is the one to report.
  }
}

/** False when a file is there already. An empty one does not count. */
function place(disk: SessionDisk, from: string, to: string): boolean {
  try {
    disk.link(from, to);
  } catch {
    // The name is taken, or this file system has no hard links. The lock keeps other galley processes out meanwhile.
    if (bytesAt(disk, to)) return false;
    disk.rename(from, to);
    return true;
  }
  try {
    disk.unlink(from);
  } catch {
    // A second name for the same file does no harm, and the next draft takes it.
  }
  return true;
}

function keepUnderFreeName(disk: SessionDisk, path: string, name: string): string {
  for (let copy = 1; ; copy++) {
    const backup = copy === 1 ? name : `${name}.${copy}`;
    if (keepAs(disk, path, backup)) return backup;
  }
}

/** Keeps what is at `from` under a name that was free. False when it was not. */
function keepAs(disk: SessionDisk, from: string, to: string): boolean {
  try {
    disk.link(from, to);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
  }
  try {
    disk.copy(from, to); // a file system without hard links
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** Undefined when there is nothing. What is no file counts as full. */
function bytesAt(disk: SessionDisk, path: string): number | undefined {
  let file: number;
  try {
    file = disk.open(path, O_RDONLY);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    const { isFile, bytes } = disk.status(file);
    return isFile ? bytes : Number.POSITIVE_INFINITY;
  } finally {
    disk.close(file);
  }
}
