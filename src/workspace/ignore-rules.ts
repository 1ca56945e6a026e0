// `.gitignore` files: read with bounds, matched by the `ignore` package, which is loaded when the first one is met.

import { join, relative, sep } from "node:path";
import type { Ignore } from "ignore";
import type { BulkDisk } from "./disk.js";
import { isCostlyGlob } from "./glob-cost.js";

const maxBytes = 256 * 1024;

export interface IgnoreRules {
  directory: string;
  matcher: Ignore;
}

export async function readIgnoreRules(
  disk: Pick<BulkDisk, "lstat" | "read">,
  directory: string,
): Promise<IgnoreRules | undefined> {
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
  return { directory, matcher: ignore({ ignorecase: false, allowRelativePaths: true }).add(lines) };
}

/** The deepest rule that speaks decides. */
export function isIgnored(path: string, isDirectory: boolean, rules: readonly IgnoreRules[]): boolean {
  if (rules.length === 0) return false; // asked of every file
  for (const { directory, matcher } of rules.toReversed()) {
    const below = relative(directory, path).replaceAll(sep, "/");
    const verdict = matcher.test(isDirectory ? `${below}/` : below);
    if (verdict.ignored) return true;
    if (verdict.unignored) return false;
  }
  return false;
}
