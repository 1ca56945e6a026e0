// How structural matches are shown: the text a model reads, and the details for people and programs. The output is
// built while matches are found, so that no file has to be kept.

import { stripEscapes } from "../../base/sanitize.js";
import type { Target } from "../../files/workspace.js";
import { cutText, maxOutputBytes, notice } from "../output/text.js";
import type { FoundFile, Match } from "./begin-file.js";
import { groupByDirectory, type IssueDetails, issueBlock, issueDetails } from "./report.js";

const maxLineLength = 1024;
/** Of one match; the rest is counted. */
const maxMatchLines = 20;
const maxMetaLength = 120;

export interface AstGrepDetails extends IssueDetails {
  matchCount: number;
  fileCount: number;
  filesSearched: number;
  limitReached: boolean;
  scopePath: string;
  files: string[];
  fileMatches: { path: string; count: number }[];
}

export class AstGrepReport {
  matchCount = 0;
  /** There are more matches than were added. */
  limitReached = false;
  readonly issues: string[] = [];
  readonly #files: { target: Target; count: number; lines: string[] }[] = [];
  readonly #context: number;
  #length = 0;
  #hasLongLine = false;

  /** `context`: lines to show before and behind each match. */
  constructor({ context }: { context: number }) {
    this.#context = context;
  }

  add(file: FoundFile, matches: readonly Match[]): void {
    const lines: string[] = [];
    const source = this.#context > 0 ? file.text.split("\n") : [];
    for (const match of matches)
      for (const line of matchLines(match, { file, source, context: this.#context })) {
        this.#length += Buffer.byteLength(line) + 1;
        if (this.#length > maxOutputBytes) break;
        this.#hasLongLine ||= line.length > maxLineLength;
        lines.push(cutText(line, maxLineLength));
      }
    this.#files.push({ target: file.target, count: matches.length, lines });
    this.matchCount += matches.length;
  }

  details(scopePath: string, filesSearched: number): AstGrepDetails {
    const fileMatches = this.#files.map(({ target, count }) => ({ path: target.displayPath, count }));
    return {
      matchCount: this.matchCount,
      fileCount: this.#files.length,
      filesSearched,
      limitReached: this.limitReached,
      ...issueDetails(this.#uniqueIssues()),
      scopePath,
      files: fileMatches.map(({ path }) => path),
      fileMatches,
    };
  }

  /** `isSingleFile`: the call named one file, so nothing needs to say which. */
  text({ isSingleFile }: { isSingleFile: boolean }): string {
    const issues = this.#uniqueIssues();
    if (this.matchCount === 0) {
      const doubt = "What could not be parsed was not searched: the query may be mis-scoped. Narrow path, or set lang.";
      return ["No matches found", ...(issues.length > 0 ? [doubt] : []), ...issueBlock(issues)].join("\n\n");
    }
    const shown = this.#files.filter(({ lines }) => lines.length > 0);
    const groups = groupByDirectory(shown, { isSingleFile, suffix: () => "" });
    const blocks = [groups.flatMap(({ file, headings }) => [...headings, ...file.lines]).join("\n")];
    if (this.limitReached) blocks.push("Result limit reached; narrow path pattern or increase limit.");
    const remarks = [
      ...(this.#length > maxOutputBytes ? ["Output cut at 50KB; narrow path pattern or lower limit"] : []),
      ...(this.#hasLongLine ? [`Some lines truncated to ${maxLineLength} chars`] : []),
    ];
    return [...blocks, ...issueBlock(issues)].join("\n\n") + notice(remarks);
  }

  #uniqueIssues(): string[] {
    return [...new Set(this.issues)];
  }
}

/** `NN:match`, `NN-line` around it, and what the metavariables hold. */
function matchLines(
  match: Match,
  { file, source, context }: { file: FoundFile; source: readonly string[]; context: number },
): string[] {
  const { start, end, line } = match.span;
  const matched = file.text.slice(start, end).split("\n");
  const behind = line + matched.length;
  const hidden = matched.length - maxMatchLines;
  const around = (from: number, to: number) =>
    source.slice(from, to).map((text, index) => `${from + index + 1}-${clean(text)}`);
  return [
    ...around(Math.max(line - context, 0), line),
    ...matched.slice(0, maxMatchLines).map((text, index) => `${line + index + 1}:${clean(text)}`),
    ...(hidden > 0 ? [`  … (+${hidden} lines)`] : []),
    ...metaLine(match, file.text),
    ...around(behind, behind + context),
  ];
}

function metaLine({ captures }: Match, text: string): string[] {
  const meta = [...captures].map(([spelling, { start, end }]) => {
    const value = clean(text.slice(start, end)).replace(/\s+/g, " ");
    return `${spelling.replace(/^\$+/, "")}=${cutText(value, maxMetaLength)}`;
  });
  return meta.length > 0 ? [`  meta: ${meta.join(", ")}`] : [];
}

/** Without escapes. What is too long to be shown need not be cleaned whole. */
function clean(text: string): string {
  return stripEscapes(text.slice(0, 2 * maxLineLength)).replace(/\r$/, "");
}
