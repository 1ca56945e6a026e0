// Files that could be extensions: looked at and read, never run. They may belong to a project, so only regular files are
// opened, nothing is read without a limit, and a path is returned together with its real path.

import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { GalleyError, systemCode } from "../base/errors.js";

export type Looked =
  | { readonly kind: "file" | "directory"; readonly realPath: string }
  | { readonly kind: "missing" }
  /** Neither a file nor a directory: the end of a sentence that begins with its name. */
  | { readonly kind: "unfit"; readonly problem: string };

/** What a path leads to, links followed. Synchronous: most of these paths do not exist. */
export function lookAt(path: string): Looked {
  try {
    const status = statSync(path, { throwIfNoEntry: false });
    if (status === undefined) return { kind: "missing" };
    const kind = status.isFile() ? "file" : status.isDirectory() ? "directory" : undefined;
    if (kind === undefined) return { kind: "unfit", problem: "is not a regular file" };
    return { kind, realPath: realpathSync.native(path) };
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG" || code === "ERR_INVALID_ARG_VALUE")
      return { kind: "missing" }; // the last: a name with NUL, which no file has
    return { kind: "unfit", problem: `cannot be read (${code})` };
  }
}

export interface ModuleFile {
  readonly realPath: string;
  readonly bytes: Uint8Array;
  /** The twelve permission bits. */
  readonly mode: number;
}

/**
 * Throws `not_found`, or `file_refused` with the end of a sentence that begins with the file's name. Synchronous: these
 * are small files, and the thread pool takes longer than reading one.
 */
export function readModuleFile(path: string, maxBytes: number): ModuleFile {
  const looked = lookAt(path);
  if (looked.kind === "missing") throw new GalleyError("not_found", "is not there");
  if (looked.kind === "directory") throw refused("is a directory");
  if (looked.kind === "unfit") throw refused(looked.problem);
  const { realPath } = looked;
  try {
    // It was a regular file a moment ago. If it is a link or a pipe by now, that is noticed here.
    const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
    const descriptor = openSync(realPath, flags);
    try {
      const status = fstatSync(descriptor);
      if (!status.isFile()) throw refused("is not a regular file");
      const bytes = readBounded(descriptor, status.size, maxBytes);
      if (bytes === undefined) throw refused(`is larger than ${maxBytes} bytes`);
      return { realPath, bytes, mode: status.mode & 0o7777 };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (error instanceof GalleyError) throw error;
    throw refused(`cannot be read (${systemCode(error)})`, error);
  }
}

/** To the end rather than to the size seen before: the file may be growing. */
function readBounded(descriptor: number, size: number, maxBytes: number): Uint8Array | undefined {
  if (size > maxBytes) return undefined;
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(Math.max(size - length, 4096));
    const count = readSync(descriptor, chunk);
    if (count === 0) return Buffer.concat(chunks);
    length += count;
    if (length > maxBytes) return undefined;
    chunks.push(chunk.subarray(0, count));
  }
}

/**
 * Does the directory belong to the user who runs galley (under sudo also: to the user who called sudo)? True where the
 * system has no owners. False if the directory cannot be read.
 */
export function isOwnDirectory(path: string, owners: readonly number[] = ownIds()): boolean {
  try {
    return owners.length === 0 || owners.includes(lstatSync(path).uid);
  } catch {
    return false; // gone, or not ours to look at
  }
}

/** The ids of the user, and under sudo also of the user who called sudo. Empty where the system has no owners. */
export function ownIds(): number[] {
  const own = process.geteuid?.();
  if (own === undefined) return [];
  const caller = Number(process.env.SUDO_UID);
  return own === 0 && process.env.SUDO_UID && Number.isSafeInteger(caller) ? [own, caller] : [own];
}

function refused(message: string, cause?: unknown): GalleyError {
  return new GalleyError("file_refused", message, { cause });
}

/** Whether the system would start it. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
