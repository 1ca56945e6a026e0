// A regular file of our own that a command wrote: read without following a link, and never more than is wanted.

import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import type { FileBytes, FileStat } from "../workspace.js";

const usualMaxBytes = 50 * 1024 * 1024;

/** Throws what the system says, also for a link. */
export async function readPlainFile(path: string, maxBytes = usualMaxBytes): Promise<FileBytes> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const buffer = Buffer.alloc(Math.min((await file.stat()).size, maxBytes) + 1);
    let length = 0;
    for (let read = 1; read > 0 && length < buffer.length; length += read)
      ({ bytesRead: read } = await file.read(buffer, length, buffer.length - length, length));
    return { bytes: buffer.subarray(0, Math.min(length, maxBytes)), isTruncated: length > maxBytes };
  } finally {
    await file.close();
  }
}

export async function statPlainFile(path: string): Promise<FileStat> {
  const { size, mtimeMs, mode } = await lstat(path);
  return { sizeBytes: size, modifiedMs: mtimeMs, mode: mode & 0o7777 };
}
