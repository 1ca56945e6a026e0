// The directories that a confined command may write: the project's root, then the user's `workspace.roots` as far as they
// exist, as canonical paths.

import { realpath, stat } from "node:fs/promises";
import { spellings } from "./resolve-path.js";

export async function writableRoots({
  projectRoot,
  roots,
  cwd,
  home,
}: {
  readonly projectRoot: string;
  readonly roots: readonly string[];
  readonly cwd: string;
  readonly home: string;
}): Promise<string[]> {
  const more = roots.map((root) => spellings(root, { cwd, home })[0] ?? root);
  const found = await Promise.all([projectRoot, ...more].map(canonicalDirectory));
  return [...new Set(found.filter((path) => path !== undefined))];
}

async function canonicalDirectory(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory() ? real : undefined;
  } catch {
    return undefined; // not there: nothing to write
  }
}
