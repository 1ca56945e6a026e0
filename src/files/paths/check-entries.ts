// Whether the entries of a plan may be written: links, directories, and what a command did. Such a path is judged without
// following its last name, and nothing above it may be a link. A rule that cannot be evaluated is a no.

import { dirname } from "node:path";
import { systemCode } from "../../base/errors.js";
import { inLanes } from "../../base/in-lanes.js";
import type { Disk } from "../disk/disk.js";
import { cannotWrite, ifAbsent, writeFailure } from "../refusals.js";
import type { PlannedEntry } from "../workspace.js";
import type { ReachTest } from "./protected-paths.js";
import { isWithin } from "./resolve-path.js";

export interface EntryRules {
  readonly disk: Disk;
  /** Canonical. */
  readonly roots: readonly string[];
  /** Where only what is let may be written: git directories of linked worktrees. Canonical. */
  readonly repositories: readonly string[];
  isProtected(path: string): boolean;
  readonly isReached: ReachTest;
}

const lookedAtOnce = 8;

export async function checkEntries(entries: readonly PlannedEntry[], rules: EntryRules): Promise<void> {
  const turned = new Set(entries.filter(({ becomesDirectory }) => becomesDirectory).map(({ path }) => path));
  const above = new Map<string, Promise<boolean>>();
  await inLanes(entries, lookedAtOnce, async (entry) => {
    const { path, displayPath } = entry;
    try {
      const roots = entry.isLet ? [...rules.roots, ...rules.repositories] : rules.roots;
      if (!roots.some((root) => path !== root && isWithin(path, root)))
        throw cannotWrite(displayPath, "it lies outside of what may be written");
      const directory = dirname(path);
      const isPlain = above.get(directory) ?? leadsNowhereElse(rules.disk, directory, turned);
      above.set(directory, isPlain);
      if (!(await isPlain)) throw cannotWrite(displayPath, "it now resolves to a different path");
      if (!entry.isLet) await refuseProtected(entry, rules);
    } catch (error) {
      throw writeFailure(displayPath, error);
    }
  });
}

/** The directory, as far as it exists: no link is on the way to it, but one that the plan replaces by a directory. */
async function leadsNowhereElse(disk: Disk, directory: string, turned: ReadonlySet<string>): Promise<boolean> {
  let start = directory;
  // What is below such a link now is not what will be there.
  for (let at = directory; at !== dirname(at); at = dirname(at)) if (turned.has(at)) start = dirname(at);
  for (let at = start; ; at = dirname(at)) {
    const stat = await disk.lstat(at).catch(ifOutOfReach);
    if (stat) return stat.kind === "directory" && (await disk.realpath(at)) === at;
    if (at === dirname(at)) return false;
  }
}

/** A link that leads to itself is found further up. */
function ifOutOfReach(error: unknown): undefined {
  return systemCode(error) === "ELOOP" ? undefined : ifAbsent(error);
}

async function refuseProtected({ path, displayPath }: PlannedEntry, { disk, isProtected, isReached }: EntryRules) {
  const stat = await disk.lstat(path).catch(ifOutOfReach);
  if (isProtected(path) || (await isReached({ path, stat })))
    throw cannotWrite(displayPath, "it is protected and only the user may change it. Ask the user to do so");
}
