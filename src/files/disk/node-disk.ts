// The real disk. A file is opened without following a link and without waiting for a writer, and is read only if it is
// the very file that was checked. On Linux calls in a pinned directory go through its descriptor, so that no program can
// redirect them by a link; elsewhere a short window stays between the check of the directory and the call.

import { type BigIntStats, constants, fstatSync, lstatSync, promises, realpathSync } from "node:fs";
import { throwIfAborted } from "../../base/abort.js";
import { systemCode } from "../../base/errors.js";
import {
  carefulBulkDisk,
  type Disk,
  type DiskEntry,
  type DiskFile,
  type DiskRead,
  type PinnedDirectory,
} from "./disk.js";
import { chooseBulkDisk, readFlags } from "./node-bulk-disk.js";
import { describe, identityOf, kindOf } from "./node-stats.js";

// `promises` is looked up where it is used: loading it takes milliseconds that the start of the program should not pay.
type FileHandle = Awaited<ReturnType<typeof promises.open>>;

// Not every flag exists on Windows. There only the comparison of identities protects.
const noFollow = constants.O_NOFOLLOW ?? 0;
const pinFlags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | noFollow;
const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow;
const chunkBytes = 4 * 1024 * 1024;

const disk: Omit<Disk, "inBulk"> = {
  realpath: (path) => promises.realpath(path),

  findOwn(path) {
    try {
      // Checked first: the file mostly does not exist, and this call says so without an exception.
      if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
      const canonical = realpathSync.native(path);
      return { path: canonical, ...describe(lstatSync(canonical, { bigint: true })) };
    } catch {
      return undefined; // a link to nowhere, or a directory that is closed to us
    }
  },

  async lstat(path) {
    return describe(await promises.lstat(path, { bigint: true }));
  },

  async list(path, maxEntries) {
    const found: DiskEntry[] = [];
    // Leaving the loop closes the directory.
    for await (const entry of await promises.opendir(path, { bufferSize: 256 })) {
      if (found.length >= maxEntries) break;
      found.push({ name: entry.name, kind: kindOf(entry) });
    }
    return found;
  },

  read: readChecked,

  digest: (path, identity, signal) => withChecked(path, identity, (file, stats) => digestOf(file, stats, signal)),

  async pin(path) {
    if (process.platform === "win32") return unpinned(path); // a directory cannot be opened there
    const handle = await promises.open(path, pinFlags);
    try {
      return (process.platform === "linux" && (await throughDescriptor(handle))) || byName(path, handle);
    } catch (error) {
      await handle.close();
      throw error;
    }
  },

  async create(path, mode) {
    return fileOf(await promises.open(path, createFlags, mode));
  },

  mkdir: (path) => promises.mkdir(path),
  rmdir: (path) => promises.rmdir(path),
  link: (from, to) => promises.link(from, to),
  rename: (from, to) => promises.rename(from, to),
  unlink: (path) => promises.unlink(path),
};

/** Made for the first search: a session starts without it. */
let chooseBulk: Disk["inBulk"] | undefined;

export const nodeDisk: Disk = {
  ...disk,
  inBulk(place) {
    chooseBulk ??= chooseBulkDisk(carefulBulkDisk(disk));
    return chooseBulk(place);
  },
};

function readChecked(
  path: string,
  identity: string,
  options: { maxBytes: number; signal?: AbortSignal | undefined },
): Promise<DiskRead | undefined> {
  return withChecked(path, identity, (file, { size }) => readBounded(file, Number(size), options));
}

async function withChecked<T>(
  path: string,
  identity: string,
  work: (file: FileHandle, opened: BigIntStats) => Promise<T>,
): Promise<T | undefined> {
  const file = await promises.open(path, readFlags);
  try {
    // Blocking: of what was opened a moment ago this much is known, and another turn of the event loop costs more.
    const opened = fstatSync(file.fd, { bigint: true });
    if (!opened.isFile() || identityOf(opened) !== identity) return undefined;
    return await work(file, opened);
  } finally {
    // Not awaited: nothing was written, so a failure loses nothing.
    void file.close().catch(() => {});
  }
}

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
    const wanted = Math.min(buffer.length - length, chunkBytes);
    const { bytesRead } = await file.read(buffer, length, wanted, null);
    if (bytesRead === 0) return { bytes: buffer.subarray(0, length), isTruncated: false };
    length += bytesRead;
    // Fewer bytes than the buffer has room for, and at least the file's size: its end. A size of 0 is not trusted.
    if (bytesRead < wanted && sizeBytes > 0 && length >= sizeBytes && length <= maxBytes)
      return { bytes: buffer.subarray(0, length), isTruncated: false };
    if (length > maxBytes) return { bytes: buffer.subarray(0, maxBytes), isTruncated: true };
    if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(buffer.length * 2, maxBytes + 1));
  }
}

async function digestOf(
  file: FileHandle,
  before: BigIntStats,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { createHash } = await import("node:crypto"); // only writing needs it
  const hash = createHash("sha256");
  const sizeBytes = Number(before.size);
  const buffer = Buffer.allocUnsafe(Math.min(sizeBytes + 1, chunkBytes));
  for (let length = 0; ; ) {
    throwIfAborted(signal);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
    hash.update(buffer.subarray(0, bytesRead));
    length += bytesRead;
    // Room was left after the last byte, so this was the end; had the file grown since, its size would tell below.
    if (bytesRead === 0 || (length === sizeBytes && bytesRead < buffer.length)) break;
  }
  // Reading a long file takes time, and another program may have written to the part that was already read.
  const after = await file.stat({ bigint: true });
  const isSame = after.mtimeNs === before.mtimeNs && after.ctimeNs === before.ctimeNs && after.size === before.size;
  return isSame ? hash.digest("hex") : undefined;
}

/** Undefined where procfs is not mounted. */
async function throughDescriptor(handle: FileHandle): Promise<PinnedDirectory | undefined> {
  const path = `/proc/self/fd/${handle.fd}`;
  const location = () => promises.readlink(path);
  const isThere = await location().catch(() => undefined);
  return isThere === undefined ? undefined : { path, location, ...endOf(handle) };
}

function byName(path: string, handle: FileHandle): PinnedDirectory {
  return { path, location: () => promises.realpath(path), ...endOf(handle) };
}

function unpinned(path: string): PinnedDirectory {
  return { path, location: () => promises.realpath(path), fsync: async () => {}, close: async () => {} };
}

function endOf(handle: FileHandle): Pick<PinnedDirectory, "fsync" | "close"> {
  return {
    async fsync() {
      await handle.sync().catch((error: unknown) => {
        // Some file systems cannot sync a directory; nothing more can be done there.
        if (!["EINVAL", "ENOTSUP"].includes(systemCode(error) ?? "")) throw error;
      });
    },
    close: () => handle.close(),
  };
}

/**
 * Whole microseconds, on every version of Node: up to 22 it cuts off after the microsecond, and a binary fraction may
 * just fall short of one; later it sets nanoseconds. So this is the nearest number that falls short of none.
 */
export function toSeconds(ms: number): number {
  const microseconds = Math.round(ms * 1000);
  const seconds = microseconds / 1e6;
  const fallsShort = (seconds - Math.floor(seconds)) * 1e9 < (microseconds % 1e6) * 1000;
  return fallsShort ? seconds * (1 + Number.EPSILON) : seconds;
}

function fileOf(handle: FileHandle): DiskFile {
  return {
    stat: async () => describe(await handle.stat({ bigint: true })),
    async append(bytes) {
      for (let written = 0; written < bytes.length; )
        written += (await handle.write(bytes, written, bytes.length - written)).bytesWritten;
    },
    chown: (uid, gid) => handle.chown(uid, gid),
    chmod: (mode) => handle.chmod(mode),
    utimes: (modifiedMs) => handle.utimes(toSeconds(modifiedMs), toSeconds(modifiedMs)),
    fsync: () => handle.sync(),
    close: () => handle.close(),
  };
}
