// Whether git would run or read a path at the user's next call: what the configuration of a repository names, and what lies
// in a directory that git takes for a repository. One answer for commands and for file tools.

import { namedByGit } from "./git-programs.js";
import { embeddedTest } from "./git-repositories.js";
import { isWithin } from "./resolve-path.js";

export interface GitTestOptions {
  /** Working trees, canonical. */
  readonly trees: readonly string[];
  /** Paths that will be there too. */
  readonly made: Iterable<string>;
  readonly cwd: string;
  readonly home: string;
}

export function gitTest({ trees, made, cwd, home }: GitTestOptions): (path: string) => boolean {
  const named = namedByGit(trees, home);
  const isEmbedded = embeddedTest(made, cwd);
  return (path) => isEmbedded(path) || named.some((one) => isWithin(path, one));
}
