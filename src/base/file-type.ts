// What is at a path: a regular file, a symbolic link or a directory, and the one hash by which all three are compared.

import { sha256Of } from "./digest.js";

export type FileType = "file" | "symlink" | "directory";

/** Of all plans and records that name none. */
export const usualType = "file";

/** In hex. The bytes of a link are its target, and a directory has none: what is in it are other paths. */
export function contentHash(type: FileType = usualType, bytes: Uint8Array = nothing): string {
  if (type === "file") return sha256Of(bytes);
  return sha256Of(Buffer.concat([type === "symlink" ? linkMark : directoryMark, bytes]));
}

const nothing = new Uint8Array();
const linkMark = Buffer.from("link\0");
const directoryMark = Buffer.from("directory\0");

/** For data that was read from a file. */
export function isFileType(value: unknown): value is FileType {
  return value === "file" || value === "symlink" || value === "directory";
}
