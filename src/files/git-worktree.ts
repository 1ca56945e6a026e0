// The common git directory of a linked worktree: the one place outside of the project where git must write. The `.git`
// file of the project names it, and a project must not choose a writable place: so that place must name the project too.

import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { readGitText } from "./git-directory.js";
import { isWithin } from "./paths/resolve-path.js";

/**
 * What git must write outside of these roots, because some of them are linked worktrees. Looked up at this moment. All
 * paths are canonical.
 */
export function worktreeRepositories(roots: readonly string[]): string[] {
  const found = roots.map(commonGitDirectory).filter((path) => path !== undefined);
  return [...new Set(found)].filter((path) => !roots.some((root) => isWithin(path, root)));
}

/**
 * Those of them that a staged command may write: what is protected in a git directory is known by the name `.git` in its
 * path, and a bare repository has none.
 */
export function stagedRepositories(roots: readonly string[]): string[] {
  return worktreeRepositories(roots).filter((path) => basename(path) === ".git");
}

/** Canonical; undefined where `root` is no linked worktree, or where the two do not point at each other. */
export function commonGitDirectory(root: string): string | undefined {
  try {
    const marker = realpathSync.native(join(root, ".git"));
    const own = /^gitdir: (.+?)\n*$/.exec(readGitText(join(root, ".git")) ?? "")?.[1];
    if (own === undefined) return undefined;
    const gitDirectory = realpathSync.native(resolve(root, own));
    const common = dirname(dirname(gitDirectory));
    if (join(common, "worktrees") !== dirname(gitDirectory)) return undefined;
    const back = /^(.+?)\n*$/.exec(readGitText(join(gitDirectory, "gitdir")) ?? "")?.[1];
    return back !== undefined && realpathSync.native(resolve(gitDirectory, back)) === marker ? common : undefined;
  } catch {
    return undefined; // one of them leads nowhere
  }
}
