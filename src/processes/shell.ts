// Which shell runs a command line, and how its limits are set: Node cannot set any, so a small first shell does it and
// then execs the real one. The command line is passed as an argument and never pasted into another one.

import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { basename, delimiter, isAbsolute, join } from "node:path";
import { GalleyError } from "../base/errors.js";
import { isWithin } from "../files/paths/resolve-path.js";
import { threadCount } from "./process-table.js";

/** Processes on top of those that run now. */
const moreProcesses = 512;
const openFiles = 4096;

/** Searched first: PATH may begin with a folder of the project. */
const standardPlaces = ["/bin", "/usr/bin"].join(delimiter);

export interface ProgramSearch {
  readonly path: string | undefined;
  /** Nothing below it is ever picked. */
  readonly projectRoot: string | undefined;
}

export interface CommandLine {
  readonly file: string;
  readonly args: readonly string[];
  /** Standard error goes to the same pipe as standard output. */
  readonly mergesOutput: boolean;
}

/** bash where there is one, else sh. */
export function findShell(search: ProgramSearch): string {
  const found = findSystemProgram("bash", search) ?? findSystemProgram("sh", search);
  if (found === undefined) throw new GalleyError("not_found", "No shell found: neither bash nor sh is installed.");
  return found;
}

export function findSystemProgram(name: string, search: ProgramSearch): string | undefined {
  return findProgram(name, { path: standardPlaces, projectRoot: undefined }) ?? findProgram(name, search);
}

/** A plain name, searched in absolute directories: a relative one would mean another program in every directory. */
export function findProgram(name: string, { path = "", projectRoot }: ProgramSearch): string | undefined {
  if (name.includes("/")) return undefined;
  const candidates = path.split(delimiter).filter(isAbsolute);
  return candidates
    .map((place) => join(place, name))
    .find((file) => isExecutable(file) && !isInside(file, projectRoot));
}

/**
 * `$0` and exit codes are those of `bash -c <line>`. A limit that the system refuses is already stricter, and stays.
 * `-u` is bash's letter for the number of processes, `-p` that of the small shells.
 *
 * The system counts the user's threads on the whole machine, also those that a container hides from us. So the limit is
 * based on the threads of all users: never too strict, and a fork bomb still ends.
 */
export function limitedShell(shell: string, line: string, mergesOutput: boolean): CommandLine {
  const threads = threadCount();
  const limits = [
    "ulimit -c 0",
    `ulimit -n ${openFiles}`,
    ...(threads === undefined ? [] : [`ulimit -u ${threads + moreProcesses} || ulimit -p ${threads + moreProcesses}`]),
  ];
  const script = `{ ${limits.join("; ")}; } 2>/dev/null; exec "$0" -c "$1" "$2"${mergesOutput ? " 2>&1" : ""}`;
  return { file: "/bin/sh", args: ["-c", script, shell, line, basename(shell)], mergesOutput };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function isInside(file: string, root: string | undefined): boolean {
  if (root === undefined) return false;
  try {
    return isWithin(file, root) || isWithin(realpathSync(file), realpathSync(root));
  } catch {
    return true; // cannot be checked, so it is not used
  }
}
