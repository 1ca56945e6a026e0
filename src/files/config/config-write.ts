// Replaces a configuration file of the user: completely or not at all, only while it still has the content that the
// writer read, and one writer at a time. The kernel releases the lock when its holder ends.

import { randomUUID } from "node:crypto";
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Clock, systemClock } from "../../base/clock.js";
import { GalleyError, messageOf, systemCode } from "../../base/errors.js";
import { acquireLock } from "../../base/path-lock.js";
import { makeDirectories } from "../disk/make-directories.js";
import { readConfigFile } from "./config-files.js";

/**
 * The file itself behind any link, so that a link to it stays a link. Makes the directory, for this user only, when it
 * is missing. Throws `file_refused`.
 */
export function prepareConfigPath(path: string): string {
  try {
    makeDirectories(dirname(path), 0o700);
    const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
    return isThere ? realpathSync.native(path) : join(realpathSync.native(dirname(path)), basename(path));
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

/**
 * Writes `text` beside the file, syncs it and renames it over. False, with nothing changed, when the file no longer
 * holds `expected` (`undefined`: when it exists by now). Synchronous, so that no other writer of this process can
 * interfere. Throws `file_refused` when the disk fails; then the old file is untouched.
 */
export function replaceConfigFile(path: string, change: { expected: string | undefined; text: string }): boolean {
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
  try {
    if (readConfigFile(path)?.text !== change.expected) return false;
    writeDraft(draft, change.text);
    const current = readConfigFile(path); // once more: the sync above takes its time
    if (current?.text !== change.expected) return false;
    if (current) chmodSync(draft, current.mode);
    renameSync(draft, path);
    syncDirectory(dirname(path));
    return true;
  } catch (error) {
    throw cannotWrite(path, error);
  } finally {
    rmSync(draft, { force: true });
  }
}

function writeDraft(path: string, text: string): void {
  const descriptor = openSync(path, "wx", 0o600);
  try {
    const bytes = Buffer.from(text);
    for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Makes the rename itself last. Windows cannot sync a directory and keeps a journal of its own. */
function syncDirectory(path: string): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function cannotWrite(path: string, error: unknown): GalleyError {
  const reason = error instanceof GalleyError ? error.message : (systemCode(error) ?? messageOf(error));
  return new GalleyError("file_refused", `Cannot write ${path} (${reason}).`, { cause: error });
}

const lockLimitMs = 5000;

/**
 * Runs `work` while no other caller holds the lock of this file. Throws `timeout` after five seconds of waiting. Where
 * no lock between processes is available, the check in `replaceConfigFile` decides.
 */
export async function withConfigLock<T>(path: string, work: () => Promise<T>, clock: Clock = systemClock): Promise<T> {
  const { lock } = await acquireLock(`${path}#config`, clock, lockLimitMs);
  if (!lock) throw new GalleyError("timeout", `Another program is writing ${path}. Nothing was changed.`);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}
