// A whole session file made beside its place and then put there: a new one where nothing was, or today's form of one
// that an older program wrote. A crash on the way leaves what was there, and a `.tmp` that the next attempt removes.

import { dirname } from "node:path";
import { systemCode } from "../base/errors.js";
import { encodeFrame } from "../base/ndjson.js";
import type { SessionHeader } from "../protocol/entries.js";
import { writeAll } from "./store-append.js";
import { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, type SessionDisk } from "./store-disk.js";

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
  const isPlaced = await dropUnless(disk, draft, async () => {
    if (!linkOrCopy(disk, draft.path, path)) {
      if (!isEmptyFile(disk, path)) return false;
      disk.rename(draft.path, path);
    } else disk.unlink(draft.path);
    return true;
  });
  return isPlaced ? draft : undefined;
}

/** Durable once it resolves. Undefined, with everything as it was, when `mayReplace` says so at the last moment. */
export async function replaceFile(
  disk: SessionDisk,
  path: string,
  content: FileContent & { readonly backup: string },
  mayReplace: () => boolean,
): Promise<NewFile | undefined> {
  const draft = await writeDraft(disk, path, content);
  const isPlaced = await dropUnless(disk, draft, async () => {
    await disk.sync(draft.file);
    if (!mayReplace()) return false;
    for (let copy = 1; !linkOrCopy(disk, path, copy === 1 ? content.backup : `${content.backup}.${copy}`); ) copy++;
    disk.rename(draft.path, path);
    await disk.syncDirectory(dirname(path));
    return true;
  });
  return isPlaced ? draft : undefined;
}

async function writeDraft(disk: SessionDisk, path: string, { header, lines }: FileContent): Promise<Draft> {
  const draftPath = `${path}.tmp`;
  const file = openNew(disk, draftPath);
  const draft = { path: draftPath, file, length: 0 };
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

/** What lies there from an earlier attempt is nobody's: we hold the lock. */
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
      try {
        disk.unlink(draft.path);
      } catch {
        // The next attempt removes it; the error that brought us here is the one to tell.
      }
    }
  }
}

/** False when the name is taken. A file system without hard links gets a copy. */
function linkOrCopy(disk: SessionDisk, from: string, to: string): boolean {
  try {
    try {
      disk.link(from, to);
    } catch (error) {
      if (systemCode(error) === "EEXIST") return false;
      disk.copy(from, to);
    }
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

function isEmptyFile(disk: SessionDisk, path: string): boolean {
  const file = disk.open(path, O_RDONLY);
  try {
    const { isFile, bytes } = disk.status(file);
    return isFile && bytes === 0;
  } finally {
    disk.close(file);
  }
}
