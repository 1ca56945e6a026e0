// Deletes a session: its file and its companion files. Images are shared and stay until garbage is collected. A file that
// is no session, or a session that is open, is never deleted.

import { resolve } from "node:path";
import { type Clock, systemClock } from "../../base/clock.js";
import { GalleyError, systemCode } from "../../base/errors.js";
import { acquireLock } from "../../base/path-lock.js";
import { SessionReader } from "../read/read-entries.js";
import { removeCompanionFiles } from "./companion-files.js";
import { inUseText } from "./load-session.js";
import { nodeDisk, O_RDONLY, realPath, type SessionDisk } from "./session-disk.js";

/** Throws `busy` for a session that is open in any process, this one included. */
export async function deleteSession(
  path: string,
  { clock = systemClock, disk = nodeDisk }: { readonly clock?: Clock; readonly disk?: SessionDisk } = {},
): Promise<void> {
  const real = realPath(resolve(path));
  const attempt = await acquireLock(real, clock);
  if (!attempt.lock) throw new GalleyError("busy", inUseText(path, attempt.holderPid));
  try {
    await checkHeader(disk, real, path);
    disk.unlink(real);
    await removeCompanionFiles(real);
  } finally {
    await attempt.lock.release();
  }
}

/** Reads no further than the first line. */
async function checkHeader(disk: SessionDisk, real: string, path: string): Promise<void> {
  const file = openToRead(disk, real, path);
  try {
    const { isFile } = disk.status(file);
    const reader = new SessionReader(path);
    const buffer = Buffer.allocUnsafe(64 * 1024);
    for (let position = 0, hasHeader = false; isFile && !hasHeader; ) {
      const bytes = await disk.read(file, buffer, position);
      const end = buffer.subarray(0, bytes).indexOf(0x0a);
      hasHeader = bytes === 0 || end !== -1;
      reader.push(buffer.subarray(0, end === -1 ? bytes : end + 1));
      position += bytes;
    }
    reader.end(); // throws unless that was a header
  } finally {
    disk.close(file);
  }
}

function openToRead(disk: SessionDisk, real: string, path: string): number {
  try {
    return disk.open(real, O_RDONLY);
  } catch (error) {
    if (systemCode(error) === "ENOENT") throw new GalleyError("not_found", `File not found: ${path}`, { cause: error });
    throw error;
  }
}
