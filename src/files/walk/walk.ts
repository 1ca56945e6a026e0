// Finding files below a directory: sorted by path, without what `.gitignore` names, without following links, and never
// holding more than the listings between the root and the current directory.

import { dirname, join, relative, sep } from "node:path";
import { throwIfAborted } from "../../base/abort.js";
import { type BulkDisk, type DiskEntry, maxListed } from "../disk/disk.js";
import { isTempName } from "../disk/temp-names.js";
import { isWithin, shownBelow } from "../paths/resolve-path.js";
import type { Target, WalkOptions } from "../workspace.js";
import { type IgnoreRules, isIgnored, readIgnoreRules } from "./ignore-rules.js";

export const skippedNames = [".git", "node_modules"];
/** Files whose status is read together: waiting for each would take as long as the call. */
const maxTogether = 256;

export interface FoundFile {
  path: string;
  /** Below the root, with `/`. */
  relativePath: string;
  identity: string;
}

interface WalkEntry {
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
  // A caller that names a directory which is usually skipped wants to see into it, and into others of that name.
  const named = root.path.split(sep);
  const mentioned = [...(options.mentioned ?? []), ...skippedNames.filter((name) => named.includes(name))];
  const rules = await rulesAbove(disk, root.path, cwd);
  const pending: WalkEntry[] = [{ path: root.path, relativePath: "", sortKey: "/", isDirectory: true, rules }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    throwIfAborted(options.signal);
    if (next.isDirectory) {
      for (const child of (await childrenOf(next)).reverse()) pending.push(child);
    } else {
      const files = [next];
      while (files.length < maxTogether && pending.at(-1)?.isDirectory === false)
        files.push(pending.pop() as WalkEntry);
      const stats = await disk.lstatAll(files.map(({ path }) => path));
      yield files.flatMap(({ path, relativePath }, index) => {
        const stat = stats[index];
        return stat?.kind === "file" ? [{ path, relativePath, identity: stat.identity }] : [];
      });
    }
  }

  async function childrenOf(parent: WalkEntry): Promise<WalkEntry[]> {
    const entries = await disk.list(parent.path, maxListed).catch((error: unknown) => {
      if (parent.relativePath === "") throw error;
      options.onUnreadable?.(shownBelow(root.displayPath, parent.relativePath));
      return [];
    });
    const own = entries.some(({ name }) => name === ".gitignore")
      ? await readIgnoreRules(disk, parent.path)
      : undefined;
    const rules = own ? [...parent.rules, own] : parent.rules;
    return entries
      .map((entry) => childOf(parent, { entry, rules }))
      .filter((child) => child !== undefined)
      .sort((a, b) => (a.sortKey < b.sortKey ? -1 : 1));
  }

  function childOf(
    parent: WalkEntry,
    { entry, rules }: { entry: DiskEntry; rules: readonly IgnoreRules[] },
  ): WalkEntry | undefined {
    const isDirectory = entry.kind === "directory";
    if (!isDirectory && entry.kind !== "file") return undefined;
    const relativePath = parent.relativePath === "" ? entry.name : `${parent.relativePath}/${entry.name}`;
    const path = parent.path.endsWith(sep) ? parent.path + entry.name : `${parent.path}${sep}${entry.name}`;
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
  // If an ignored directory is walked, the caller has named it.
  return isIgnored(root, true, rules) ? [] : rules;
}

async function repositoryRoot(disk: BulkDisk, from: string): Promise<string | undefined> {
  for (let directory = from; ; directory = dirname(directory)) {
    const marker = await disk.lstat(join(directory, ".git")).catch(() => undefined);
    if (marker) return directory;
    if (directory === dirname(directory)) return undefined;
  }
}
