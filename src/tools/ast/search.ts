// Searching files for patterns: reads through the workspace, drops what cannot match before decoding it, has the rest
// parsed elsewhere, and hands out the files in order. Shared by every ast tool; it holds a few files at a time.

import { setMaxListeners } from "node:events";
import { linkAbort, throwIfAborted } from "../../base/abort.js";
import type { Workspace } from "../../files/workspace.js";
import { toolFailure } from "../tool.js";
import {
  type Begun,
  beginFile,
  type FoundFile,
  type Match,
  type PatternInUse,
  type Result,
  type SearchFile,
} from "./begin-file.js";
import type { Language } from "./languages.js";
import { literalsIn } from "./literals.js";
import type { Parsers } from "./parsers.js";
import { compilePattern } from "./pattern.js";

/** Read ahead: enough to keep one parser busy while the other takes its time for a large file, which comes first. */
const maxHeldFiles = 500;
const maxHeldBytes = 16 * 1024 * 1024;
const progressStep = 200;
/** Each such file costs a parser process or the whole time limit. */
const maxFatalFiles = 5;

export interface SearchRequest {
  files: readonly SearchFile[];
  pats: readonly string[];
  sel?: string | undefined;
  /** Languages in which patterns are compiled even if no file has them. */
  language?: Language | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: (filesSearched: number) => void;
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
  const { files, onProgress } = request;
  const { patterns, issues } = await compileAll(parsers, request);
  let filesSearched = 0;
  const pass = (count: number) => {
    while (filesSearched < count) if (++filesSearched % progressStep === 0) onProgress?.(filesSearched);
  };
  return {
    issues,
    filesSearched: () => filesSearched,
    async *results() {
      const fatal: string[] = [];
      // A signal of our own: each open file listens to it, and on the caller's signal that would cause a warning.
      const abort = linkAbort(request.signal);
      setMaxListeners(0, abort.signal);
      const begin = (file: SearchFile) =>
        beginFile(workspace, parsers, { file, patterns: patterns.get(file.language) ?? [], signal: abort.signal });
      // Of which only the names are known, those lack the words: they are counted.
      const wanted = [...files.entries()].filter(([, { target }]) => target.identity !== "");
      const places = wanted.values();
      try {
        const results = inOrder(
          wanted.map(([, file]) => file),
          begin,
        );
        for await (const result of results) {
          throwIfAborted(abort.signal);
          pass(1 + (places.next().value?.[0] ?? 0));
          if (result && "isFatal" in result && fatal.push(result.issue) >= maxFatalFiles)
            throw toolFailure(["The parser fails on too many files; narrow the paths.", ...fatal].join("\n- "));
          if (result) yield result;
        }
        pass(files.length);
      } finally {
        abort.release();
      }
    },
  };
}

/** Each pattern in each language. One that compiles nowhere is an issue; if that is all of them, there is nothing to do. */
async function compileAll(
  parsers: Parsers,
  { pats, sel, files, language, signal }: SearchRequest,
): Promise<{ patterns: Map<Language, PatternInUse[]>; issues: string[] }> {
  const all = [...new Set([...(language ? [language] : []), ...files.map((file) => file.language)])];
  const compile = async ({ grammar }: Language, [index, pat]: [number, string]) => {
    const outcome = await compilePattern(parsers, { pat, sel, grammar, signal });
    return "cause" in outcome ? outcome : { index, compiled: outcome, literals: literalsIn({ pat, sel }) };
  };
  const compiled = await Promise.all(
    all.map((each) => Promise.all([...pats.entries()].map((pat) => compile(each, pat)))),
  );
  const usable = (outcomes: (typeof compiled)[number] = []) =>
    outcomes.flatMap((outcome) => ("cause" in outcome ? [] : [outcome]));
  const patterns = new Map(all.map((each, index) => [each, usable(compiled[index])]));
  const issues = new Set<string>();
  for (const [index, pat] of pats.entries()) {
    const causes = compiled.flatMap((outcomes) => {
      const outcome = outcomes[index];
      return outcome && "cause" in outcome ? [`${pat}: Invalid pattern: ${outcome.cause}`] : [];
    });
    // In a mixed directory a pattern belongs to one language; that it is invalid in another is not an issue.
    if (causes.length === patterns.size) for (const cause of causes) issues.add(cause);
  }
  if (patterns.size > 0 && [...patterns.values()].every((inUse) => inUse.length === 0))
    throw toolFailure(["No pattern could be parsed", ...[...issues].map((issue) => `- ${issue}`)].join("\n"));
  return { patterns, issues: [...issues] };
}

/** Begins files one after another while those before them are parsed, and gives the results in the files' order. */
async function* inOrder(
  files: readonly SearchFile[],
  begin: (file: SearchFile) => Promise<Begun>,
): AsyncGenerator<Result> {
  const ahead: Begun[] = [];
  const done = new Set<Begun>();
  let [next, heldFiles, heldBytes] = [0, 0, 0];
  for (;;) {
    const [first] = ahead;
    const file = files[next];
    if (first && "result" in first) yield (ahead.shift() as typeof first).result;
    else if (first && (!file || done.has(first) || heldFiles >= maxHeldFiles || heldBytes >= maxHeldBytes)) {
      ahead.shift();
      yield await first.parsed;
      done.delete(first);
      heldFiles--;
      heldBytes -= first.heldBytes;
    } else if (file) {
      next++;
      const begun = await begin(file);
      ahead.push(begun);
      if ("result" in begun) continue;
      const markDone = () => done.add(begun);
      begun.parsed.then(markDone, markDone); // a failure is reported in its turn, unless an earlier one ended the loop
      heldFiles++;
      heldBytes += begun.heldBytes;
    } else return;
  }
}
