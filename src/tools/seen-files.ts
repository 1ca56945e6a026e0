// What the model knows of each file, so that a change is based on its real content: the SHA-256 of the bytes that it was
// last shown or wrote itself. One per session, shared by every tool that shows or writes files.

import { sha256Of } from "../base/digest.js";
import type { FileBytes } from "../files/workspace.js";

interface Seen {
  /** How many bytes were hashed. More than those may follow when the file was too long to be read whole. */
  readonly length: number;
  readonly isWhole: boolean;
  readonly hash: string;
}

export class SeenFiles {
  readonly #maxFiles: number;
  readonly #files = new Map<string, Seen>();

  /** The files seen longest ago are forgotten first, and a forgotten file may be changed. */
  constructor({ maxFiles = 10_000 } = {}) {
    this.#maxFiles = maxFiles;
  }

  /** `path` is canonical. */
  note(path: string, { bytes, isTruncated }: FileBytes): void {
    this.#files.delete(path); // so that it moves to the end
    this.#files.set(path, { length: bytes.length, isWhole: !isTruncated, hash: sha256Of(bytes) });
    for (const oldest of this.#files.keys()) {
      if (this.#files.size <= this.#maxFiles) break;
      this.#files.delete(oldest);
    }
  }

  /** The model itself had the file rewritten: if it knew the old content, it knows the new one. */
  noteRewrite(path: string, before: Uint8Array, after: Uint8Array): void {
    if (this.#files.has(path) && !this.hasChanged(path, before)) this.note(path, { bytes: after, isTruncated: false });
  }

  /** Was the file seen, with other bytes than these? They are the whole file. */
  hasChanged(path: string, bytes: Uint8Array): boolean {
    const seen = this.#files.get(path);
    if (!seen) return false;
    if (seen.isWhole ? bytes.length !== seen.length : bytes.length < seen.length) return true;
    return sha256Of(bytes.subarray(0, seen.length)) !== seen.hash;
  }
}
