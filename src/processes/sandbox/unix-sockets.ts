// The UNIX sockets that a confined command could still see: a read-only mount does not stop a program from connecting,
// so each of them is covered.

import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Paths only: abstract sockets belong to a network namespace. */
export function socketPaths(table: string): string[] {
  const paths: string[] = [];
  for (const line of table.split("\n")) {
    const [, path] = /^[0-9a-f]+: (?:\S+ ){5} *\d+ (.+)$/i.exec(line) ?? [];
    if (path !== undefined && !path.startsWith("@")) paths.push(path);
  }
  return paths;
}

/**
 * Canonical, without those that `isVisible` refuses. A relative path says nothing of the directory that it was bound in:
 * it is looked for in `directories`.
 */
export function findSockets(isVisible: (path: string) => boolean, directories: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of socketPaths(readTable())) {
    const candidates = path.startsWith("/") ? [path] : directories.map((directory) => resolve(directory, path));
    for (const candidate of candidates)
      if (isVisible(candidate) && isSocket(candidate)) found.add(canonical(candidate));
  }
  return [...found].filter(isVisible);
}

function readTable(): string {
  try {
    return readFileSync("/proc/net/unix", "utf8");
  } catch {
    return ""; // without a process table there is no mechanism either
  }
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
  } catch {
    return false; // what galley cannot reach, the command cannot either
  }
}

function canonical(path: string): string {
  return join(realpathSync.native(dirname(path)), path.slice(path.lastIndexOf("/") + 1));
}
