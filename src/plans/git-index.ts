// What git's index says: which content and mode each path has. The rest of it is what git remembers of files on the disk
// (times, inodes, owners, sizes), and caches. `git status` rewrites that part after every change of a file, and an undo
// must not take that for another program's work.

import { createHash } from "node:crypto";
import { isGitData } from "../files/paths/git-data.js";

/** The same for two indexes that say the same. Undefined for any other file, and where the index cannot be read whole. */
export function indexMeaning(path: string, bytes: Uint8Array): string | undefined {
  if (!/[/\\]index$/.test(path) || !isGitData(path)) return undefined;
  const index = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  try {
    return digestOf(index, "sha1") ?? digestOf(index, "sha256");
  } catch (error) {
    if (error instanceof RangeError) return undefined; // it ends too soon
    throw error;
  }
}

const headerBytes = 12;
/** Before the hash of an entry. The mode is in the middle. */
const statBytes = 40;
const modeAt = 24;
const hasMoreFlags = 0x4000;

type Format = "sha1" | "sha256";
const hashLengths = { sha1: 20, sha256: 32 };

/** Only the right format leads to the end of the file. */
function digestOf(index: Buffer, format: Format): string | undefined {
  const hashBytes = hashLengths[format];
  const version = index.readUInt32BE(4);
  if (index.toString("latin1", 0, 4) !== "DIRC" || version < 2 || version > 4) return undefined;
  const digest = createHash("sha256");
  let at = headerBytes;
  let name: Buffer = Buffer.alloc(0);
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const start = at;
    digest.update(index.subarray(at + modeAt, at + modeAt + 4));
    at += statBytes;
    const isLong = (index.readUInt16BE(at + hashBytes) & hasMoreFlags) !== 0;
    const end = at + hashBytes + (isLong ? 4 : 2);
    digest.update(index.subarray(at, end));
    at = end;
    if (version === 4) {
      const { value, next } = offsetAt(index, at);
      const stop = index.indexOf(0, next);
      if (stop < 0 || value > name.length) return undefined;
      name = Buffer.concat([name.subarray(0, name.length - value), index.subarray(next, stop)]);
      at = stop + 1;
    } else {
      const stop = index.indexOf(0, at);
      if (stop < 0) return undefined;
      name = index.subarray(at, stop);
      at = start + Math.ceil((stop + 1 - start) / 8) * 8;
    }
    digest.update(name).update("\0");
  }
  const end = index.length - hashBytes;
  return isWhole(index, end, format) && cachesReach(index, at, end) ? digest.digest("hex") : undefined;
}

/** How much of the name before is left out: git's own way to write a number. */
function offsetAt(index: Buffer, from: number): { value: number; next: number } {
  let at = from;
  let byte = index.readUInt8(at++);
  let value = byte & 0x7f;
  while (byte & 0x80) {
    byte = index.readUInt8(at++);
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, next: at };
}

/** Git may be set not to compute the hash at the end, and writes zeros. */
function isWhole(index: Buffer, end: number, format: Format): boolean {
  const last = index.subarray(end);
  const hash = createHash(format).update(index.subarray(0, end)).digest();
  return last.equals(hash) || last.every((byte) => byte === 0);
}

/** Extensions whose names begin with a capital letter may be ignored; with another one the entries are not all of it. */
function cachesReach(index: Buffer, from: number, end: number): boolean {
  let at = from;
  while (at < end) {
    if (!/[A-Z]/.test(String.fromCharCode(index.readUInt8(at)))) return false;
    at += 8 + index.readUInt32BE(at + 4);
  }
  return at === end;
}
