// Writes a small file whole: a reader finds all of it or nothing, also after a crash.

import { promises as fs } from "node:fs";
import { basename, dirname, join } from "node:path";
import { systemCode } from "../../base/errors.js";
import { nodeDisk } from "./session-disk.js";

/**
 * Whether a file has the name of a temporary file of ours: a session's draft, or an artifact, plan or blob that
 * `writeWhole` makes. Leftovers of a crash may be removed; they may be among the user's own files, so the whole name
 * has to match.
 */
export function isTemporaryName(name: string): boolean {
  return /^\.(?:[\da-f]{32}|(?:[\da-f]{64}|\d{1,15}\.[\w-]+\.log|[\w-]{1,128}(?:\.(?:rest|\d{1,15}))?\.plan)\.\d+-\w*)\.tmp$/.test(
    name,
  );
}

/**
 * Durable once it resolves. Pieces are written one by one. With `isNew` it answers false, and leaves everything as it is, when the name is taken;
 * otherwise what was there is replaced.
 */
export async function writeWhole(
  path: string,
  content: Uint8Array | Iterable<string>,
  isNew = false,
): Promise<boolean> {
  const directory = dirname(path);
  const temporary = join(directory, `.${basename(path)}.${process.pid}-${Math.random().toString(36).slice(2)}.tmp`);
  try {
    await fs.writeFile(temporary, content, { mode: 0o600, flag: "wx", flush: true });
    if (!isNew) await fs.rename(temporary, path);
    else if (!(await linkNew(temporary, path))) return false;
    await nodeDisk.syncDirectory(directory);
    return true;
  } finally {
    // After a rename there is nothing left. Not `rm`, which loads more code.
    await fs.unlink(temporary).catch((error: unknown) => {
      if (systemCode(error) !== "ENOENT") throw error;
    });
  }
}

async function linkNew(from: string, to: string): Promise<boolean> {
  try {
    await fs.link(from, to).catch((error: unknown) => {
      if (systemCode(error) === "EEXIST") throw error;
      return fs.copyFile(from, to, fs.constants.COPYFILE_EXCL); // a file system without hard links
    });
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}
