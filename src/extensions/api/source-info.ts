// Where a command comes from, as `get_commands` tells it. Hosts of pi read no command whose source lacks a member.

import { dirname, isAbsolute } from "node:path";

interface Place {
  readonly provider: string;
  readonly level: "user" | "project";
}

export type SourceInfo = Readonly<Record<"path" | "source" | "scope" | "origin", string>> & {
  readonly baseDir?: string;
};

/** Of what galley has itself. */
export function builtInSource(name: string): SourceInfo {
  return { path: `<builtin:${name}>`, source: "builtin", scope: "temporary", origin: "top-level" };
}

/** Without a place: the program itself brought it. */
export function sourceInfoOf(path: string, place: Place | undefined): SourceInfo {
  const { provider = "inline", level = "temporary" } = place ?? {};
  const origin = /plugin/.test(provider) ? "package" : "top-level";
  return { path, source: provider, scope: level, origin, ...(isAbsolute(path) ? { baseDir: dirname(path) } : {}) };
}
