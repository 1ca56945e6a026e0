// Rule files on disk: `rules/*.md` and `rules/*.mdc` below a configuration directory. Some of those directories belong
// to projects, so links are not followed, only regular files are opened, and everything is bounded. Synchronous: most
// directories have no rules, and one failed call is all that costs.

import { closeSync, constants, fstatSync, lstatSync, opendirSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { GalleyError, messageOf, systemCode } from "../base/errors.js";
import type { Log } from "../base/log.js";
import { printable } from "./resolve-path.js";

export const maxRuleFiles = 64;
export const maxRuleBytes = 64 * 1024;
const maxEntries = 4096;

/** In order of their names. What cannot be used is left out with a warning; nothing is thrown. */
export function readRuleFiles(directory: string, log: Log): { path: string; text: string }[] {
  const folder = join(directory, "rules");
  const warn = (path: string, problem: string) => log.warn(`${printable(path)} ${problem}; it is not used.`);
  const files: { path: string; text: string }[] = [];
  try {
    const names = listNames(folder);
    if (names.length > maxRuleFiles)
      log.warn(`${printable(folder)} has more than ${maxRuleFiles} rules; the others are not used.`);
    for (const name of names.slice(0, maxRuleFiles)) {
      const path = join(folder, name);
      try {
        files.push({ path, text: readRule(path) });
      } catch (error) {
        warn(path, messageOf(error));
      }
    }
  } catch (error) {
    if (!isMissing(error)) warn(folder, messageOf(error));
  }
  return files;
}

function listNames(folder: string): string[] {
  if (!lstatSync(folder).isDirectory()) throw refused("is not a directory");
  const names: string[] = [];
  const entries = opendirSync(folder);
  try {
    for (let seen = 0; seen < maxEntries; seen++) {
      const entry = entries.readSync();
      if (!entry) break;
      if (/\.mdc?$/.test(entry.name)) names.push(entry.name);
    }
  } finally {
    entries.closeSync();
  }
  return names.sort();
}

function readRule(path: string): string {
  const descriptor = openRule(path);
  try {
    if (!fstatSync(descriptor).isFile()) throw refused("is not a regular file");
    return decode(readBounded(descriptor));
  } finally {
    closeSync(descriptor);
  }
}

function openRule(path: string): number {
  try {
    // Without O_NONBLOCK, opening a FIFO waits for a writer. Windows has neither of the last two.
    return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    const code = systemCode(error);
    throw refused(code === "ELOOP" ? "is a link" : `cannot be opened (${code})`);
  }
}

/** Reads to the end rather than to the size seen before: the file may be growing. */
function readBounded(descriptor: number): Buffer {
  const buffer = Buffer.allocUnsafe(maxRuleBytes + 1);
  let length = 0;
  for (;;) {
    const count = readSync(descriptor, buffer, length, buffer.length - length, null);
    length += count;
    if (length > maxRuleBytes) throw refused(`is larger than ${maxRuleBytes} bytes`);
    if (count === 0) return buffer.subarray(0, length);
  }
}

function decode(bytes: Buffer): string {
  if (bytes.includes(0)) throw refused("is not text");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refused("is not UTF-8 text"); // the decoder's own words say no more
  }
}

function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "");
}

function refused(message: string): GalleyError {
  return new GalleyError("file_refused", message);
}
