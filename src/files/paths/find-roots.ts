// Finds directories: the project around a working directory, and configuration directories. Reads names only; opens and
// runs nothing, not even `git`.

import { lstatSync, opendirSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemCode } from "../../base/errors.js";
import { ownIds } from "../module-files.js";
import { isWithin } from "./resolve-path.js";

export interface FindProjectOptions {
  readonly cwd: string;
  readonly home: string;
  /** User ids whose repositories count; default: the user, and under sudo also the user who called sudo. */
  readonly owners?: readonly number[] | undefined;
}

export interface Project {
  /** The directory with `.git`, if the working directory is in a repository of the user. */
  readonly repositoryRoot?: string;
  /**
   * The root of the project, and what a session may write: the repository around its working directory, else the
   * nearest directory with `.galley`, else just that directory.
   */
  readonly writableRoot: string;
  /** Where project configuration may lie, nearest first: the working directory and what is above it in the project. */
  readonly directories: readonly string[];
}

/**
 * The search upwards ends at the repository root and in any case below the home directory, whose configuration is the
 * user's: `~/.galley` marks no project. Outside home and without a repository or `.galley` only the working directory
 * counts. A directory of another user is never used, nor anything above it.
 */
export function findProject(options: FindProjectOptions): Project {
  const cwd = canonical(options.cwd);
  const home = canonical(options.home);
  if (isWithin(home, cwd)) return { writableRoot: cwd, directories: [] };
  const owners = options.owners ?? ownIds();
  const isOwn = (...paths: string[]) => paths.every((path) => isOurs(ownerOf(path), owners));
  const directories: string[] = [];
  let marked: string | undefined;
  for (let directory = cwd; !isWithin(home, directory); directory = dirname(directory)) {
    directories.push(directory);
    const git = join(directory, ".git");
    if (ownerOf(git) !== undefined) {
      if (isOwn(git, directory)) return { repositoryRoot: directory, writableRoot: directory, directories };
      return withoutRepository({ cwd, marked, directories: [] });
    }
    const mark = join(directory, ".galley");
    if (marked === undefined && isDirectory(mark) && isOwn(mark, directory)) marked = directory;
    if (directory === dirname(directory)) break;
  }
  return withoutRepository({ cwd, marked, directories: isWithin(cwd, home) ? directories : [] });
}

/** `directories`: where configuration may lie besides the project itself. */
function withoutRepository(found: { cwd: string; marked: string | undefined; directories: string[] }): Project {
  const { cwd, marked: root = cwd } = found;
  const inside: string[] = [];
  for (let directory = cwd; isWithin(directory, root); directory = dirname(directory)) {
    inside.push(directory);
    if (directory === dirname(directory)) break;
  }
  return { writableRoot: root, directories: found.directories.length > 0 ? found.directories : inside };
}

/** What is at a path where a directory is expected: its canonical path, nothing, or what is wrong with it. */
export function directoryAt(path: string): { realPath: string } | { problem: string } | undefined {
  try {
    const status = statSync(path, quietly);
    if (status && !status.isDirectory()) return { problem: "is not a directory" };
    return status && { realPath: realpathSync.native(path) };
  } catch (error) {
    const code = systemCode(error);
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : { problem: `cannot be read (${code})` };
  }
}

/** Everything in a directory, in no order; nothing where it cannot be read. */
export function allNamesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** False only if the path surely does not exist; a path that cannot be checked may exist. */
export function mayExist(path: string): boolean {
  try {
    return lstatSync(path, quietly) !== undefined;
  } catch (error) {
    return systemCode(error) !== "ENOTDIR"; // opening it reports why it cannot be read
  }
}

/** A start looks for some thirty files that mostly do not exist, and an error with its stack costs more than the call. */
const quietly = { throwIfNoEntry: false } as const;

export interface FoundName {
  readonly name: string;
  readonly isDirectory: boolean;
}

const maxNames = 10_000;

/** Sorted, without dot files; links count as what they lead to. Nothing for a directory that cannot be read. */
export function namesIn(directory: string): FoundName[] {
  const found: FoundName[] = [];
  if (!mayExist(directory)) return found;
  try {
    const entries = opendirSync(directory);
    try {
      for (let entry = entries.readSync(); entry && found.length < maxNames; entry = entries.readSync()) {
        if (entry.name.startsWith(".")) continue;
        const isDirectory = entry.isSymbolicLink()
          ? leadsToDirectory(join(directory, entry.name))
          : entry.isDirectory();
        found.push({ name: entry.name, isDirectory });
      }
    } finally {
      entries.closeSync();
    }
  } catch {
    return []; // not there or not ours to read: nothing is found in it
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function leadsToDirectory(link: string): boolean {
  try {
    return statSync(link).isDirectory();
  } catch {
    return false; // leads nowhere, or round in a circle
  }
}

/** What does not exist, or leads nowhere, stays as it is. */
export function canonical(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

function ownerOf(path: string): number | undefined {
  try {
    return lstatSync(path, quietly)?.uid;
  } catch {
    return undefined; // a directory we may not look into has no repository for us
  }
}

function isDirectory(path: string): boolean {
  const found = directoryAt(path);
  return found !== undefined && "realPath" in found;
}

/** Windows knows no such ids: there every directory counts as our own. */
function isOurs(uid: number | undefined, owners: readonly number[]): boolean {
  return uid !== undefined && (owners.length === 0 || owners.includes(uid));
}
