// Starts parsing the first files before the list of files is complete, so that the parsers need not wait for it.

import { setMaxListeners } from "node:events";
import { type LinkedAbort, linkAbort } from "../../base/abort.js";
import type { Workspace } from "../../files/workspace.js";
import { type Begun, beginFile, type PatternInUse, type SearchFile } from "./begin-file.js";
import type { Language } from "./languages.js";
import { literalsIn } from "./literals.js";
import type { Parsers } from "./parsers.js";
import { compilePattern } from "./pattern.js";

/** Enough files to keep two parsers busy until the list of files is complete. */
export const maxHeldFiles = 32;
export const maxHeldBytes = 16 * 1024 * 1024;

export interface HeadStart {
  /** Once for each language, in the order of the patterns. A cause says why a pattern is invalid in that language. */
  compile(language: Language): Promise<({ readonly inUse: PatternInUse } | { readonly cause: string })[]>;
  /** Begins as many of the files as a search holds at a time. Never rejects. */
  begin(files: readonly SearchFile[]): Promise<void>;
  /** The work on this file, if it has begun. After the first call no further file is begun. */
  take(file: SearchFile): Promise<Begun> | undefined;
  /** No more files are taken. */
  end(): void;
}

export interface HeadStartRequest {
  readonly pats: readonly string[];
  readonly sel?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export function createHeadStart(
  workspace: Workspace,
  parsers: Parsers,
  { pats, sel, signal }: HeadStartRequest,
): HeadStart {
  const compiled = new Map<Language, ReturnType<HeadStart["compile"]>>();
  const begun = new Map<string, { readonly identity: string; readonly work: Promise<Begun> }>();
  let abort: LinkedAbort | undefined;
  let isOver = false;

  async function compileOne({ grammar }: Language, [index, pat]: [number, string]) {
    const outcome = await compilePattern(parsers, { pat, sel, grammar, signal });
    return "cause" in outcome ? outcome : { inUse: { index, compiled: outcome, literals: literalsIn({ pat, sel }) } };
  }

  function compile(language: Language) {
    const outcomes = compiled.get(language) ?? Promise.all([...pats.entries()].map((pat) => compileOne(language, pat)));
    compiled.set(language, outcomes);
    return outcomes;
  }

  async function beginOne(file: SearchFile, own: AbortSignal): Promise<Begun> {
    const patterns = usable(await compile(file.language));
    return beginFile(workspace, parsers, { file, patterns, signal: own });
  }

  return {
    compile,
    async begin(files) {
      abort ??= linkAbort(signal);
      setMaxListeners(0, abort.signal); // each file in work listens
      const first = files.slice(0, maxHeldFiles);
      // All at once: a second language would have to wait until the files of the first are parsed.
      await Promise.all(first.map(({ language }) => compile(language))).catch(() => {}); // the search itself meets the failure again
      let heldBytes = 0;
      for (const file of first) {
        if (isOver || heldBytes >= maxHeldBytes) return;
        const work = beginOne(file, abort.signal);
        begun.set(file.target.path, { identity: file.target.identity, work });
        const outcome = await work.catch(() => undefined); // `take` reports the failure
        if (!outcome || "result" in outcome) continue;
        outcome.parsed.catch(() => {}); // as well
        heldBytes += outcome.heldBytes;
      }
    },
    take({ target }) {
      isOver = true;
      const found = begun.get(target.path);
      begun.delete(target.path);
      return found?.identity === target.identity ? found.work : undefined;
    },
    end() {
      isOver = true;
      abort?.release();
    },
  };
}

export function usable(outcomes: Awaited<ReturnType<HeadStart["compile"]>>): PatternInUse[] {
  return outcomes.flatMap((outcome) => ("inUse" in outcome ? [outcome.inUse] : []));
}
