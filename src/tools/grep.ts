// The grep tool: lines that match, by file in the order of paths, so that the same search tells the same twice.

import type { XStatic } from "typebox/schema";
import type { ToolResult } from "../protocol/events.js";
import { shownTruncation } from "./output/shown-truncation.js";
import { count, notice } from "./output/text.js";
import { limitRemark } from "./search/find-result.js";
import type { FileMatches, GrepLine } from "./search/grep-first.js";
import { checkQuery, type GrepQuery, prepareGrep } from "./search/grep-query.js";
import { maxLineLength } from "./search/grep-reader.js";
import { type GrepFound, searchFirst } from "./search/grep-search.js";
import { type FileLines, groupByDirectory, headOfLines } from "./search/grouped-output.js";
import type { SearchDeps } from "./search/ripgrep.js";
import { searchRootsOf } from "./search/search-roots.js";
import type { AgentTool } from "./tool.js";

const parameters = {
  type: "object",
  properties: {
    pattern: { type: "string" },
    path: { type: "string", description: "File, directory, glob or comma list" },
    glob: { type: "string", description: "e.g. *.ts" },
    type: { type: "string", description: "e.g. ts, py" },
    i: { type: "boolean", description: "Ignore case" },
    pre: { type: "number", description: "Lines before" },
    post: { type: "number", description: "Lines after" },
    multiline: { type: "boolean" },
    gitignore: { type: "boolean", description: "false: ignored files too" },
    limit: { type: "number", description: "Most matches (20)" },
    offset: { type: "number", description: "Matches to skip" },
  },
  required: ["pattern"],
} as const;

type GrepParams = XStatic<typeof parameters>;

export function createGrep(deps: SearchDeps): AgentTool<GrepParams> {
  return {
    name: "grep",
    label: "Grep",
    description: "Search files by regular expression (ripgrep); skips ignored and binary files.",
    parameters,
    approval: "read",
    prepareArguments: prepareGrep,
    async execute(_toolCallId, params, signal) {
      const query = checkQuery(params);
      const roots = await searchRootsOf(deps.workspace, params.path || ".");
      const found = await searchFirst(deps, query, { roots, signal });
      const isSingleFile = roots.length === 1 && roots[0]?.target.kind === "file";
      return grepResult(found, query, { isSingleFile });
    },
  };
}

export interface GrepDetails {
  matchCount: number;
  fileMatches: { path: string; count: number }[];
  limitReached: boolean;
  meta: Record<string, unknown>;
}

function grepResult(found: GrepFound, query: GrepQuery, { isSingleFile }: { isSingleFile: boolean }): ToolResult {
  const { files, total } = pageOf(found.files, query);
  const matchCount = files.reduce((sum, file) => sum + file.matchCount, 0);
  const limitReached = total > query.offset + matchCount || (found.hasMore && matchCount > 0);
  const shown = files.map(({ path, lines }): FileLines => ({ path, lines: lines.map(lineText) }));
  const head = headOfLines(isSingleFile ? shown.flatMap(({ lines }) => lines) : groupByDirectory(shown));
  const remarks = [...head.remarks];
  if (limitReached) remarks.push(limitRemark(query.limit, "matches"));
  if (matchCount === 0 && total > 0)
    remarks.push(`Offset ${query.offset} is beyond the last of ${count(total, "matching line")}`);
  if (files.some(({ lines }) => lines.some(({ isCut }) => isCut)))
    remarks.push(`Some lines truncated to ${maxLineLength} chars`);
  remarks.push(...sightRemarks(found));
  const details: GrepDetails = {
    matchCount,
    fileMatches: files.map((file) => ({ path: file.path, count: file.matchCount })),
    limitReached,
    meta: {
      ...(head.truncation ? { truncation: head.truncation } : {}),
      ...(limitReached ? { limits: { matchLimit: query.limit } } : {}),
    },
    ...shownTruncation(head),
  };
  const text = (matchCount === 0 ? "No matches found" : head.text) + notice(remarks);
  return { content: [{ type: "text", text }], details, ...(matchCount === 0 ? { isWarning: true } : {}) };
}

function sightRemarks({ refusedCount, isPartial, isFallback }: GrepFound): string[] {
  const remarks: string[] = [];
  if (refusedCount > 0) remarks.push(`${count(refusedCount, "file")} with matches left out: not allowed to be read`);
  if (isPartial) remarks.push("Some files or directories could not be searched");
  if (isFallback) remarks.push("Searched without ripgrep, with JavaScript's regular expressions");
  return remarks;
}

interface ShownFile {
  path: string;
  lines: GrepLine[];
  matchCount: number;
}

/** The matches from `offset` on, `limit` of them, each with its context. */
function pageOf(files: readonly FileMatches[], query: GrepQuery): { files: ShownFile[]; total: number } {
  const shown: ShownFile[] = [];
  let total = 0;
  for (const { shownPath, lines, matchCount } of files) {
    const from = Math.max(query.offset - total, 0);
    const matches = lines.filter(({ isMatch }) => isMatch).slice(from, Math.max(query.offset + query.limit - total, 0));
    total += matchCount;
    if (matches.length > 0)
      shown.push({ path: shownPath, lines: around(lines, matches, query), matchCount: matches.length });
  }
  return { files: shown, total };
}

/** A match that is on another page may still be context of one on this. */
function around(lines: readonly GrepLine[], matches: readonly GrepLine[], { pre, post }: GrepQuery): GrepLine[] {
  const chosen = new Set(matches.map(({ number }) => number));
  const near = new Set<number>();
  for (const { number } of matches) for (let at = number - pre; at <= number + post; at++) near.add(at);
  return lines
    .filter(({ number }) => near.has(number))
    .map((line) => (line.isMatch && !chosen.has(line.number) ? { ...line, isMatch: false } : line));
}

function lineText({ number, text, isMatch }: GrepLine): string {
  return `${number}${isMatch ? ":" : "-"}${text}`;
}
