// Searches the paths below a directory, newest first. ripgrep lists only files: a directory is reported if it holds a
// file that a search would see, at the position of the newest one.

import { join } from "node:path";
import { linkAbort, throwIfAborted } from "../../base/abort.js";
import { GalleyError } from "../../base/errors.js";
import { isWithin, shownBelow } from "../../files/paths/resolve-path.js";
import type { Target, Workspace } from "../../files/workspace.js";
import { count } from "../output/text.js";
import { PathPicker } from "./find-picker.js";
import { type FindSearch, listWithRipgrep, timedOut } from "./find-ripgrep.js";
import { compileGlob } from "./glob.js";
import { mentionedIn, type SearchDeps } from "./ripgrep.js";

const maxWalked = 50_000;
const checkedAtOnce = 32;

/** At most `limit` shown paths, directories with a `/` at the end, and what there is to say. */
export async function findPaths(deps: SearchDeps, search: FindSearch): Promise<{ paths: string[]; remarks: string[] }> {
  const { root, glob, limit } = search;
  const picker = new PathPicker(await compile(glob), { onlyDirectories: glob.endsWith("/"), limit });
  const isBelowCwd = isInSession(deps.unattended, root);
  const isPartial = (await listWithRipgrep(deps, search, picker)) ?? (await listByWalking(deps, search, picker));
  // Below the session's directory every name may be shown; elsewhere a file may belong to another user.
  const { allowed, refusedCount } = (await isBelowCwd)
    ? { allowed: picker.picked, refusedCount: 0 }
    : await withoutRefused(deps.unattended, root, picker.picked);
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

async function listByWalking(
  { workspace }: SearchDeps,
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

/** Called while the search runs. A failure means no. */
async function isInSession(workspace: Workspace, root: Target): Promise<boolean> {
  const cwd = await workspace.resolveCwd().catch(() => undefined);
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
