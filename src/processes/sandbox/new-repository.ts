// A repository that a confined command made is kept, without what would run programs later outside of the sandbox: hooks,
// and settings besides those that git itself writes.

import { lstatSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readGitText } from "../../files/git-directory.js";

/** What git writes for a new repository, a branch, a remote and a name. */
const allowedSections = /^(?:user|branch|remote)$/i;
const allowedKeys =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)|extensions\.(?:objectformat|refstorage))$/i;
/** Settings of a remote that name a program. */
const startsProgram = /^(?:uploadpack|receivepack|vcs|promisor|partialclonefilter)$/i;

/** `path` is the `.git` that was not there before. Answers what was taken out, relative to the project. */
export function cleanNewRepository(path: string): string[] {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return [];
  if (!entry.isDirectory()) {
    rmSync(path, { force: true }); // a link or a pointer to a repository that may be anything
    return [".git"];
  }
  const removed: string[] = [];
  const remove = (...names: string[]) => {
    if (lstatSync(join(path, ...names), { throwIfNoEntry: false }) === undefined) return;
    rmSync(join(path, ...names), { recursive: true, force: true });
    removed.push([".git", ...names].join("/"));
  };
  const hooks = lstatSync(join(path, "hooks"), { throwIfNoEntry: false });
  if (hooks?.isDirectory()) {
    for (const name of readdirSync(join(path, "hooks"))) if (!name.endsWith(".sample")) remove("hooks", name);
  } else remove("hooks");
  remove("modules");
  remove("config.worktree");
  remove("commondir");
  const config = readGitText(join(path, "config"));
  if (config === undefined) remove("config");
  else {
    const cleaned = cleanConfig(config);
    if (cleaned.removed.length > 0) {
      rmSync(join(path, "config"));
      writeFileSync(join(path, "config"), cleaned.text, { flag: "wx" });
    }
    removed.push(...cleaned.removed.map((key) => `${key} in .git/config`));
  }
  return removed;
}

/** Strict: a line that is not understood here could be understood by git, so it goes. */
export function cleanConfig(config: string): { readonly text: string; readonly removed: readonly string[] } {
  const kept: string[] = [];
  const removed: string[] = [];
  let section: string | undefined;
  for (const line of config.split("\n")) {
    const text = line.trim();
    if (text === "") continue;
    const [, name] = /^\[([A-Za-z0-9.-]+)(?:[ \t]+"(?:[^"\\]|\\.)*")?\]$/.exec(text) ?? [];
    if (name !== undefined) {
      section = name.toLowerCase();
      kept.push(line);
      continue;
    }
    const [, key] = /^([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[^\\]*)?$/.exec(text) ?? [];
    if (key !== undefined && section !== undefined && isAllowed(section, key)) kept.push(line);
    else if (!/^[#;]/.test(text)) removed.push(key === undefined ? "a line" : `${section ?? ""}.${key}`);
  }
  return { text: kept.map((line) => `${line}\n`).join(""), removed };
}

function isAllowed(section: string, key: string): boolean {
  if (startsProgram.test(key)) return false;
  return allowedSections.test(section) || allowedKeys.test(`${section}.${key}`);
}
