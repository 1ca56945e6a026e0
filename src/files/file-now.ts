// A file as it is on the disk now, without the workspace's rules for reading: for undo, which knows the path from its
// record, and for a preview that depends on a file and keeps only its hash.

import { sha256Of } from "../base/digest.js";
import { nodeDisk as disk } from "./disk/node-disk.js";
import { cannotOpen, ifAbsent, refusal } from "./refusals.js";

export interface FileNow {
  readonly sizeBytes: number;
  readonly mode: number;
  /** The SHA-256 of all bytes, in hex. */
  readonly hash: string;
  /** All bytes; absent if there are more than the caller asked for. */
  readonly bytes?: Uint8Array;
}

/** `path` is canonical. Undefined where no regular file is. Throws `file_refused` for one that cannot be read. */
export async function fileNow(path: string, maxBytes: number): Promise<FileNow | undefined> {
  try {
    const stat = await disk.lstat(path).catch(ifAbsent);
    if (stat?.kind !== "file") return undefined;
    const { identity, mode, sizeBytes } = stat;
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
