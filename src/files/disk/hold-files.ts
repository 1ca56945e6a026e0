// Several files held at once, for work that writes all of them.

import { foldPath } from "../paths/resolve-path.js";
import type { Workspace, WriteTarget } from "../workspace.js";

type Held = Pick<WriteTarget, "path" | "identity">;

/**
 * `exclusively` for many files. All are asked for in the same turn, so that every other caller comes either before or
 * after this one, for all files.
 */
export async function holdFiles<T>(
  workspace: Pick<Workspace, "exclusively">,
  files: readonly Held[],
  work: () => Promise<T>,
): Promise<T> {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const turns = distinct(files).map(
    (file) =>
      new Promise<void>((resolve, reject) => {
        const take = () => {
          resolve();
          return held;
        };
        workspace.exclusively(file, take).catch(reject);
      }),
  );
  try {
    await Promise.all(turns);
    return await work();
  } finally {
    release();
  }
}

/** One lock for all names of one file: asking for it twice would be a deadlock. */
function distinct(files: readonly Held[]): Held[] {
  const taken = new Set<string>();
  return files.filter(({ path, identity = path }) => {
    const isFirst = !taken.has(foldPath(path)) && !taken.has(identity);
    taken.add(foldPath(path)).add(identity);
    return isFirst;
  });
}
