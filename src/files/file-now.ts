// A file, link or directory as it is on the disk now, without the workspace's rules for reading: for undo, which knows the
// path from its record, and for a preview that depends on a file and keeps only its hash.

import { promises } from "node:fs";
import { dirname } from "node:path";
import { sha256Of } from "../base/digest.js";
import { systemCode } from "../base/errors.js";
import { contentHash, type FileType } from "../base/file-type.js";
import { nodeDisk as disk } from "./disk/node-disk.js";
import { cannotOpen, ifAbsent, refusal } from "./refusals.js";

export interface FileNow {
  readonly sizeBytes: number;
  readonly mode: number;
  /** Default: a regular file. */
  readonly type?: FileType;
  readonly hash: string;
  /** All bytes, of a link its target; absent if there are more than the caller asked for. */
  readonly bytes?: Uint8Array;
}

/**
 * The path is canonical but for its last name; where a link has come into the way to it, it is not there any more.
 * Undefined where nothing is, or a special file. Throws `file_refused` for one that cannot be read. */
export async function fileNow(path: string, maxBytes: number): Promise<FileNow | undefined> {
  try {
    const stat = (await isPlain(dirname(path))) ? await disk.lstat(path).catch(ifAbsent) : undefined;
    if (!stat || stat.kind === "special") return undefined;
    const { identity, mode, sizeBytes } = stat;
    if (stat.kind === "directory") return other("directory", new Uint8Array(), mode);
    if (stat.kind === "link") return other("symlink", await promises.readlink(path, { encoding: "buffer" }), mode);
    const read = sizeBytes > maxBytes ? undefined : await disk.read(path, identity, { maxBytes });
    if (read && !read.isTruncated)
      return { sizeBytes: read.bytes.length, mode, hash: sha256Of(read.bytes), bytes: read.bytes };
    const hash = await disk.digest(path, identity);
    if (hash === undefined) throw refusal(path, "it changed while it was read");
    return { sizeBytes, mode, hash };
  } catch (error) {
    throw cannotOpen(path, error);
  }
}

/** The directory is there, and no link leads to it. */
export async function isPlain(directory: string): Promise<boolean> {
  const real = await disk.realpath(directory).catch((error: unknown) => {
    return systemCode(error) === "ELOOP" ? undefined : ifAbsent(error); // a link that leads to itself
  });
  return real === directory && (await disk.lstat(directory).catch(ifAbsent))?.kind === "directory";
}

function other(type: FileType, bytes: Uint8Array, mode: number): FileNow {
  return { type, sizeBytes: bytes.length, mode, hash: contentHash(type, bytes), bytes };
}
