// Runs a grep over its search roots: ripgrep, its output put into the order of paths, stopped as soon as the first matches
// are known; then what was found is checked by the workspace, and nothing is shown of a file that it would not open.

import { basename, join, sep } from "node:path";
import { linkAbort, throwIfAborted } from "../../base/abort.js";
import { GalleyError } from "../../base/errors.js";
import { isTempName } from "../../files/disk/temp-names.js";
import { shownBelow } from "../../files/paths/resolve-path.js";
import type { Target } from "../../files/workspace.js";
import { toolFailure } from "../tool.js";
import { type FileMatches, FirstMatches } from "./grep-first.js";
import { createOrderTest } from "./grep-order.js";
import type { GrepQuery } from "./grep-query.js";
import { type GrepListener, GrepReader } from "./grep-reader.js";
import { type GrepRoot, type GrepScan, prepareGrepRoot } from "./grep-root.js";
import { searchByWalking } from "./grep-walk.js";
import { runRipgrep, type SearchDeps, toldPath } from "./ripgrep.js";
import type { SearchRoot } from "./search-roots.js";

/** Each round is a whole search; more than a few are not worth the wait. */
const maxRounds = 4;
/** The time for a sorted search that has found nothing, and for one that has found something and not enough. */
const rareMs = 15;
const commonMs = 40;
/** Enough of a file to tell a private key. */
const headBytes = 512;

export interface GrepFound {
  /** Sorted by path; one match more than asked for, where there is one. */
  readonly files: readonly FileMatches[];
  readonly hasMore: boolean;
  /** Files with matches that must not be read. */
  readonly refusedCount: number;
  /** Something could not be searched. */
  readonly isPartial: boolean;
  /** ripgrep did not start, and we searched ourselves. */
  readonly isFallback: boolean;
}

type Outcome = Pick<GrepFound, "isPartial" | "isFallback">;

export async function searchFirst(
  deps: SearchDeps,
  query: GrepQuery,
  { roots, signal }: { roots: readonly SearchRoot[]; signal: AbortSignal | undefined },
): Promise<GrepFound> {
  const wanted = query.offset + query.limit + 1;
  const prepared = await Promise.all(roots.map((root) => prepareGrepRoot(root, query.glob)));
  // These were asked for outright, and have passed.
  const named = new Map(roots.filter(isFile).map(({ target }) => [target.path, target]));
  const refused = new Set<string>();
  let isPartial = false;
  let isFallback = false;
  for (let round = 1; ; round++) {
    const first = new FirstMatches(wanted, refused);
    for (const root of prepared) {
      // A file that is named still has to pass the call's own glob.
      if (isFile(root) && !root.accepts(basename(root.target.path))) continue;
      const scan = { query, first, signal, isOnly: prepared.length === 1 };
      const outcome = (await searchWithRipgrep(deps, root, scan)) ?? (await searchByWalking(deps, root, scan));
      isPartial ||= outcome.isPartial;
      isFallback ||= outcome.isFallback;
    }
    const candidates = first.files();
    const verdicts = await Promise.all(candidates.map((file) => mayBeRead(deps, file, { named, signal })));
    const files = candidates.filter((_, index) => verdicts[index]);
    for (const file of candidates) if (!files.includes(file)) refused.add(file.path);
    const count = files.reduce((sum, { matchCount }) => sum + matchCount, 0);
    // What was refused may have displaced other matches: search again without it.
    const isShort = files.length < candidates.length && first.hasMore && count < wanted;
    if (!isShort || round === maxRounds)
      return { files, hasMore: first.hasMore, refusedCount: refused.size, isPartial, isFallback };
  }
}

function isFile({ target }: { target: Target }): boolean {
  return target.kind === "file";
}

/**
 * A sorted search can stop when it has enough, but uses one thread. So it gets a moment, in which a common word fills the
 * limit; then a search with all threads goes through the whole tree.
 */
async function searchWithRipgrep(deps: SearchDeps, root: GrepRoot, scan: GrepScan): Promise<Outcome | undefined> {
  const sorted = scan.isOnly && !isFile(root) ? await searchSorted(deps, root, scan) : "too slow";
  return sorted === "too slow" ? runSearch(deps, root, scan) : sorted;
}

/** What it has found by then is in `first` and stays there. */
async function searchSorted(
  deps: SearchDeps,
  root: GrepRoot,
  scan: GrepScan,
): Promise<Outcome | undefined | "too slow"> {
  const { first, signal } = scan;
  const { path: directory } = root.target;
  const below = (path: string) => path.slice(directory.length + (directory.endsWith(sep) ? 0 : 1)).replaceAll(sep, "/");
  const isFinal = createOrderTest(directory);
  const stop = linkAbort(signal);
  let hasMatches = false;
  let timer: NodeJS.Timeout | undefined;
  try {
    return await runSearch(deps, root, {
      ...scan,
      signal: stop.signal,
      isSorted: true,
      onStart() {
        timer = setTimeout(() => {
          if (!hasMatches) stop.abort();
          else timer = setTimeout(() => stop.abort(), commonMs - rareMs);
        }, rareMs);
      },
      isEnough(path) {
        hasMatches = true;
        const last = first.lastNeeded();
        return last !== undefined && isFinal(below(last), below(path));
      },
    });
  } catch (error) {
    throwIfAborted(signal);
    if (stop.signal.aborted) return "too slow";
    throw error;
  } finally {
    clearTimeout(timer);
    stop.release();
  }
}

interface RipgrepScan extends GrepScan {
  readonly isSorted?: boolean;
  onStart?(): void;
  /** Asked after each file with matches. */
  isEnough?(path: string): boolean;
}

/** Undefined where there is no ripgrep. */
async function runSearch(
  deps: SearchDeps,
  root: GrepRoot,
  { query, first, signal, isSorted = false, onStart, isEnough = () => false }: RipgrepScan,
): Promise<Outcome | undefined> {
  const { target } = root;
  let file: FileMatches | undefined;
  let isDone = false;
  const listener: GrepListener = {
    onFile(told) {
      file = openFile(toldPath(told));
      return file !== undefined;
    },
    onLine(line) {
      if (file) first.addLine(file, line);
    },
    onBinary() {
      file = undefined;
    },
    onFileEnd() {
      if (file) {
        first.close(file);
        isDone ||= isEnough(file.path);
      }
      file = undefined;
    },
  };
  const reader = new GrepReader(listener, isSorted ? "\r\n" : "\n");
  const end = await runRipgrep(deps, {
    root: target,
    args: [...argumentsOf(query, root), ...(isSorted ? ["--sort=path"] : [])],
    mentioned: root.mentioned,
    gitignore: query.gitignore,
    signal,
    onStart,
    onOutput(chunk) {
      reader.push(chunk);
      return !isDone;
    },
  });
  if (end === undefined) return undefined;
  if (end.stopped === "enough") {
    first.stop();
    return { isPartial: false, isFallback: false };
  }
  reader.end();
  if (end.exitCode > 1 && end.problem.trim() !== "") throw toolFailure(readableProblem(end.problem));
  if (end.exitCode > 2) throw toolFailure(`The search ended early (code ${end.exitCode}); narrow the path.`);
  return { isPartial: end.exitCode === 2, isFallback: false };

  function openFile(relativePath: string): FileMatches | undefined {
    if (isFile(root)) return first.wants(target.path) ? first.open(target.path, target.displayPath) : undefined;
    if (!root.accepts(relativePath) || isTempName(basename(relativePath))) return undefined;
    const path = join(target.path, relativePath);
    return first.wants(path) ? first.open(path, shownBelow(target.displayPath, relativePath)) : undefined;
  }
}

function argumentsOf(query: GrepQuery, { nameGlob }: GrepRoot): string[] {
  const args = [
    "--hidden",
    "--heading",
    "--with-filename",
    "--line-number",
    "--no-context-separator",
    "--crlf",
    "--engine=auto",
    // More matches of one file are never needed.
    `--max-count=${query.offset + query.limit + 1}`,
    `--before-context=${query.pre}`,
    `--after-context=${query.post}`,
    `--regexp=${query.pattern}`,
  ];
  if (query.ignoreCase) args.push("--ignore-case");
  if (query.multiline) args.push("--multiline");
  // Not `--glob`: that would bring back what ignore files hide. Two types would be either of them, not both.
  if (query.type !== undefined) args.push(`--type=${query.type}`);
  else if (nameGlob !== undefined) args.push(`--type-add=wanted:${nameGlob}`, "--type=wanted");
  return args;
}

/** The very file that was searched, by the rules for reading it; a key is known by its first bytes. */
async function mayBeRead(
  { workspace, unattended }: SearchDeps,
  { path }: FileMatches,
  { named, signal }: { named: ReadonlyMap<string, Target>; signal: AbortSignal | undefined },
): Promise<boolean> {
  try {
    const target = named.get(path) ?? (await unattended.resolve(path, "read"));
    if (target.path !== path || target.kind !== "file") return false;
    await workspace.readFile(target, { maxBytes: headBytes, signal });
    return true;
  } catch (error) {
    throwIfAborted(signal);
    if (error instanceof GalleyError) return false; // refused, or gone meanwhile
    throw error;
  }
}

/** The part that explains; with two engines asked, what the usual one says. */
function readableProblem(problem: string): string {
  const [, first] = /^~~~+\n([\s\S]*?)\n~~~+$/m.exec(problem) ?? [];
  const text = (first ?? problem).trim().replace(/^rg: /, "");
  return text.split("\n").slice(0, 8).join("\n").slice(0, 1000);
}
