// What is at a path, and what is in it, without following links. Names that are no UTF-8 are told apart from the others,
// because no path of ours can name them.

import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";
import { systemCode } from "../../base/errors.js";
import { printable } from "../paths/resolve-path.js";
import type { FileState } from "./stage-view.js";

export interface Entry {
  readonly kind: "file" | "directory" | "symlink" | "special";
  /** `special` in a word: `FIFO`, `socket`, `device`. */
  readonly what: string;
  /** How an overlay says that something was deleted. */
  readonly isWhiteout: boolean;
  /** The twelve permission bits. */
  readonly mode: number;
  readonly size: number;
  /** What it takes on the disk: holes take nothing. */
  readonly diskBytes: number;
  readonly linkCount: number;
  readonly uid: number;
  readonly gid: number;
  readonly mtimeMs: number;
  readonly ctimeNs: bigint;
  readonly device: bigint;
  /** Changes with every change of the content or of the permissions. */
  readonly mark: string;
}

export function entryAt(path: string | Buffer): Entry | undefined {
  const stat = statAt(path);
  if (!stat) return undefined;
  const isDevice = stat.isCharacterDevice() || stat.isBlockDevice();
  const what = stat.isFIFO() ? "FIFO" : stat.isSocket() ? "socket" : isDevice ? "device" : "";
  return {
    kind: stat.isFile() ? "file" : stat.isDirectory() ? "directory" : stat.isSymbolicLink() ? "symlink" : "special",
    what,
    isWhiteout: stat.isCharacterDevice() && stat.rdev === 0n,
    mode: Number(stat.mode & 0o7777n),
    size: Number(stat.size),
    diskBytes: Number(stat.blocks) * 512,
    linkCount: Number(stat.nlink),
    uid: Number(stat.uid),
    gid: Number(stat.gid),
    mtimeMs: millisecondsOf(stat.mtimeNs),
    ctimeNs: stat.ctimeNs,
    device: stat.dev,
    mark: `${stat.ino}:${stat.size}:${stat.mode}:${stat.mtimeNs}:${stat.ctimeNs}`,
  };
}

/** The same number that Node makes of it. */
function millisecondsOf(ns: bigint): number {
  const second = 1_000_000_000n;
  return Number(ns / second) * 1000 + Number(ns % second) / 1e6;
}

function statAt(path: string | Buffer) {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (systemCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

export interface Names {
  readonly names: readonly string[];
  /** Those that are no UTF-8, as they can be shown. */
  readonly unreadable: readonly string[];
}

/** Sorted. */
export function namesIn(directory: string): Names {
  const names = readdirSync(directory);
  if (!names.some((name) => name.includes("\ufffd"))) return { names: names.sort(), unreadable: [] };
  const all = readdirSync(Buffer.from(directory), { encoding: "buffer" });
  const texts = (chosen: Buffer[]) => chosen.map((name) => name.toString("utf8")).sort();
  return {
    names: texts(all.filter((name) => isUtf8(name))),
    unreadable: texts(all.filter((name) => !isUtf8(name))).map(printable),
  };
}

/** Undefined for what is no regular file, or longer than `maxBytes`. A link or a pipe in its place is not opened. */
export function bytesAt(path: string, maxBytes: number): Buffer | undefined {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile() || stat.size > maxBytes) return undefined;
    const bytes = Buffer.allocUnsafe(stat.size + 1);
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(file, bytes, length, bytes.length - length, length);
      if (read === 0) return bytes.subarray(0, length);
      length += read;
    }
    return undefined; // it grew meanwhile
  } finally {
    closeSync(file);
  }
}

const pieceBytes = 1 << 20;

/** Of two regular files. */
export function haveSameBytes(one: string, other: string): boolean {
  const files = [one, other].map((path) =>
    openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK),
  );
  try {
    for (let at = 0; ; at += pieceBytes) {
      const [first, second] = files.map((file) => {
        const bytes = Buffer.allocUnsafe(pieceBytes);
        return bytes.subarray(0, readSync(file, bytes, 0, pieceBytes, at));
      }) as [Buffer, Buffer];
      if (!first.equals(second)) return false;
      if (first.length === 0) return true;
    }
  } finally {
    for (const file of files) closeSync(file);
  }
}

/** Throws the system's error where it cannot be read; undefined for what has no state that could be staged. */
export function stateAt(path: string, entry: Entry, maxBytes: number): FileState | undefined {
  const { kind, mode, mtimeMs } = entry;
  if (kind === "directory") return { type: "directory", mode };
  if (kind === "symlink") return { type: "symlink", target: readlinkSync(path, { encoding: "buffer" }) };
  if (kind === "special") return undefined;
  const bytes = bytesAt(path, maxBytes);
  return bytes && { type: "file", bytes, mode, mtimeMs };
}
