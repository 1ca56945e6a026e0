// Which directories git takes for a repository besides `.git`: any that looks like one inside. Its configuration and its
// hooks run programs for a user who enters it.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isWithin } from "./resolve-path.js";

/** As git itself tells it. `has`: whether there is something at a path. */
export function isRepository(directory: string, has: (path: string) => boolean = existsSync): boolean {
  const holds = (name: string) => has(join(directory, name));
  return holds("HEAD") && (holds("commondir") || (holds("objects") && holds("refs")));
}

/**
 * Whether a path will be in such a repository in the project, once the `made` paths are there too. What is there now counts
 * as well, also if it is about to go. The project itself may lie in one, as a working tree beside others.
 */
export function embeddedTest(made: Iterable<string>, cwd: string): (path: string) => boolean {
  const there = new Set<string>();
  for (const path of made) for (let at = path; !there.has(at); at = dirname(at)) there.add(at);
  const known = new Map<string, boolean>();
  const isKnown = (directory: string): boolean => {
    const before = known.get(directory);
    if (before !== undefined) return before;
    if (isWithin(cwd, directory)) return false;
    const has = (path: string) => there.has(path) || existsSync(path);
    const found = isRepository(directory, has) || isKnown(dirname(directory));
    known.set(directory, found);
    return found;
  };
  return (path) => !path.split("/").includes(".git") && (isKnown(path) || isKnown(dirname(path)));
}

/** The working trees in the project, below the working directory, in which one of these paths lies. */
export function treesAround(paths: Iterable<{ readonly path: string }>, cwd: string): string[] {
  const found = new Set<string>();
  for (const { path } of paths)
    for (let at = dirname(path); at !== cwd && isWithin(at, cwd) && !found.has(at); at = dirname(at)) found.add(at);
  return [...found].filter((directory) => existsSync(join(directory, ".git")));
}
