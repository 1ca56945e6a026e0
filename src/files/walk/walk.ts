// Finding files below a directory: sorted by path, without what `.gitignore` names, without following links, and never
// holding more than the listings on the way from the root to the present place.

import { dirname, join, relative, sep } from "node:path";
import { throwIfAborted } from "../../base/abort.js";
import { type BulkDisk, type DiskEntry, maxListed } from "../disk/disk.js";
import { isTempName } from "../disk/temp-names.js";
import { isWithin, shownBelow } from "../paths/resolve-path.js";
import type { Target, WalkOptions } from "../workspace.js";
import { type IgnoreRules, isIgnored, readIgnoreRules } from "./ignore-rules.js";

export const skippedNames = [".git", "node_modules"];
/** Files that are looked at together: a wait for each would take as long as the look. */
const maxTogether = 256;

export interface FoundFile {
  path: string;
  /** Below the root, with `/`. */
  relativePath: string;
  identity: string;
}

interface Place {
  path: string;
  relativePath: string;
  /** As if a directory's name ended in `/`: then the order of siblings is the order of whole paths. */
  sortKey: string;
  isDirectory: boolean;
  rules: readonly IgnoreRules[];
}

/** Some at a time, in order. */
export async function* walkFiles(
  disk: BulkDisk,
  { root, cwd, ...options }: WalkOptions & { root: Target; cwd: string },
): AsyncGenerator<FoundFile[]> {
  // Whoever names a directory that is usually skipped wants to see inside, and also inside its like.
  const named = root.path.split(sep);
  const mentioned = [...(options.mentioned ?? []), ...skippedNames.filter((name) => named.includes(name))];
  const rules = await rulesAbove(disk, root.path, cwd);
  const pending: Place[] = [{ path: root.path, relativePath: "", sortKey: "/", isDirectory: true, rules }];
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    throwIfAborted(options.signal);
    if (place.isDirectory) {
      for (const child of (await childrenOf(place)).reverse()) pending.push(child);
    } else {
      const files = [place];
      while (files.length < maxTogether && pending.at(-1)?.isDirectory === false) files.push(pending.pop() as Place);
      const stats = await disk.lstatAll(files.map(({ path }) => path));
      yield files.flatMap(({ path, relativePath }, index) => {
        const stat = stats[index];
        return stat?.kind === "file" ? [{ path, relativePath, identity: stat.identity }] : [];
      });
    }
  }

  async function childrenOf(place: Place): Promise<Place[]> {
    const entries = await disk.list(place.path, maxListed).catch((error: unknown) => {
      if (place.relativePath === "") throw error;
      options.onUnreadable?.(shownBelow(root.displayPath, place.relativePath));
      return [];
    });
    const own = entries.some(({ name }) => name === ".gitignore") ? await readIgnoreRules(disk, place.path) : undefined;
    const rules = own ? [...place.rules, own] : place.rules;
    return entries
      .map((entry) => childOf(place, { entry, rules }))
      .filter((child) => child !== undefined)
      .sort((a, b) => (a.sortKey < b.sortKey ? -1 : 1));
  }

  function childOf(
    place: Place,
    { entry, rules }: { entry: DiskEntry; rules: readonly IgnoreRules[] },
  ): Place | undefined {
    const isDirectory = entry.kind === "directory";
    if (!isDirectory && entry.kind !== "file") return undefined;
    const relativePath = place.relativePath === "" ? entry.name : `${place.relativePath}/${entry.name}`;
    const path = place.path.endsWith(sep) ? place.path + entry.name : `${place.path}${sep}${entry.name}`;
    const sortKey = isDirectory ? `${entry.name}/` : entry.name;
    // Rules that would have hidden a mentioned directory must not hide what is in it either.
    if (isDirectory && mentioned.includes(entry.name)) return { path, relativePath, sortKey, isDirectory, rules: [] };
    if (isDirectory && skippedNames.includes(entry.name)) return undefined;
    if (!isDirectory && isTempName(entry.name)) return undefined;
    if (!isDirectory && options.include && !options.include(relativePath)) return undefined;
    if (isIgnored(path, isDirectory, rules)) return undefined;
    return { path, relativePath, sortKey, isDirectory, rules };
  }
}

/** The rules between the repository's root (without one: `cwd`) and the walked directory. */
export async function rulesAbove(disk: BulkDisk, root: string, cwd: string): Promise<readonly IgnoreRules[]> {
  const top = (await repositoryRoot(disk, root)) ?? (isWithin(root, cwd) ? cwd : root);
  const rules: IgnoreRules[] = [];
  const steps = relative(top, root).split(sep).slice(0, -1);
  if (top !== root)
    for (let count = 0; count <= steps.length; count++) {
      const own = await readIgnoreRules(disk, join(top, ...steps.slice(0, count)));
      if (own) rules.push(own);
    }
  // An ignored directory that is walked all the same was asked for by name.
  return isIgnored(root, true, rules) ? [] : rules;
}

async function repositoryRoot(disk: BulkDisk, from: string): Promise<string | undefined> {
  for (let directory = from; ; directory = dirname(directory)) {
    const marker = await disk.lstat(join(directory, ".git")).catch(() => undefined);
    if (marker) return directory;
    if (directory === dirname(directory)) return undefined;
  }
}
