// The branch that is checked out around a project, read from its files: git is not started.

import { readGitDirectory } from "../../files/git-directory.js";

/** Undefined outside of a repository. `root`: the root of the project. */
export function branchIn(root: string): string | undefined {
  return readGitDirectory(root)?.head;
}
