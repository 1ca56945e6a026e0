// ripgrep's part in a search through whole directories: it lists the files and says which of them cannot match, so that
// they are not even looked at. It only saves time: if it fails, the directory is walked and every file is read.

import { linkAbort, throwIfAborted } from "../../base/abort.js";
import type { Target, Workspace } from "../../files/workspace.js";
import { type RipgrepDeps, runRipgrep, toldPath, wholeTexts } from "../search/ripgrep.js";
import { fileEndings, languageNamed } from "./languages.js";
import { literalsIn } from "./literals.js";

/** More take memory that the search itself would not. */
const maxPaths = 100_000;

export interface Prefilter {
  /**
   * The files that a walk would give; undefined where only a walk can tell. One without the words that a match must
   * contain comes without its identity.
   */
  list(directory: Target, accepts: (path: string) => boolean): Promise<readonly Target[] | undefined>;
  /** No more questions will come. */
  end(): void;
}

export interface PrefilterRequest {
  readonly pats: readonly string[];
  readonly sel?: string | undefined;
  /** As the call names it: files of other languages are not even listed. */
  readonly lang?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export function createPrefilter(
  deps: RipgrepDeps & { readonly workspace: Workspace },
  { pats, sel, lang = "", signal }: PrefilterRequest,
): Prefilter {
  const endings = languageNamed(lang)?.extensions ?? fileEndings();
  const words = pats.map((pat) => longest(literalsIn({ pat, sel }).map(({ word }) => word)));
  const isOpen = words.length === 0 || words.includes(""); // a pattern can match without any certain word
  const stop = linkAbort(signal);
  return {
    async list(directory, include) {
      const survey = await deps.workspace.survey(directory);
      if (!survey) return undefined;
      const pathsWith = (...args: string[]) =>
        collectPaths(deps, {
          root: directory,
          args: [...args, ...placeArguments(endings, survey.leftOut)],
          signal: stop.signal,
        });
      // The list is soon complete, and picked from while the search for the words goes on.
      const wanted = isOpen ? undefined : pathsWith(...wordArguments(words)).then((paths) => paths && new Set(paths));
      const paths = await pathsWith("--files", "--threads=1");
      const files = paths && (await survey.pick(paths, { include, wanted, signal }));
      throwIfAborted(signal);
      return files;
    },
    end() {
      stop.abort();
      stop.release();
    },
  };
}

/** All of them, or undefined where some may be missing. Never rejects. */
async function collectPaths(
  deps: RipgrepDeps,
  { root, args, signal }: { root: Target; args: readonly string[]; signal: AbortSignal },
): Promise<string[] | undefined> {
  const paths: string[] = [];
  let isReadable = true;
  try {
    const end = await runRipgrep(deps, {
      root,
      args,
      mentioned: [],
      gitignore: false,
      signal,
      onOutput: wholeTexts((texts) => {
        isReadable &&= !texts.includes("\ufffd"); // a name that is no text: only its bytes would lead to the file
        for (const text of texts.split("\0")) paths.push(toldPath(text));
        return isReadable && paths.length < maxPaths;
      }),
    });
    return end && end.exitCode <= 1 && end.stopped === undefined ? paths : undefined;
  } catch {
    return undefined; // the files are walked and read then
  }
}

function longest(words: readonly string[]): string {
  return words.reduce((best, word) => (word.length > best.length ? word : best), "");
}

function wordArguments(words: readonly string[]): string[] {
  return [
    ...["--files-with-matches", "--fixed-strings"],
    // The bytes as they are.
    ...["--text", "--encoding=none"],
    // A private key is refused aloud, whatever else is in the file.
    ...[...words, "PRIVATE KEY", "PuTTY-User-Key-File-"].map((word) => `--regexp=${word}`),
  ];
}

/** What a survey wants to know of. Of these globs the last that fits decides. */
function placeArguments(endings: readonly string[], leftOut: readonly string[]): string[] {
  return [
    "--hidden",
    ...endings.map((ending) => `--iglob=*.${ending}`),
    "--glob=.gitignore",
    ...leftOut.map((glob) => `--glob=!${glob}`),
  ];
}
