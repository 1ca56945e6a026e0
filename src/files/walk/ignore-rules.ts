// `.gitignore` files: read with bounds, matched by the `ignore` package, which is loaded when the first one is met.

import { join, sep } from "node:path";
import type { Ignore } from "ignore";
import type { BulkDisk, DiskStat } from "../disk/disk.js";
import { isCostlyGlob, matchInTime } from "./glob-cost.js";

const maxBytes = 256 * 1024;

export interface IgnoreRules {
  readonly directory: string;
  /** Those that are used. */
  readonly lines: readonly string[];
  /** Undefined when it took too long. */
  readonly test: (path: string) => ReturnType<Ignore["test"]> | undefined;
  /** Once that has happened, the rules are not used any more. */
  isGivenUp: boolean;
}

export interface RulesDisk extends Pick<BulkDisk, "read"> {
  lstat(path: string): Promise<Pick<DiskStat, "kind" | "identity">>;
}

export async function readIgnoreRules(disk: RulesDisk, directory: string): Promise<IgnoreRules | undefined> {
  const path = join(directory, ".gitignore");
  // No file, or none that can be read: no rules.
  const stat = await disk.lstat(path).catch(() => undefined);
  if (stat?.kind !== "file") return undefined;
  const read = await disk.read(path, stat.identity, { maxBytes }).catch(() => undefined);
  if (read === undefined) return undefined;
  const { default: ignore } = await import("ignore");
  const lines = Buffer.from(read.bytes)
    .toString("utf8")
    .split(/\r?\n/)
    .filter((line) => !isCostlyGlob(line));
  const matcher = ignore({ ignorecase: false, allowRelativePaths: true }).add(lines);
  return { directory, lines, test: matchInTime(lines, (path) => matcher.test(path)), isGivenUp: false };
}

/** The deepest rule that matches decides. */
export function isIgnored(path: string, isDirectory: boolean, rules: readonly IgnoreRules[]): boolean {
  if (rules.length === 0) return false; // asked of every file
  for (const one of rules.toReversed()) {
    if (one.isGivenUp) continue;
    const below = pathBelow(one.directory, path);
    const verdict = one.test(isDirectory ? `${below}/` : below);
    if (!verdict) one.isGivenUp = true;
    if (verdict?.ignored) return true;
    if (verdict?.unignored) return false;
  }
  return false;
}

/** Asked of every file, and all of them are below: `relative` would resolve both paths first. */
function pathBelow(directory: string, path: string): string {
  const below = path.slice(directory.endsWith(sep) ? directory.length : directory.length + 1);
  return sep === "/" ? below : below.replaceAll(sep, "/");
}
