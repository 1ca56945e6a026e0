// For a path that is not there: what is there under nearly the same name.

import { posix } from "node:path";
import { editDistance } from "../../base/edit-distance.js";
import { printable } from "../../files/paths/resolve-path.js";
import type { Workspace } from "../../files/workspace.js";

const maxNames = 3;
const maxCompared = 500;

/** Up to three neighbours, nearest first, as paths to try. */
export async function closeNames(workspace: Workspace, path: string): Promise<string[]> {
  const directory = posix.dirname(path);
  const wanted = posix.basename(path).toLowerCase();
  let entries: readonly { name: string }[];
  try {
    const parent = await workspace.resolve(directory, "read");
    ({ entries } = await workspace.list(parent, { limit: maxCompared }));
  } catch {
    return []; // no such directory, or none we may list: there is nothing to suggest
  }
  const allowed = Math.max(1, Math.floor(wanted.length / 3));
  return entries
    .filter(({ name }) => Math.abs(name.length - wanted.length) <= allowed)
    .map(({ name }) => ({ name, distance: editDistance(name.toLowerCase(), wanted) }))
    .filter((candidate) => candidate.distance <= allowed)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, maxNames)
    .map(({ name }) => printable(directory === "." ? name : posix.join(directory, name)));
}
