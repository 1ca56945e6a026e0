// What only the user may change (the paths of protected-paths.ts), looked up in the writable roots before a command: what
// exists is made read-only, what does not is covered or watched. In `.git` only what decides which programs run is
// protected, so that git can work.

import { lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { namedByGit } from "../../files/paths/git-programs.js";
import { isRepository } from "../../files/paths/git-repositories.js";
import { homeDirectories, homeFiles, projectDirectories, projectFiles } from "../../files/paths/protected-paths.js";
import { isWithin } from "../../files/paths/resolve-path.js";

export interface ProtectedPlaces {
  readonly readOnly: readonly string[];
  /** Parents of what is read-only, which must not be renamed. */
  readonly pinned: readonly string[];
  /** Directories that do not exist. They are made, covered, and removed afterwards. */
  readonly stubs: readonly string[];
  /** Paths that do not exist, or are links: what is there afterwards, and was not before, is taken away. */
  readonly watched: readonly WatchedPath[];
  /** `.git` paths that do not exist. What a command makes there is cleaned. */
  readonly repositories: readonly string[];
  /** What a rebase that is under way does next, whether it is there or not. */
  readonly todos: readonly string[];
}

export interface WatchedPath {
  readonly path: string;
  /** The target of the link that is there now; a link cannot be mounted on. */
  readonly link?: string;
}

export interface ProtectedSearch {
  /** Writable, canonical. */
  readonly roots: readonly string[];
  /** Also writable, for a linked worktree. */
  readonly gitDirectories: readonly string[];
  readonly cwd: string;
  readonly home: string;
  /** Stubs of commands that run now: directories that do not exist, really. */
  readonly stubsInUse: ReadonlySet<string>;
}

/** Covered where they are missing. A cover of a missing file would be an untracked file for git, so files are not. */
const coveredDirectories = [".galley", ".vscode", ".idea"];

const todo = "rebase-merge/git-rebase-todo";

export function findProtected({ roots, gitDirectories, cwd, home, stubsInUse }: ProtectedSearch): ProtectedPlaces {
  const search = new Search(roots, stubsInUse);
  for (const root of roots) {
    search.project(root, { covers: true });
    const inner: string[] = [];
    // Configuration may lie in every directory from the root to the working directory.
    if (isWithin(cwd, root))
      for (let directory = cwd; directory !== root; directory = dirname(directory)) inner.push(directory);
    for (const directory of inner) search.project(directory, { covers: false });
    for (const path of namedByGit([root, ...inner], home)) search.named(path, root);
    if (isWithin(home, root)) search.home(home);
  }
  for (const directory of gitDirectories) search.git(directory);
  return search.found();
}

class Search {
  readonly #roots: readonly string[];
  readonly #stubsInUse: ReadonlySet<string>;
  readonly #readOnly = new Set<string>();
  readonly #pinned = new Set<string>();
  readonly #stubs = new Set<string>();
  readonly #watched = new Map<string, WatchedPath>();
  readonly #repositories = new Set<string>();
  readonly #todos = new Set<string>();

  constructor(roots: readonly string[], stubsInUse: ReadonlySet<string>) {
    this.#roots = roots;
    this.#stubsInUse = stubsInUse;
  }

  found(): ProtectedPlaces {
    return {
      readOnly: [...this.#readOnly],
      pinned: [...this.#pinned].filter((path) => !this.#readOnly.has(path)),
      stubs: [...this.#stubs],
      watched: [...this.#watched.values()],
      repositories: [...this.#repositories],
      todos: [...this.#todos],
    };
  }

  project(directory: string, { covers }: { readonly covers: boolean }): void {
    if (isRepository(directory)) this.git(directory);
    for (const name of [...projectDirectories, ...projectFiles]) {
      const path = join(directory, name);
      if (name === ".git") this.#gitMarker(path);
      else this.#protect(path, covers && coveredDirectories.includes(name));
    }
  }

  /** By the configuration of a repository. */
  named(path: string, root: string): void {
    this.#protect(path, false);
    this.#pinParents(path, root);
  }

  /** Only where the home itself is writable, because the user said so. */
  home(home: string): void {
    for (const name of [...homeDirectories, ...homeFiles, ".galley"]) {
      const path = join(home, name);
      this.#protect(path, false);
      this.#pinParents(path, home);
    }
  }

  #pinParents(path: string, top: string): void {
    for (let parent = dirname(path); isWithin(parent, top) && parent !== top; parent = dirname(parent))
      if (typeOf(parent) === "directory") this.#pinned.add(parent);
  }

  git(directory: string): void {
    this.#pinned.add(directory);
    this.#todos.add(join(directory, todo));
    for (const name of ["hooks", "info", "modules"]) this.#protect(join(directory, name), true);
    for (const name of ["config", "config.worktree", "commondir"]) this.#protect(join(directory, name), false);
    const worktrees = join(directory, "worktrees");
    if (typeOf(worktrees) !== "directory") return;
    this.#pinned.add(worktrees);
    for (const name of readdirSync(worktrees)) {
      const worktree = join(worktrees, name);
      if (typeOf(worktree) !== "directory") continue;
      this.#pinned.add(worktree);
      this.#todos.add(join(worktree, todo));
      for (const pointer of ["gitdir", "commondir", "config.worktree"]) this.#protect(join(worktree, pointer), false);
    }
  }

  #gitMarker(path: string): void {
    const type = typeOf(path);
    if (type === "directory") this.git(path);
    else if (type === undefined) this.#repositories.add(path);
    else this.#protect(path, false);
    if (type === "link") {
      const target = targetIn(path, this.#roots);
      if (target !== undefined && typeOf(target) === "directory") this.git(target);
    }
  }

  #protect(path: string, covers: boolean): void {
    const type = this.#stubsInUse.has(path) ? undefined : typeOf(path);
    if (type === undefined) {
      if (covers) this.#stubs.add(path);
      else this.#watched.set(path, { path });
    } else if (type === "link") {
      this.#watched.set(path, { path, link: readlinkSync(path) });
      const target = targetIn(path, this.#roots);
      if (target !== undefined && !path.endsWith("/.git")) this.#readOnly.add(target);
    } else this.#readOnly.add(path);
  }
}

function typeOf(path: string): "directory" | "link" | "other" | undefined {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return undefined;
  return entry.isDirectory() ? "directory" : entry.isSymbolicLink() ? "link" : "other";
}

/** Outside of the roots it is read-only anyway. */
function targetIn(path: string, roots: readonly string[]): string | undefined {
  try {
    const target = realpathSync.native(path);
    return roots.some((root) => target !== root && isWithin(target, root)) ? target : undefined;
  } catch {
    return undefined; // it leads nowhere
  }
}
