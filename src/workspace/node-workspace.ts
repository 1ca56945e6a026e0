// The workspace on the real disk. A file is opened without following a link and without waiting for a writer, and is
// read only if it is the very file that was checked.

import { type BigIntStats, constants, type Dirent } from "node:fs";
import { type FileHandle, lstat, open, opendir, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { throwIfAborted } from "../base/abort.js";
import { createWorkspace } from "./create-workspace.js";
import type { Disk, DiskEntry, DiskRead, DiskStat } from "./disk.js";
import type { Workspace } from "./workspace.js";

export interface NodeWorkspaceOptions {
  cwd: string;
  /** Default: the user's. */
  home?: string | undefined;
  /** Default: `.galley/agent` in the user's home. */
  agentDir?: string | undefined;
}

export function createNodeWorkspace({ cwd, home = homedir(), agentDir }: NodeWorkspaceOptions): Workspace {
  return createWorkspace(nodeDisk, { cwd, home, agentDir: agentDir ?? join(home, ".galley", "agent") });
}

const nodeDisk: Disk = {
  realpath: (path) => realpath(path),

  async lstat(path) {
    return describe(await lstat(path, { bigint: true }));
  },

  async list(path, maxEntries) {
    const found: DiskEntry[] = [];
    // Leaving the loop closes the directory.
    for await (const entry of await opendir(path, { bufferSize: 256 })) {
      if (found.length >= maxEntries) break;
      found.push({ name: entry.name, kind: kindOf(entry) });
    }
    return found;
  },

  async read(path, identity, options) {
    // O_NOFOLLOW does not exist on Windows, where the comparison below has to do.
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | (constants.O_NOFOLLOW ?? 0);
    const file = await open(path, flags);
    try {
      const opened = describe(await file.stat({ bigint: true }));
      if (opened.kind !== "file" || opened.identity !== identity) return undefined;
      return await readBounded(file, opened.sizeBytes, options);
    } finally {
      await file.close();
    }
  },
};

/** Reads to the end or the bound. The reported size only sizes the buffer: procfs says 0 and files grow. */
async function readBounded(
  file: FileHandle,
  sizeBytes: number,
  { maxBytes, signal }: { maxBytes: number; signal?: AbortSignal | undefined },
): Promise<DiskRead> {
  let buffer = Buffer.allocUnsafe(Math.min(Math.max(sizeBytes, 4096), maxBytes) + 1);
  let length = 0;
  for (;;) {
    throwIfAborted(signal);
    const wanted = Math.min(buffer.length - length, 4 * 1024 * 1024);
    const { bytesRead } = await file.read(buffer, length, wanted, null);
    if (bytesRead === 0) return { bytes: buffer.subarray(0, length), isTruncated: false };
    length += bytesRead;
    if (length > maxBytes) return { bytes: buffer.subarray(0, maxBytes), isTruncated: true };
    if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(buffer.length * 2, maxBytes + 1));
  }
}

function describe(stats: BigIntStats): DiskStat {
  return {
    kind: kindOf(stats),
    kindName: kindName(stats),
    identity: `${stats.dev}:${stats.ino}`,
    sizeBytes: Number(stats.size),
    modifiedMs: Number(stats.mtimeMs),
  };
}

function kindOf(stats: BigIntStats | Dirent): DiskStat["kind"] {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  return stats.isSymbolicLink() ? "link" : "special";
}

function kindName(stats: BigIntStats): string {
  if (stats.isFIFO()) return "a FIFO";
  if (stats.isSocket()) return "a socket";
  return stats.isCharacterDevice() || stats.isBlockDevice() ? "a device" : "a special file";
}
