// Protects the user's paths in the writable roots for one command, and puts the disk in order after it.

import { lstatSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readGitText } from "../../files/git-directory.js";
import { displayPath } from "../../files/paths/resolve-path.js";
import { cleanNewRepository } from "./new-repository.js";
import { findProtected, type ProtectedPlaces, type ProtectedSearch } from "./protected-places.js";
import type { Stubs } from "./stubs.js";

export interface Protection {
  readonly places: ProtectedPlaces;
  /** After the last process of the command: what it made is taken away. Answers the shown paths. */
  undo(): readonly string[];
}

export const noProtection: Protection = {
  places: { readOnly: [], pinned: [], stubs: [], watched: [], repositories: [], todos: [] },
  undo: () => [],
};

export function protect(search: Omit<ProtectedSearch, "stubsInUse">, stubs: Stubs): Protection {
  const places = findProtected({ ...search, stubsInUse: stubs.inUse() });
  const made = stubs.make(places.stubs);
  const todos = places.todos.map((path) => ({ path, before: programLines(path) }));
  return {
    places,
    undo() {
      const removed = [...takeReplacedStubs(made), ...takeWatched(places)];
      stubs.release(made.keys());
      const [root = "/"] = search.roots;
      const taken = removed.map((path) => displayPath(path, root));
      const cleaned = places.repositories.flatMap((path) =>
        cleanNewRepository(path).map((what) => `${prefixOf(displayPath(path, root))}${what}`),
      );
      const emptied = todos
        .filter(({ path, before }) => takeProgramLines(path, before))
        .map(({ path }) => `exec lines in ${displayPath(path, root)}`);
      return [...taken, ...cleaned, ...emptied].sort();
    },
  };
}

/** A stub with another inode lost its cover: another program removed it, and the command could make its own. */
function takeReplacedStubs(made: ReadonlyMap<string, number>): string[] {
  return [...made].flatMap(([path, inode]) => {
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (entry === undefined || (entry.isDirectory() && entry.ino === inode)) return [];
    rmSync(path, { recursive: true, force: true });
    return [path];
  });
}

function takeWatched({ watched }: ProtectedPlaces): string[] {
  return watched.flatMap(({ path, link }) => {
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (link === undefined ? entry === undefined : entry?.isSymbolicLink() && readlinkSync(path) === link) return [];
    rmSync(path, { recursive: true, force: true });
    if (link !== undefined) symlinkSync(link, path);
    return [path];
  });
}

/** `sub/.git` to `sub/`: what was taken out of a repository begins with its `.git`, or ends with it. */
function prefixOf(shown: string): string {
  return shown.slice(0, -join(".git").length);
}

// The list of what a rebase does next belongs to git, which a confined command may use. The lines in it that start programs
// do not: the user's next `git rebase --continue` would run them outside of the sandbox.

const startsProgram = /^\s*(?:x|exec)\s/;

function programLines(path: string): ReadonlySet<string> {
  return new Set((readGitText(path) ?? "").split("\n").filter((line) => startsProgram.test(line)));
}

/** Takes such lines out but those that were there `before`. Whether there were any. */
function takeProgramLines(path: string, before: ReadonlySet<string>): boolean {
  const directory = dirname(path);
  if (lstatSync(directory, { throwIfNoEntry: false })?.isSymbolicLink()) {
    rmSync(directory); // git would follow it to a list that may be anything
    return true;
  }
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
  const text = readGitText(path);
  const lines = text?.split("\n") ?? [];
  const kept = lines.filter((line) => !startsProgram.test(line) || before.has(line));
  if (text !== undefined && kept.length === lines.length) return false;
  rmSync(path, { recursive: true, force: true });
  if (text !== undefined) writeFileSync(path, kept.join("\n"), { flag: "wx" });
  return true;
}
