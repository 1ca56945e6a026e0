// Makes a directory and its missing parents, level by level: Node's `recursive` retries for ever on a file system that
// answers ENOENT for every new name, as /proc does.

import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { systemCode } from "../../base/errors.js";

/** Returns the first directory that had to be made. `mode` is for new ones; throws the system's error. */
export function makeDirectories(path: string, mode?: number): string | undefined {
  if (isDirectory(path)) return undefined;
  const parent = dirname(path);
  // An existing path is not made. If it is not a directory, making the next level fails with ENOTDIR.
  const first = statSync(parent, { throwIfNoEntry: false }) !== undefined ? undefined : makeDirectories(parent, mode);
  try {
    mkdirSync(path, mode);
  } catch (error) {
    if (systemCode(error) !== "EEXIST" || !isDirectory(path)) throw error;
    return first; // another process made it first, so it is not ours to remove
  }
  return first ?? path;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
