// The files below a directory as ripgrep lists them, newest first. ripgrep can sort them, but reads the status of every
// file for it. If the glob has literal text, only the paths with that text need it, and we sort them ourselves.

import { throwIfAborted } from "../../base/abort.js";
import type { Clock } from "../../base/clock.js";
import type { ModifiedTimes, Target } from "../../files/workspace.js";
import { toolFailure } from "../tool.js";
import type { PathPicker } from "./find-picker.js";
import { mentionedIn, type RipgrepEnd, runRipgrep, type SearchDeps, toldPath, wholeTexts } from "./ripgrep.js";

/** With more paths no list is kept. */
const maxKept = 20_000;

export interface FindSearch {
  readonly root: Target;
  /** Below the root. One that ends in `/` means directories alone. */
  readonly glob: string;
  readonly hidden: boolean;
  readonly limit: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

/** Whether something could not be listed; undefined where there is no ripgrep. */
export async function listWithRipgrep(
  deps: SearchDeps,
  search: FindSearch,
  picker: PathPicker,
): Promise<boolean | undefined> {
  const { root, glob, timeoutMs, clock } = search;
  const startedAt = clock.now();
  const literal = literalOf(glob);
  const timesOf = literal === "" ? undefined : await deps.unattended.modifiedTimes(root);
  const end =
    (timesOf && (await pickByTimes(deps, search, { literal, timesOf, picker }))) ??
    (await listFiles(deps, search, {
      args: ["--sortr=modified"],
      leftMs: Math.max(timeoutMs - (clock.now() - startedAt), 1),
      take: pathsWith(literal, (path) => picker.add(path)),
    }));
  return end && end.exitCode === 2;
}

interface ByTimes {
  readonly literal: string;
  readonly timesOf: ModifiedTimes;
  readonly picker: PathPicker;
}

/** Undefined where there is no ripgrep, or there are too many files. */
async function pickByTimes(
  deps: SearchDeps,
  search: FindSearch,
  { literal, timesOf, picker }: ByTimes,
): Promise<RipgrepEnd | undefined> {
  const paths: string[] = [];
  const looks: ReturnType<ModifiedTimes>[] = [];
  const keep = pathsWith(literal, (path) => paths.push(path) <= maxKept);
  const end = await listFiles(deps, search, {
    args: ["--threads=1"], // files of the same age stay in the order that a sorted list has them in
    leftMs: search.timeoutMs,
    take(texts) {
      const from = paths.length;
      const wantsMore = keep(texts);
      looks.push(timesOf(paths.slice(from))); // while ripgrep goes on
      return wantsMore;
    },
  });
  if (end === undefined || end.stopped === "enough") return undefined;
  const times = (await Promise.all(looks)).flat();
  throwIfAborted(search.signal);
  const files = paths.map((path, index) => ({ path, modifiedMs: times[index] ?? -Number.MAX_VALUE }));
  files.sort((a, b) => b.modifiedMs - a.modifiedMs);
  files.every(({ path }) => picker.add(path));
  return end;
}

interface FileList {
  readonly args: readonly string[];
  /** Of the time that the search may take. */
  readonly leftMs: number;
  /** Gets paths with a NUL between them. `false`: there is enough. */
  take(paths: string): boolean;
}

/** `undefined` where there is no ripgrep. */
async function listFiles(
  deps: SearchDeps,
  { root, glob, hidden, timeoutMs, signal }: FindSearch,
  { args, leftMs, take }: FileList,
): Promise<RipgrepEnd | undefined> {
  const end = await runRipgrep(deps, {
    root,
    args: ["--files", ...args, ...(hidden ? ["--hidden"] : [])],
    mentioned: mentionedIn(glob),
    timeoutMs: leftMs,
    signal,
    onOutput: wholeTexts(take),
  });
  if (end) checkEnd(end, timeoutMs);
  return end;
}

/** The longest text that is in the name of everything the glob matches. */
function literalOf(glob: string): string {
  // Sets, alternatives, negations and escapes guarantee no literal text.
  if (/[^\w./*?-]/.test(glob)) return "";
  const plain = glob.replace(/\/+$/, "");
  const runs = plain.slice(plain.lastIndexOf("/") + 1).split(/[*?]+/);
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest), "");
}

/**
 * Most paths do not have the glob's literal text, neither in their name nor in a directory's. One search over all paths
 * at once finds those that have it and costs almost nothing. `add` gets them and returns `false` when it has enough.
 */
function pathsWith(literal: string, add: (path: string) => boolean): (paths: string) => boolean {
  return (paths) => {
    let next = 0;
    for (;;) {
      const at = paths.indexOf(literal, next);
      if (at === -1 || next > paths.length) return true;
      const start = at === 0 ? 0 : paths.lastIndexOf("\0", at - 1) + 1;
      const found = paths.indexOf("\0", at);
      const end = found === -1 ? paths.length : found;
      if (!add(toldPath(paths.slice(start, end)))) return false;
      next = end + 1;
    }
  };
}

function checkEnd({ exitCode, problem, stopped }: RipgrepEnd, timeoutMs: number): void {
  if (stopped === "timed_out") throw timedOut(timeoutMs);
  if (stopped === "enough" || exitCode <= 1) return;
  if (problem.trim() !== "" || exitCode > 2)
    throw toolFailure(`The search ended early (code ${exitCode}). ${problem.trim().slice(0, 500)}`.trim());
}

export function timedOut(timeoutMs: number): Error {
  return toolFailure(`find timed out after ${timeoutMs / 1000}s`);
}
