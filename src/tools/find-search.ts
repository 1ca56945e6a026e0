// Looks through the paths below a directory, newest first. ripgrep lists files alone: a directory is told where it holds
// a file that a search would see, in the place of the newest one.

import { join } from "node:path";
import { linkAbort, throwIfAborted } from "../base/abort.js";
import type { Clock } from "../base/clock.js";
import { GalleyError } from "../base/errors.js";
import { isWithin, shownBelow } from "../workspace/resolve-path.js";
import { isTempName } from "../workspace/temp-names.js";
import type { Target, Workspace } from "../workspace/workspace.js";
import { compileGlob } from "./glob.js";
import { count } from "./output-text.js";
import { mentionedIn, type RipgrepEnd, runRipgrep, type SearchParts, toldPath, wholeTexts } from "./ripgrep.js";
import { toolFailure } from "./tool.js";

const maxDirectories = 200_000;
const maxWalked = 50_000;
const checkedAtOnce = 32;

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

/** At most `limit` shown paths, directories with a `/` at the end, and what there is to say. */
export async function findPaths(
  parts: SearchParts,
  search: FindSearch,
): Promise<{ paths: string[]; remarks: string[] }> {
  const { root, glob, limit } = search;
  const picker = new PathPicker(await compile(glob), {
    literal: literalOf(glob),
    onlyDirectories: glob.endsWith("/"),
    limit,
  });
  const isBelowCwd = isInSession(parts.unattended, root);
  const isPartial = (await listWithRipgrep(parts, search, picker)) ?? (await listByWalking(parts, search, picker));
  // Below the session's directory every name may be told; elsewhere lie other people's files.
  const { allowed, refusedCount } = (await isBelowCwd)
    ? { allowed: picker.picked, refusedCount: 0 }
    : await withoutRefused(parts.unattended, root, picker.picked);
  const remarks: string[] = [];
  if (refusedCount > 0) remarks.push(`${count(refusedCount, "result")} left out: not allowed to be read`);
  if (isPartial || picker.isOverfull) remarks.push("Some directories could not be searched");
  return { paths: allowed.map((path) => shownBelow(root.displayPath, path)), remarks };
}

/** A name at any depth is compared as a name: whole paths take several times as long. */
async function compile(glob: string): Promise<(path: string) => boolean> {
  const plain = glob.replace(/\/+$/, "");
  if (plain === "**/*" || plain === "**") return () => true;
  const name = plain.startsWith("**/") ? plain.slice(3) : "";
  const isName = name !== "" && !name.includes("/") && !name.includes("**");
  const matches = await compileGlob(isName ? name : plain, { anyDepth: false });
  return (path) => matches(isName ? path.slice(path.lastIndexOf("/") + 1) : path);
}

/** The longest text that is in the name of everything the glob matches. */
function literalOf(glob: string): string {
  // Sets, alternatives, negations and escapes promise nothing.
  if (/[^\w./*?-]/.test(glob)) return "";
  const plain = glob.replace(/\/+$/, "");
  const runs = plain.slice(plain.lastIndexOf("/") + 1).split(/[*?]+/);
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest), "");
}

interface PickerOptions {
  /** In every path that can matter. */
  readonly literal: string;
  readonly onlyDirectories: boolean;
  readonly limit: number;
}

/** Takes files one by one and picks them, and the directories they are the first to show, by the glob. */
class PathPicker {
  readonly picked: string[] = [];
  readonly #seen = new Set<string>([""]);
  readonly #matches: (path: string) => boolean;
  readonly #options: PickerOptions;

  constructor(matches: (path: string) => boolean, options: PickerOptions) {
    this.#matches = matches;
    this.#options = options;
  }

  get isOverfull(): boolean {
    return this.#seen.size > maxDirectories;
  }

  /**
   * Takes paths with a NUL between them. Most lack what the glob says literally, in their own name and in those of their
   * directories: looked for in all of them at once, that costs next to nothing. `false`: there is enough.
   */
  addAll(paths: string): boolean {
    const { literal } = this.#options;
    let next = 0;
    for (;;) {
      const at = paths.indexOf(literal, next);
      if (at === -1 || next > paths.length) return true;
      const start = at === 0 ? 0 : paths.lastIndexOf("\0", at - 1) + 1;
      const found = paths.indexOf("\0", at);
      const end = found === -1 ? paths.length : found;
      if (!this.add(toldPath(paths.slice(start, end)))) return false;
      next = end + 1;
    }
  }

  /** `false`: there is enough. */
  add(file: string): boolean {
    const slash = file.lastIndexOf("/");
    if (slash !== -1) this.#addDirectories(file.slice(0, slash));
    if (!this.#options.onlyDirectories && this.#matches(file) && !isTempName(file.slice(slash + 1)))
      this.picked.push(file);
    return this.picked.length < this.#options.limit && !this.isOverfull;
  }

  /** From the outermost; one that is known has all of its parents known. */
  #addDirectories(directory: string): void {
    if (this.#seen.has(directory)) return;
    const fresh: string[] = [];
    for (let path = directory; !this.#seen.has(path); path = parentOf(path)) fresh.push(path);
    for (const path of fresh.reverse()) {
      this.#seen.add(path);
      if (this.#matches(path)) this.picked.push(`${path}/`);
    }
  }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0));
}

/** Whether something could not be listed; undefined where there is no ripgrep. */
async function listWithRipgrep(
  parts: SearchParts,
  { root, glob, hidden, timeoutMs, signal }: FindSearch,
  picker: PathPicker,
): Promise<boolean | undefined> {
  const end = await runRipgrep(parts, {
    root,
    args: ["--files", "--sortr=modified", ...(hidden ? ["--hidden"] : [])],
    mentioned: mentionedIn(glob),
    timeoutMs,
    signal,
    onOutput: wholeTexts((paths) => picker.addAll(paths)),
  });
  if (end) checkEnd(end, timeoutMs);
  return end && end.exitCode === 2;
}

function checkEnd({ exitCode, problem, stopped }: RipgrepEnd, timeoutMs: number): void {
  if (stopped === "timed_out") throw timedOut(timeoutMs);
  if (stopped === "enough" || exitCode <= 1) return;
  if (problem.trim() !== "" || exitCode > 2)
    throw toolFailure(`The search ended early (code ${exitCode}). ${problem.trim().slice(0, 500)}`.trim());
}

async function listByWalking(
  { workspace }: SearchParts,
  { root, glob, hidden, timeoutMs, clock, signal }: FindSearch,
  picker: PathPicker,
): Promise<boolean> {
  const files: { path: string; modifiedMs: number }[] = [];
  const stop = linkAbort(signal);
  const cancel = clock.after(timeoutMs, () => stop.abort());
  let isPartial = false;
  try {
    const walk = workspace.walk(root, {
      signal: stop.signal,
      mentioned: mentionedIn(glob),
      include: (path) => hidden || !/(?:^|\/)\./.test(path),
      onUnreadable: () => {
        isPartial = true;
      },
    });
    for await (const target of walk) {
      const stat = await workspace.stat(target).catch(() => undefined); // gone meanwhile
      if (stat) files.push({ path: target.path.slice(root.path.length + 1), modifiedMs: stat.modifiedMs });
      if (files.length < maxWalked) continue;
      isPartial = true;
      break;
    }
  } catch (error) {
    throwIfAborted(signal);
    throw stop.signal.aborted ? timedOut(timeoutMs) : error;
  } finally {
    cancel();
    stop.release();
  }
  files.sort((a, b) => b.modifiedMs - a.modifiedMs);
  files.every(({ path }) => picker.add(path));
  return isPartial;
}

function timedOut(timeoutMs: number): Error {
  return toolFailure(`find timed out after ${timeoutMs / 1000}s`);
}

/** Asked while the search runs. Whoever cannot tell says no. */
async function isInSession(workspace: Workspace, root: Target): Promise<boolean> {
  const cwd = await workspace.resolve(".", "read").catch(() => undefined);
  return cwd !== undefined && isWithin(root.path, cwd.path);
}

async function withoutRefused(
  workspace: Workspace,
  root: Target,
  paths: readonly string[],
): Promise<{ allowed: string[]; refusedCount: number }> {
  const allowed: string[] = [];
  for (let from = 0; from < paths.length; from += checkedAtOnce) {
    const some = paths.slice(from, from + checkedAtOnce);
    const verdicts = await Promise.all(some.map((path) => isAllowed(workspace, join(root.path, path))));
    allowed.push(...some.filter((_, index) => verdicts[index]));
  }
  return { allowed, refusedCount: paths.length - allowed.length };
}

async function isAllowed(workspace: Workspace, path: string): Promise<boolean> {
  try {
    await workspace.resolve(path, "read");
    return true;
  } catch (error) {
    if (error instanceof GalleyError) return false;
    throw error;
  }
}
