// What the configuration of a repository names inside the project: directories of hooks, scripts, and further files of
// configuration. Git runs or reads them at the user's next call, so they are protected like `.git/hooks`, and so is what
// links of hooks lead to. The configuration is read as text, within bounds; git is not started on it.

import { type Dirent, existsSync, readdirSync, readlinkSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { readGitText } from "../git-directory.js";
import { isWithin } from "./resolve-path.js";

const maxFiles = 32;

/** Their value is one path. */
const paths = /^(?:core\.(?:hookspath|attributesfile)|init\.templatedir|include\.path|includeif\..*\.path)$/;
/** Their value is a program, or a line for the shell in which one may be named. */
const programs = new RegExp(
  `^(?:${[
    "core\\.(?:fsmonitor|sshcommand|pager|editor|askpass|gitproxy|alternaterefscommand)",
    "sequence\\.editor|diff\\.external|diff\\..*\\.(?:command|textconv)|merge\\..*\\.driver",
    "filter\\..*\\.(?:clean|smudge|process)|(?:difftool|mergetool|guitool|browser|man)\\..*\\.(?:cmd|path)",
    "gpg\\.(?:.*\\.)?program|gpg\\.ssh\\.defaultkeycommand|credential\\.(?:.*\\.)?helper",
    "remote\\..*\\.(?:uploadpack|receivepack)|uploadpack\\.packobjectshook|interactive\\.difffilter",
    "pager\\..*|alias\\..*|trailer\\..*\\.(?:command|cmd)|submodule\\..*\\.update|sendemail\\..*",
  ].join("|")})$`,
);

/**
 * Of the repositories of these working trees, which are canonical: canonical paths below the tree, whether they exist or
 * not. Nothing for what cannot be read.
 */
export function namedByGit(trees: readonly string[], home: string): string[] {
  return trees.flatMap((tree) => {
    const gitDirectories = gitDirectoriesOf(tree);
    if (gitDirectories.length === 0) return [];
    const named = namedIn(tree, { gitDirectories, home });
    const hooks = [...gitDirectories.map((directory) => join(directory, "hooks")), join(tree, ".githooks")];
    const led = [...hooks, join(tree, ".husky"), ...named].flatMap(ledTo);
    return [...new Set([...named, ...led])].filter((path) => isBelow(path, tree));
  });
}

/** Of a linked worktree or a submodule its own, and the one that it shares. They may lie anywhere: they are only read. */
function gitDirectoriesOf(tree: string): string[] {
  const own = join(tree, ".git");
  if (statOf(own)?.isDirectory()) return [own];
  const link = /^gitdir: (.+?)\n*$/.exec(readGitText(own) ?? "")?.[1];
  if (link === undefined) return [];
  const directory = resolve(tree, link);
  const common = /^(.+?)\n*$/.exec(readGitText(join(directory, "commondir")) ?? "")?.[1];
  return [directory, ...(common === undefined ? [] : [resolve(directory, common)])];
}

/** What a link leads to, and the files to which the links in a directory lead: git follows them. */
function ledTo(path: string): string[] {
  const files = linksIn(path).flatMap(targetOf);
  return [...targetOf(path), ...files.filter((target) => !statOf(target)?.isDirectory())];
}

function linksIn(directory: string): string[] {
  let entries: Dirent[] = [];
  try {
    entries = readdirSync(directory, { withFileTypes: true });
  } catch {
    // it is no directory, or cannot be read
  }
  return entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(directory, name));
}

function targetOf(path: string): string[] {
  try {
    const target = canonical(resolve(dirname(path), readlinkSync(path)));
    return [existsSync(target) ? realpathSync.native(target) : target];
  } catch {
    return []; // it is no link
  }
}

function namedIn(
  tree: string,
  { gitDirectories, home }: { gitDirectories: readonly string[]; home: string },
): string[] {
  const found = new Set<string>();
  const waiting = gitDirectories.flatMap((each) => [join(each, "config"), join(each, "config.worktree")]);
  const seen = new Set(waiting);
  for (let next = 0; next < waiting.length && next < maxFiles; next++) {
    const file = waiting[next] as string;
    for (const { key, value } of settingsIn(readGitText(file) ?? "")) {
      const isInclude = key.startsWith("include");
      const base = isInclude ? dirname(file) : tree;
      if (paths.test(key)) {
        const path = resolve(base, value.replace(/^~(?=\/|$)/, home));
        found.add(path);
        if (isInclude && !seen.has(path)) waiting.push(path);
        seen.add(path);
      } else if (programs.test(key)) for (const path of inCommand(value, tree, home)) found.add(path);
    }
  }
  return [...found].map(canonical);
}

/** The paths below the tree in a line for the shell: with a slash, or of a file that is there. */
function inCommand(line: string, tree: string, home: string): string[] {
  const plain = line.replaceAll(/["']/g, "").replaceAll(/(?<![^\s=])~(?=\/)|\$(?:HOME\b|\{HOME\})/g, home);
  const words = plain.replaceAll(/\$\w+/g, " ").split(/[\s;|&()<>`$=!{}]+/);
  return words.flatMap((word) => {
    if (word === "" || word.startsWith("-")) return [];
    // `$(git rev-parse --show-toplevel)/x` and `$PWD/x` leave `/x`.
    const path = isAbsolute(word) && !isBelow(word, tree) ? join(tree, word) : resolve(tree, word);
    const entry = statOf(path);
    const isNamed = entry ? !entry.isDirectory() : word.includes("/") && (!isAbsolute(word) || !existsSync(word));
    return isNamed ? [path] : [];
  });
}

/** Undefined also for links in a circle, and where this user may not look. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The last name as it is: it may be a link, which counts as itself. */
function canonical(path: string): string {
  try {
    return join(realpathSync.native(dirname(path)), basename(path));
  } catch {
    return path; // its directory does not exist
  }
}

function isBelow(path: string, tree: string): boolean {
  return path !== tree && isWithin(path, tree);
}

/** Git's own syntax: quotes, escapes, comments, lines that go on. Keys are in lower case. */
function* settingsIn(text: string): Generator<{ readonly key: string; readonly value: string }> {
  let section = "";
  for (const line of text
    .replace(/^\ufeff/, "")
    .replace(/\r\n/g, "\n")
    .replace(/\\\n/g, "")
    .split("\n")) {
    const head = /^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
    if (head) section = [head[1], head[2]].filter((name) => name !== undefined).join(".");
    const rest = head ? line.slice(head[0].length) : line;
    const [, name, value = ""] = /^\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$/.exec(rest) ?? [];
    if (name !== undefined) yield { key: `${section}.${name}`.toLowerCase(), value: settingOf(value) };
  }
}

function settingOf(text: string): string {
  let value = "";
  let isQuoted = false;
  for (const [part] of text.matchAll(/\\.|[\s\S]/g)) {
    if (part === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (part === "#" || part === ";")) break;
    else value += part.length === 2 ? (part[1] ?? "").replace(/[ntb]/, " ") : part;
  }
  return value.trim();
}
