// One file of a search: read, dropped if it cannot match, and given to the parsers.

import { isUtf8 } from "node:buffer";
import { GalleyError } from "../../base/errors.js";
import type { Target, Workspace } from "../../files/workspace.js";
import { asBuffer } from "../../plans/diff/compare-change.js";
import type { Language } from "./languages.js";
import { containsLiteral, type Literal } from "./literals.js";
import type { Parsers } from "./parsers.js";
import { type CompiledPattern, spelled } from "./pattern.js";
import type { Captured } from "./rewrite-template.js";
import type { RuleMatch } from "./worker.js";

export const maxFileBytes = 4 * 1024 * 1024;

export interface SearchFile {
  target: Target;
  language: Language;
}

export interface Match extends Captured {
  /** Index into the request's patterns. */
  pattern: number;
}

export interface FoundFile {
  target: Target;
  bytes: Buffer;
  text: string;
  fixedLines: ReadonlySet<number>;
  /** By pattern, then by place. At least one. */
  matches: Match[];
}

export interface PatternInUse {
  index: number;
  compiled: CompiledPattern;
  literals: Literal[];
}

export type Result = FoundFile | { issue: string; isFatal?: true } | undefined;

/** A file that was read: its result, or a promise of one from the parser. */
export type Begun = { result: Result } | Parse;

interface Parse {
  parsed: Promise<Result>;
  /** Of the file, until its turn has come. */
  heldBytes: number;
}

interface FileSearch {
  file: SearchFile;
  patterns: readonly PatternInUse[];
  signal: AbortSignal;
}

export async function beginFile(
  workspace: Workspace,
  parsers: Parsers,
  { file, patterns, signal }: FileSearch,
): Promise<Begun> {
  if (patterns.length === 0) return { result: undefined };
  const issue = (reason: string) => ({ result: issueWith(file, reason) });
  const read = await workspace
    .readIf(file.target, (bytes) => patterns.some(mayMatch(asBuffer(bytes))), { maxBytes: maxFileBytes, signal })
    .catch(unreadable);
  if (read === undefined) return { result: undefined };
  if (typeof read === "string") return issue(read);
  if (read.isTruncated) return issue("larger than 4MB");
  const bytes = asBuffer(read.bytes);
  if (!isUtf8(bytes)) return issue("not valid UTF-8");
  if (bytes.includes(0)) return issue("it holds NUL characters"); // some grammars take one for the end
  return {
    parsed: parseFile(parsers, { file, patterns: patterns.filter(mayMatch(bytes)), signal }, bytes),
    heldBytes: bytes.length,
  };
}

async function parseFile(parsers: Parsers, { file, patterns, signal }: FileSearch, bytes: Buffer): Promise<Result> {
  const { grammar, stringKinds } = file.language;
  const rules = patterns.map(({ compiled: { matcher, captures } }) => ({ matcher, captures }));
  const reply = await parsers.match({ grammar, source: bytes, rules, stringKinds }, signal);
  if ("problem" in reply) return { ...issueWith(file, reply.problem), ...(reply.isFatal ? { isFatal: true } : {}) };
  if (reply.matches.length === 0) return undefined;
  const text = bytes.toString();
  const matches = reply.matches.flatMap((found) => {
    const inUse = patterns[found.rule];
    return inUse && hasEqualRepetitions(found, inUse.compiled, text) ? [matchOf(found, inUse)] : [];
  });
  const { target } = file;
  return matches.length === 0 ? undefined : { target, bytes, text, fixedLines: linesOf(reply.fixedLines), matches };
}

function mayMatch(bytes: Buffer): (pattern: PatternInUse) => boolean {
  return ({ literals }) => literals.every((literal) => containsLiteral(bytes, literal));
}

function issueWith({ target }: SearchFile, reason: string): { issue: string } {
  return { issue: `${target.displayPath}: parse error (${reason})` };
}

function unreadable(error: unknown): string {
  if (error instanceof GalleyError && error.code !== "aborted") return error.message.replace(/\.$/, "");
  throw error;
}

function hasEqualRepetitions({ captures }: RuleMatch, { repeated }: CompiledPattern, text: string): boolean {
  return repeated.every((group) => {
    const texts = group.map((index) => text.slice(captures[index]?.start ?? 0, captures[index]?.end ?? 0));
    return texts.every((each) => each === texts[0]);
  });
}

function matchOf({ span, captures }: RuleMatch, { index, compiled }: PatternInUse): Match {
  // Of a repeated name only the first is the user's own.
  const standIns = new Set(compiled.repeated.flatMap((group) => group.slice(1)));
  const named = compiled.captures.flatMap((variable, place) => {
    const held = captures[place];
    return held && !standIns.has(place) ? [[spelled(variable), held] as const] : [];
  });
  return { pattern: index, span, captures: new Map(named) };
}

function linesOf(ranges: readonly [number, number][]): Set<number> {
  const lines = new Set<number>();
  for (const [first, last] of ranges) for (let line = first; line <= last; line++) lines.add(line);
  return lines;
}
