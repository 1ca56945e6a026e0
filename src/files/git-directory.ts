// A repository as its files tell it, without running git: the branch, and whether git may be asked about it. The `.git`
// directory belongs to the project, and its configuration can name programs that git would start.

import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";

export interface GitDirectory {
  readonly path: string;
  /** The branch, or the commit of a detached head; undefined if neither can be told. */
  readonly head: string | undefined;
  /** Its configuration is all here and starts no program. */
  readonly isHarmless: boolean;
}

const maxConfigBytes = 256 * 1024;

/** For git as a reader: only the project's own configuration counts, and nothing is written, asked or fetched. */
export const quietGit = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1",
};

/** Undefined where there is none that can be read. `root`: the directory with `.git`. */
export function readGitDirectory(root: string): GitDirectory | undefined {
  const marker = join(root, ".git");
  if (lstatSync(marker, { throwIfNoEntry: false })?.isDirectory() ?? false) {
    // With a `commondir` the configuration lies elsewhere.
    const config =
      readGitText(join(marker, "commondir")) === undefined ? readGitText(join(marker, "config")) : undefined;
    return { path: marker, head: headIn(marker), isHarmless: config !== undefined && isHarmlessConfig(config) };
  }
  // A linked worktree: its branch is told, but git is not asked with a configuration that lies elsewhere.
  const [, link] = /^gitdir: (.+)\n?$/.exec(readGitText(marker) ?? "") ?? [];
  if (link === undefined) return undefined;
  const path = isAbsolute(link) ? link : resolve(root, link);
  return { path, head: headIn(path), isHarmless: false };
}

function headIn(directory: string): string | undefined {
  const text = readGitText(join(directory, "HEAD")) ?? "";
  const [, branch] = /^ref: refs\/heads\/([^\s\p{Cc}]+)\n?$/u.exec(text) ?? [];
  return branch ?? /^([0-9a-f]{12})[0-9a-f]{28,52}\n?$/.exec(text)?.[1];
}

/** Sections, and keys of `core`, that start nothing and lead nowhere. What is not on the lists is not harmless. */
const harmlessSections =
  /^(?:advice|branch|color|commit|fetch|gc|init|merge|pull|push|rebase|remote|submodule|tag|user)$/i;
const harmlessCore =
  /^(?:abbrev|autocrlf|bare|eol|filemode|ignorecase|logallrefupdates|longpaths|precomposeunicode|quotepath|repositoryformatversion|safecrlf|symlinks)$/i;
/** A missing object would be fetched, by a program that the remote names. */
const fetching = /^(?:promisor|partialclonefilter|uploadpack|vcs)$/i;

/** Strict: a line that is not understood could be understood by git. */
export function isHarmlessConfig(config: string): boolean {
  let section = "";
  for (const line of config.split("\n").map((text) => text.trim())) {
    if (line === "" || /^[#;]/.test(line)) continue;
    const header = /^\[([A-Za-z0-9-]+)(?: +"(?:[^"\\]|\\.)*")?\]$/.exec(line);
    if (header) {
      section = header[1] as string;
      if (!harmlessSections.test(section) && section.toLowerCase() !== "core") return false;
      continue;
    }
    const [, key] = /^([A-Za-z][A-Za-z0-9-]*) *(?:=.*)?$/.exec(line) ?? [];
    if (key === undefined || section === "" || line.endsWith("\\") || fetching.test(key)) return false;
    if (section.toLowerCase() === "core" && !harmlessCore.test(key)) return false;
  }
  return true;
}

/** Undefined for what is no regular file, too long or unreadable. A pipe in its place does not block. */
export function readGitText(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const bytes = Buffer.alloc(maxConfigBytes + 1);
    const length = fstatSync(file).isFile() ? readSync(file, bytes) : bytes.length;
    return length > maxConfigBytes ? undefined : bytes.toString("utf8", 0, length);
  } catch {
    return undefined; // nothing can be told of it
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
