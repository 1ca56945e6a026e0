// Searching files for patterns: reads through the workspace, drops what cannot match before decoding it, has the rest
// parsed elsewhere, and hands out the files in order. Shared by every ast tool; it holds a few files at a time.

import { isUtf8 } from "node:buffer";
import { setMaxListeners } from "node:events";
import { linkAbort, throwIfAborted } from "../base/abort.js";
import { GalleyError } from "../base/errors.js";
import type { Target, Workspace } from "../workspace/workspace.js";
import type { Language } from "./ast-languages.js";
import { containsLiteral, type Literal, literalsIn } from "./ast-literals.js";
import type { Parsers } from "./ast-parsers.js";
import { type CompiledPattern, compilePattern, spelled } from "./ast-pattern.js";
import type { Sieve } from "./ast-sieve.js";
import type { Captured } from "./ast-template.js";
import type { RuleMatch } from "./ast-worker.js";
import { toolFailure } from "./tool.js";

export const maxFileBytes = 4 * 1024 * 1024;
/** Files that were given to the parsers, up to the first whose turn has not come: enough to keep two of them busy. */
const maxHeldFiles = 32;
const maxHeldBytes = 16 * 1024 * 1024;
const progressStep = 200;
/** Each costs a process, or all the time one may take. */
const maxFatalFiles = 5;

export interface SearchFile {
  target: Target;
  language: Language;
}

export interface SearchRequest {
  files: readonly SearchFile[];
  pats: readonly string[];
  sel?: string | undefined;
  /** Where patterns are tried although no file says so. */
  language?: Language | undefined;
  sieve?: Sieve | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: (filesSearched: number) => void;
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

/** For people: lines and columns counted from 1, and a byte order mark is no column. */
export function placeOf({ span: { line, column } }: Match, text: string): { line: number; column: number } {
  return { line: line + 1, column: column + (line === 0 && text.startsWith("\ufeff") ? 0 : 1) };
}

export interface Search {
  /** Patterns that fit no language of the files. */
  issues: string[];
  /** In the order of the request: a file with matches, or why one could not be searched. */
  results(): AsyncGenerator<FoundFile | { issue: string }>;
  /** So far. */
  filesSearched(): number;
}

export async function prepareSearch(workspace: Workspace, parsers: Parsers, request: SearchRequest): Promise<Search> {
  const { patterns, issues } = await compileAll(parsers, request);
  let filesSearched = 0;
  return {
    issues,
    filesSearched: () => filesSearched,
    async *results() {
      const fatal: string[] = [];
      // A signal of our own: each file in work listens to it, which on the caller's would be a warning.
      const abort = linkAbort(request.signal);
      setMaxListeners(0, abort.signal);
      const begin = (file: SearchFile) =>
        beginFile(workspace, parsers, {
          file,
          patterns: request.sieve?.lacks(file.target.path) ? [] : (patterns.get(file.language) ?? []),
          signal: abort.signal,
        });
      try {
        for await (const result of inOrder(request.files, begin)) {
          throwIfAborted(abort.signal);
          filesSearched++;
          if (filesSearched % progressStep === 0) request.onProgress?.(filesSearched);
          if (result && "isFatal" in result && fatal.push(result.issue) >= maxFatalFiles)
            throw toolFailure(["The parser fails on too many files; narrow the paths.", ...fatal].join("\n- "));
          if (result) yield result;
        }
      } finally {
        abort.release();
      }
    },
  };
}

interface PatternInUse {
  index: number;
  compiled: CompiledPattern;
  literals: Literal[];
}

/** Each pattern in each language. One that compiles nowhere is an issue; if that is all of them, there is nothing to do. */
async function compileAll(
  parsers: Parsers,
  { pats, files, language, sel, signal }: SearchRequest,
): Promise<{ patterns: Map<Language, PatternInUse[]>; issues: string[] }> {
  const all = new Set([...(language ? [language] : []), ...files.map((file) => file.language)]);
  const patterns = new Map<Language, PatternInUse[]>([...all].map((each) => [each, []]));
  const issues = new Set<string>();
  for (const [index, pat] of pats.entries()) {
    const causes: string[] = [];
    const literals = literalsIn({ pat, sel });
    for (const [{ grammar }, inUse] of patterns) {
      const compiled = await compilePattern(parsers, { pat, sel, grammar, signal });
      if ("cause" in compiled) causes.push(`${pat}: Invalid pattern: ${compiled.cause}`);
      else inUse.push({ index, compiled, literals });
    }
    // In a mixed directory a pattern belongs to one language; that it is none in another is no news.
    if (causes.length === patterns.size) for (const cause of causes) issues.add(cause);
  }
  if (patterns.size > 0 && [...patterns.values()].every((inUse) => inUse.length === 0))
    throw toolFailure(["No pattern could be parsed", ...[...issues].map((issue) => `- ${issue}`)].join("\n"));
  return { patterns, issues: [...issues] };
}

type Result = FoundFile | { issue: string; isFatal?: true } | undefined;

/** What became of a file that was read: the result, or one that the parser still has to find. */
type Begun = { result: Result } | Parse;

interface Parse {
  parsed: Promise<Result>;
  /** Of the file, until its turn has come. */
  heldBytes: number;
}

/** Begins files one after another while those before them are parsed, and gives the results in the files' order. */
async function* inOrder(
  files: readonly SearchFile[],
  begin: (file: SearchFile) => Promise<Begun>,
): AsyncGenerator<Result> {
  const ahead: Begun[] = [];
  const settled = new Set<Begun>();
  let [next, heldFiles, heldBytes] = [0, 0, 0];
  for (;;) {
    const [first] = ahead;
    const file = files[next];
    if (first && "result" in first) yield (ahead.shift() as typeof first).result;
    else if (first && (!file || settled.has(first) || heldFiles >= maxHeldFiles || heldBytes >= maxHeldBytes)) {
      ahead.shift();
      yield await first.parsed;
      settled.delete(first);
      heldFiles--;
      heldBytes -= first.heldBytes;
    } else if (file) {
      next++;
      const begun = await begin(file);
      ahead.push(begun);
      if ("result" in begun) continue;
      const settle = () => settled.add(begun);
      begun.parsed.then(settle, settle); // a failure is heard when its turn comes, or an earlier one ended the loop
      heldFiles++;
      heldBytes += begun.heldBytes;
    } else return;
  }
}

interface FileSearch {
  file: SearchFile;
  patterns: readonly PatternInUse[];
  signal: AbortSignal;
}

async function beginFile(
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

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
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
  // Of names that come again only the first is the user's own.
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
