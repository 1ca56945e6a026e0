// The real disk for thousands of files in a row. Passing each small call to another thread takes several times as long
// as the call itself, so these calls block, one at a time, and other tasks get a turn every few milliseconds. Only short
// files with a known size are read like this, and only from a local file system: a network file system, or a program
// behind a mount, may not answer at all.

import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  promises,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { throwIfAborted } from "../../base/abort.js";
import { TimeSlices } from "../../base/time-slices.js";
import { type BulkDisk, type Disk, type DiskEntry, type DiskStat, readThenAsk } from "./disk.js";
import { describe, exactStats, identityOf, kindOf } from "./node-stats.js";

/** Without following a link and without waiting for a writer. Not every flag exists on Windows. */
export const readFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

const maxBlockingBytes = 1024 * 1024;
const namesAtOnce = 256;
/** A directory of this size mostly has a few thousand names, which are listed in a few milliseconds. */
const maxShortDirectoryBytes = 16 * 1024;

/** For the whole process: two searches together block the loop no longer than one. Pipes to children are filled between. */
const slices = new TimeSlices({ sliceMs: 2 });

/** Allocated for the first file and reused: a buffer for each file would keep the garbage collector busy. */
let scratch: Buffer | undefined;

/** As Linux numbers them: ext, xfs, btrfs, f2fs, zfs, tmpfs, overlay. Others are read without blocking. */
const overlay = 0x794c7630;
const localTypes = new Set([0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0x01021994, overlay]);

export function chooseBulkDisk(careful: BulkDisk): Disk["inBulk"] {
  const byDevice = new Map<string, BulkDisk>();
  return async ({ path, identity }) => {
    const device = identity.slice(0, identity.indexOf(":"));
    const known = byDevice.get(device);
    if (known) return known;
    const type = await promises.statfs(path).then(
      (stats) => stats.type,
      () => undefined, // opening it reports the reason
    );
    const isLocal = process.platform === "linux" && type !== undefined && localTypes.has(type);
    // A directory of several layers says only how long its uppermost part is.
    const chosen = isLocal ? createBulkDisk(careful.read, { hasSizedDirectories: type !== overlay }) : careful;
    byDevice.set(device, chosen);
    return chosen;
  };
}

export function createBulkDisk(
  read: Disk["read"],
  { hasSizedDirectories }: { hasSizedDirectories: boolean },
): BulkDisk {
  const readLong = readThenAsk(read);
  return {
    read,

    async lstat(path) {
      await slices.turn();
      return describe(lstatSync(path, { bigint: true }));
    },

    async realpath(path) {
      await slices.turn();
      return realpathSync.native(path);
    },

    lstatAll: (paths) => ofEach(paths, look),

    modifiedTimes: (paths) => ofEach(paths, (path) => lstatSync(path).mtimeMs),

    async list(path, maxEntries) {
      await slices.turn();
      if (hasSizedDirectories && statSync(path).size <= maxShortDirectoryBytes)
        return readdirSync(path, { withFileTypes: true }).slice(0, maxEntries).map(entryOf);
      const directory = opendirSync(path, { bufferSize: namesAtOnce });
      try {
        const found: DiskEntry[] = [];
        for (let entry = directory.readSync(); entry && found.length < maxEntries; entry = directory.readSync()) {
          found.push(entryOf(entry));
          if (found.length % namesAtOnce === 0) await slices.turn();
        }
        return found;
      } finally {
        directory.closeSync();
      }
    },

    async readIf(path, identity, options) {
      await slices.turn();
      throwIfAborted(options.signal);
      const file = openSync(path, readFlags);
      try {
        const opened = exactStats(fstatSync(file), () => fstatSync(file, { bigint: true }));
        if (!opened.isFile() || identityOf(opened) !== identity) return undefined;
        const bytes = readShort(file, Number(opened.size), options.maxBytes);
        if (bytes) return options.isWanted(bytes) ? { bytes: Buffer.from(bytes), isTruncated: false } : "unwanted";
      } finally {
        closeSync(file);
      }
      return readLong(path, identity, options);
    },
  };
}

function entryOf(entry: Dirent): DiskEntry {
  return { name: entry.name, kind: kindOf(entry) };
}

function look(path: string): Pick<DiskStat, "kind" | "identity" | "sizeBytes"> {
  const stats = exactStats(lstatSync(path), () => lstatSync(path, { bigint: true }));
  return { kind: kindOf(stats), identity: identityOf(stats), sizeBytes: Number(stats.size) };
}

/** Undefined for each that cannot be read. */
async function ofEach<T>(paths: readonly string[], lookAt: (path: string) => T): Promise<(T | undefined)[]> {
  const found: (T | undefined)[] = [];
  for (const path of paths) {
    const pause = slices.turn();
    if (pause) await pause;
    found.push(ifPossible(lookAt, path));
  }
  return found;
}

function ifPossible<T>(lookAt: (path: string) => T, path: string): T | undefined {
  try {
    return lookAt(path);
  } catch {
    return undefined;
  }
}

/** Into the shared buffer. Undefined if the size is unreliable (procfs says 0), too large, or wrong by now. */
function readShort(file: number, sizeBytes: number, maxBytes: number): Buffer | undefined {
  if (sizeBytes === 0 || sizeBytes > Math.min(maxBytes, maxBlockingBytes)) return undefined;
  scratch ??= Buffer.allocUnsafeSlow(maxBlockingBytes + 1);
  // One more byte than the size, to notice a file that has grown.
  const length = readSync(file, scratch, 0, sizeBytes + 1, null);
  return length === sizeBytes ? scratch.subarray(0, length) : undefined;
}
