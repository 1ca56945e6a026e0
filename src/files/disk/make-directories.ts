// Makes a directory and what is missing above it. Level by level: Node's `recursive` tries for ever where a file system
// says of every new name that there is no such place, as /proc does.

import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { systemCode } from "../../base/errors.js";

/** Answers the first one that had to be made. `mode` is for new ones; throws what the system says. */
export function makeDirectories(path: string, mode?: number): string | undefined {
  if (isDirectory(path)) return undefined;
  const parent = dirname(path);
  // What is there is not made. If it is no directory, making the next level says so: ENOTDIR.
  const first = isThere(parent) ? undefined : makeDirectories(parent, mode);
  try {
    mkdirSync(path, mode);
  } catch (error) {
    if (systemCode(error) !== "EEXIST" || !isDirectory(path)) throw error;
    return first; // somebody else was quicker, and it is theirs
  }
  return first ?? path;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
