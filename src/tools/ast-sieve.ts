// Which files cannot match, told by ripgrep while we still list them: those need not be read. It is a help and no more:
// a file that it has not told of, be it unreadable, too large or not come to yet, is read as if there were no ripgrep.

import { linkAbort } from "../base/abort.js";
import type { Target } from "../workspace/workspace.js";
import { languages } from "./ast-languages.js";
import { literalsIn } from "./ast-literals.js";
import { type RipgrepParts, runRipgrep, toldPath, wholeTexts } from "./ripgrep.js";

/** A set of more paths takes memory that the search itself would not. */
const maxPaths = 100_000;

export interface Sieve {
  /** Looks through a directory while everything else goes on. Nobody has to wait for it; never rejects. */
  start(directory: Target): Promise<void>;
  /** The file has none of the words that a match must contain. */
  lacks(path: string): boolean;
  /** Nobody asks any more. */
  end(): void;
}

export interface SieveRequest {
  readonly pats: readonly string[];
  readonly sel?: string | undefined;
  /** Of larger files something is told in any case. */
  readonly maxFileBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** Undefined where a pattern can match without any certain word. */
export function createSieve(parts: RipgrepParts, { pats, sel, ...request }: SieveRequest): Sieve | undefined {
  const words = pats.map((pat) => longest(literalsIn({ pat, sel }).map(({ word }) => word)));
  if (words.length === 0 || words.includes("")) return undefined;
  const looked: { readonly prefix: string; readonly lacking: Set<string> }[] = [];
  const stop = linkAbort(request.signal);
  return {
    lacks: (path) =>
      looked.some(({ prefix, lacking }) => path.startsWith(prefix) && lacking.has(path.slice(prefix.length))),
    start(directory) {
      const lacking = new Set<string>();
      looked.push({ prefix: `${directory.path}/`, lacking });
      const search = runRipgrep(parts, {
        root: directory,
        args: argumentsFor(words, request.maxFileBytes),
        mentioned: [],
        signal: stop.signal,
        onOutput: wholeTexts((paths) => {
          for (const path of paths.split("\0")) lacking.add(toldPath(path));
          return lacking.size < maxPaths;
        }),
      });
      return search.then(
        () => {},
        () => {}, // the files are read then
      );
    },
    end() {
      stop.abort();
      stop.release();
    },
  };
}

function longest(words: readonly string[]): string {
  return words.reduce((best, word) => (word.length > best.length ? word : best), "");
}

function argumentsFor(words: readonly string[], maxFileBytes: number): string[] {
  const endings = languages.flatMap(({ extensions }) => extensions);
  return [
    "--files-without-match",
    "--fixed-strings",
    // The bytes as they are.
    ...["--text", "--encoding=none", "--hidden"],
    `--max-filesize=${maxFileBytes}`,
    ...[`--type-add=code:*.{${endings.join(",")}}`, "--type=code"],
    // A private key is refused aloud, whatever else is in the file.
    ...[...words, "PRIVATE KEY"].map((word) => `--regexp=${word}`),
  ];
}
