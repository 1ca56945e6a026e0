// Converts Node's file status to a disk's.

import type { BigIntStats, Dirent, Stats } from "node:fs";
import type { DiskStat } from "./disk.js";

export function describe(stats: BigIntStats): DiskStat {
  return {
    kind: kindOf(stats),
    kindName: kindName(stats),
    identity: identityOf(stats),
    sizeBytes: Number(stats.size),
    modifiedMs: Number(stats.mtimeNs) / 1e6, // whole milliseconds would lose what undo has to restore
    mode: Number(stats.mode) & 0o7777,
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    linkCount: Number(stats.nlink),
    mark: `${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`,
  };
}

/** Numbers are twice as fast as big integers, and equal as long as they are exact. */
export function exactStats(quick: Stats, ask: () => BigIntStats): Stats | BigIntStats {
  return Number.isSafeInteger(quick.dev) && Number.isSafeInteger(quick.ino) ? quick : ask();
}

export function identityOf({ dev, ino }: Stats | BigIntStats): string {
  return `${dev}:${ino}`;
}

export function kindOf(stats: Stats | BigIntStats | Dirent): DiskStat["kind"] {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  return stats.isSymbolicLink() ? "link" : "special";
}

function kindName(stats: BigIntStats): string {
  if (stats.isFIFO()) return "a FIFO";
  if (stats.isSocket()) return "a socket";
  return stats.isCharacterDevice() || stats.isBlockDevice() ? "a device" : "a special file";
}
