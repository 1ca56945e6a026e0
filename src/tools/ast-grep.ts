// The ast_grep tool: structural search. It reads and shows; its matches, positions and captures are those that ast_edit
// would rewrite.

import type { XStatic } from "typebox/schema";
import type { Workspace } from "../files/workspace.js";
import type { ToolResult } from "../protocol/events.js";
import type { Match } from "./ast/begin-file.js";
import { findFiles } from "./ast/files.js";
import { AstGrepReport } from "./ast/grep-report.js";
import { type Parsers, sharedParsers } from "./ast/parsers.js";
import { maxPatternLength } from "./ast/pattern.js";
import { createPrefilter } from "./ast/ripgrep-prefilter.js";
import { prepareSearch, type Search } from "./ast/search.js";
import { count } from "./output/text.js";
import type { RipgrepDeps } from "./search/ripgrep.js";
import { type AgentTool, textResult, toolFailure } from "./tool.js";

const parameters = {
  type: "object",
  properties: {
    pat: { type: "array", maxItems: 100, items: { type: "string" }, description: "Patterns, e.g. foo($A, $$$REST)" },
    lang: { type: "string", description: "For unusual file endings" },
    path: { type: "string", description: "File, directory or glob" },
    glob: { type: "string", description: "Filter below path" },
    sel: { type: "string", description: "Node kind to match within pat" },
    limit: { type: "number", description: "Most matches (50)" },
    offset: { type: "number", description: "Matches to skip" },
    context: { type: "number", description: "Lines around each match" },
  },
  required: ["pat"],
} as const;

type AstGrepParams = XStatic<typeof parameters>;

const defaultLimit = 50;
const maxContext = 50;

export interface AstGrepOptions {
  /** Default: those of this process. */
  parsers?: Parsers | undefined;
  /** Lists files and says which need not be read; without it directories are walked, and every file is. */
  ripgrep?: RipgrepDeps | undefined;
}

export function createAstGrep(
  workspace: Workspace,
  { parsers: given, ripgrep }: AstGrepOptions = {},
): AgentTool<AstGrepParams> {
  return {
    name: "ast_grep",
    label: "AST Grep",
    description: "Search code by structure (ast-grep): $NAME matches one node, $$$NAME any number.",
    parameters,
    approval: "read",
    prepareArguments,
    async execute(_toolCallId, params, signal, onUpdate) {
      const pats = checkPatterns(params.pat);
      const limit = atLeast(1, params.limit ?? defaultLimit, "Limit must be a positive number");
      const offset = atLeast(0, params.offset ?? 0, "Offset must be a non-negative number");
      const context = atLeast(0, params.context ?? 0, "Context must be a non-negative number");
      const { path = ".", glob, lang, sel } = params;
      const sieve = ripgrep && createPrefilter({ ...ripgrep, workspace }, { pats, sel, lang, signal });
      const parsers = given ?? sharedParsers();
      try {
        const found = await findFiles(workspace, parsers, { paths: [path], glob, lang, sieve, signal });
        const { files, language } = found;
        const report = new AstGrepReport({ context: Math.min(context, maxContext) });
        const search = await prepareSearch(workspace, parsers, {
          files,
          pats,
          language,
          sel,
          signal,
          onProgress: (filesSearched) => onUpdate(progress(filesSearched, files.length, report.matchCount)),
        });
        await collect(search, report, { limit, offset });
        report.issues.push(...search.issues, ...found.issues);
        const output = textResult(report.text(found), report.details(path, search.filesSearched()));
        return report.matchCount === 0 ? { ...output, isWarning: true } : output;
      } finally {
        sieve?.end();
      }
    },
  };
}

/** Up to the limit, and one more to know whether there is more. */
async function collect(
  search: Search,
  report: AstGrepReport,
  { limit, offset }: { limit: number; offset: number },
): Promise<void> {
  let skipped = 0;
  for await (const file of search.results()) {
    if ("issue" in file) {
      report.issues.push(file.issue);
      continue;
    }
    const matches = inPlaceOrder(file.matches);
    const rest = matches.slice(offset - skipped);
    skipped += matches.length - rest.length;
    const kept = rest.slice(0, limit - report.matchCount);
    if (kept.length > 0) report.add(file, kept);
    report.limitReached = rest.length > kept.length;
    if (report.limitReached) return;
  }
}

function progress(filesSearched: number, filesTotal: number, matchCount: number): ToolResult {
  const matches = `${matchCount} ${matchCount === 1 ? "match" : "matches"}`;
  const text = `Searched ${filesSearched} of ${count(filesTotal, "file")}; ${matches} so far.`;
  return textResult(text, { filesSearched, filesTotal, matchCount });
}

/** One pattern for a list. */
function prepareArguments(args: Record<string, unknown>): Record<string, unknown> {
  return typeof args.pat === "string" ? { ...args, pat: [args.pat] } : args;
}

function checkPatterns(pats: readonly string[]): string[] {
  const given = [...new Set(pats.filter((pat) => pat.trim() !== ""))];
  if (given.length === 0) throw toolFailure("`pat` must include at least one non-empty pattern");
  if (given.some((pat) => pat.length > maxPatternLength))
    throw toolFailure(`\`pat\` has a pattern longer than ${maxPatternLength} characters`);
  return given;
}

function atLeast(least: number, value: number, otherwise: string): number {
  if (!(value >= least)) throw toolFailure(otherwise);
  return Math.floor(value);
}

/** Two patterns may match the same place; it is shown once. */
function inPlaceOrder(matches: readonly Match[]): Match[] {
  return matches
    .toSorted((a, b) => a.span.start - b.span.start || b.span.end - a.span.end)
    .filter(({ span }, index, sorted) => {
      const previous = sorted[index - 1]?.span;
      return previous?.start !== span.start || previous.end !== span.end;
    });
}
