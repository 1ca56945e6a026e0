// Whether something can be kept in a directory, found out by writing there: a full disk and a read-only one say it only then.

import { promises as fs } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf, systemCode } from "../../base/errors.js";

/** Larger than what a file system keeps free in its last block. */
const probeBytes = 64 * 1024;

/** Why it cannot; undefined: it can. A directory that is not there yet would be made, so its parent is tried. */
export async function tryToWrite(directory: string): Promise<string | undefined> {
  const path = join(directory, `.galley-probe-${process.pid}`);
  try {
    await fs.writeFile(path, Buffer.alloc(probeBytes), { flag: "wx", mode: 0o600, flush: true });
    return undefined;
  } catch (error) {
    const parent = dirname(directory);
    return systemCode(error) === "ENOENT" && parent !== directory ? tryToWrite(parent) : messageOf(error);
  } finally {
    await fs.rm(path, { force: true }).catch(() => {}); // where nothing can be written, nothing is left
  }
}
