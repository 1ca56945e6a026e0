// The find tool: paths by glob, newest first.

import { parse } from "node:path";
import type { XStatic } from "typebox/schema";
import { type Clock, systemClock } from "../base/clock.js";
import { printable } from "../files/paths/resolve-path.js";
import type { Target, Workspace } from "../files/workspace.js";
import { cutText } from "./output/text.js";
import { listResult, resultLimit } from "./search/find-result.js";
import { findPaths } from "./search/find-search.js";
import { hasWildcard, splitGlob } from "./search/glob.js";
import type { SearchDeps } from "./search/ripgrep.js";
import { notFound, searchRootOf } from "./search/search-roots.js";
import { type AgentTool, toolFailure } from "./tool.js";

const defaultLimit = 1000;
const defaultTimeoutMs = 30_000;

const parameters = {
  type: "object",
  properties: {
    pattern: { type: "string", description: "e.g. *.ts (any depth), src/**/test" },
    hidden: { type: "boolean", description: "Dot names too (true)" },
    limit: { type: "number", description: "Most results (1000)" },
  },
  required: ["pattern"],
} as const;

type FindParams = XStatic<typeof parameters>;

export interface FindOptions {
  timeoutMs?: number;
  clock?: Clock;
}

export function createFind(
  deps: SearchDeps,
  { timeoutMs = defaultTimeoutMs, clock = systemClock }: FindOptions = {},
): AgentTool<FindParams> {
  return {
    name: "find",
    aliases: ["glob"],
    label: "Find",
    description: "Find files and directories by glob, newest first; skips ignored ones.",
    parameters,
    approval: "read",
    prepareArguments,
    async execute(_toolCallId, { pattern, hidden = true, limit }, signal) {
      const wanted = resultLimit(limit, defaultLimit);
      const scope = await scopeOf(deps.workspace, pattern.trim());
      if (scope === undefined) return nothing();
      if (scope.glob === undefined) return listResult([scope.target.displayPath]);
      const { target: root, glob } = scope;
      const search = { root, glob, hidden, limit: wanted + 1, timeoutMs, clock, signal };
      const { paths, remarks } = await findPaths(deps, search);
      if (paths.length === 0) return nothing(remarks);
      const limitReached = paths.length > wanted ? wanted : undefined;
      return listResult(paths.slice(0, wanted), { limitReached, remarks });
    },
  };
}

function nothing(remarks: readonly string[] = []) {
  return { ...listResult(["No files found matching pattern"], { remarks }), isWarning: true };
}

/** `path` is where to look, or the pattern itself where there is no other. */
function prepareArguments(args: Record<string, unknown>): Record<string, unknown> {
  const { path, ...rest } = args;
  if (typeof path !== "string") return rest;
  const { pattern } = rest;
  if (pattern === undefined) return { ...rest, pattern: path };
  if (typeof pattern !== "string" || /^[/~]/.test(pattern) || path === "") return rest;
  // In a directory that is given on its own, a bare name is looked for at any depth.
  return { ...rest, pattern: [path.replace(/\/+$/, ""), ...(pattern.includes("/") ? [] : ["**"]), pattern].join("/") };
}

/** Where to look and for what; without a glob, the one file that was named. Undefined: there is no such file. */
async function scopeOf(workspace: Workspace, pattern: string): Promise<{ target: Target; glob?: string } | undefined> {
  if (pattern === "") throw toolFailure("Pattern must not be empty");
  const root = await searchRootOf(workspace, pattern);
  const isName = !pattern.includes("/");
  if (root === undefined && hasWildcard(pattern)) throw notFound(splitGlob(pattern).base);
  if (root?.target.kind === "file" && root.glob !== undefined)
    throw toolFailure(`Path is not a directory: ${cutText(printable(splitGlob(pattern).base), 200)}`);
  if (root?.target.kind === "file" && (!isName || hasWildcard(pattern))) return root;
  if (root === undefined && !isName) return undefined;
  const isDirectory = root?.target.kind === "directory";
  const target = isDirectory ? root.target : await workspace.resolve(".", "read");
  if (target.path === parse(target.path).root) throw toolFailure("Searching from root directory '/' is not allowed");
  // A directory by itself means what is in it; a bare name or glob is looked for at any depth.
  const glob = isDirectory ? (root.glob ?? "**") : pattern;
  return { target, glob: isName && glob === pattern ? `**/${glob}` : glob };
}
