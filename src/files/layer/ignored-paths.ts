// Which changed paths the repository ignores. Git is asked, in the view, with a repository of ours that has the project's
// index and excludes but nothing of its configuration, which could name programs. Where git has no answer, the
// `.gitignore` files are read here; then a tracked file that matches one counts as ignored, too.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { quietGit, readGitDirectory } from "../git-directory.js";
import { commonGitDirectory } from "../git-worktree.js";
import { isInGit } from "../paths/git-data.js";
import { type IgnoreRules, isIgnored, type RulesDisk, readIgnoreRules } from "../walk/ignore-rules.js";
import { bytesAt, entryAt } from "./layer-entries.js";
import type { RunInView } from "./view-programs.js";

export interface AskedPath {
  /** Below the root. */
  readonly name: string;
  readonly isDirectory: boolean;
}

export interface IgnoredPaths {
  ask(paths: readonly AskedPath[]): Promise<ReadonlySet<string>>;
}

export interface IgnoredOptions {
  readonly root: string;
  /** The root in the namespace of the holder. */
  readonly merged: string;
  readonly holder: number;
  /** A directory of the layer for the repository that git is given. */
  readonly gitDir: string;
  readonly runInView: RunInView;
}

const timeoutMs = 5000;
const maxExcludeBytes = 256 * 1024;
const environment = { ...quietGit, GIT_ALLOW_PROTOCOL: "none" };

export function createIgnoredPaths(options: IgnoredOptions): IgnoredPaths {
  const rules = createRules(options.merged);
  let index: string | undefined | false = false;
  return {
    async ask(paths) {
      // Git ignores nothing in a repository's own directory.
      const asked = paths.filter(({ name }) => !isInGit(join(options.root, name)));
      if (asked.length === 0) return new Set();
      if (index === false) index = prepareRepository(options);
      const answer = index === undefined ? undefined : await askGit(options, index, asked);
      return answer ?? rules(asked);
    },
  };
}

/** Answers the path of the project's index, in the view; undefined where the root is no repository. */
function prepareRepository({ root, merged, gitDir }: IgnoredOptions): string | undefined {
  const found = readGitDirectory(merged);
  if (!found) return undefined;
  const isLinked = found.path !== join(merged, ".git");
  mkdirSync(join(gitDir, "objects"), { recursive: true });
  mkdirSync(join(gitDir, "refs"), { recursive: true });
  mkdirSync(join(gitDir, "info"), { recursive: true });
  writeFileSync(join(gitDir, "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(gitDir, "config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n");
  const excludes = isLinked ? commonGitDirectory(root) : join(merged, ".git");
  writeFileSync(join(gitDir, "info/exclude"), excludes === undefined ? "" : excludesIn(join(excludes, "info/exclude")));
  return join(isLinked ? found.path : join(root, ".git"), "index");
}

function excludesIn(path: string): Uint8Array {
  try {
    return bytesAt(path, maxExcludeBytes) ?? new Uint8Array();
  } catch {
    return new Uint8Array(); // there is none, or none that can be read
  }
}

async function askGit(
  { root, holder, gitDir, runInView }: IgnoredOptions,
  index: string,
  asked: readonly AskedPath[],
): Promise<Set<string> | undefined> {
  // Without the final slash a rule such as `build/` would not match; without the first one a colon would mean something.
  const input = asked.map(({ name, isDirectory }) => `./${name}${isDirectory ? "/" : ""}\0`).join("");
  const args = [
    ...[`--git-dir=${gitDir}`, `--work-tree=${root}`, "--no-pager"],
    ...["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"],
    ...["check-ignore", "-z", "--stdin"],
  ];
  const env = { ...environment, GIT_INDEX_FILE: index };
  const request = { holder, cwd: root, file: "git", args, env, input: Buffer.from(input), timeoutMs };
  const answer = await runInView(request).catch(() => undefined); // no git, or none that answers in time
  if (!answer || (answer.exitCode !== 0 && answer.exitCode !== 1)) return undefined;
  const names = Buffer.from(answer.stdout).toString("utf8").split("\0").slice(0, -1);
  return new Set(names.map((name) => name.slice(2).replace(/\/$/, "")));
}

/** By the `.gitignore` files of the view. */
function createRules(merged: string): (asked: readonly AskedPath[]) => Promise<Set<string>> {
  const known = new Map<string, Promise<IgnoreRules | undefined>>();
  const rulesIn = (directory: string) => {
    const found = known.get(directory) ?? readIgnoreRules(disk, directory);
    known.set(directory, found);
    return found;
  };
  return async (asked) => {
    const ignored = new Set<string>();
    for (const { name, isDirectory } of asked) {
      const rules: IgnoreRules[] = [];
      for (const directory of directoriesAbove(name)) {
        const found = await rulesIn(join(merged, directory));
        if (found) rules.push(found);
      }
      if (isIgnored(join(merged, name), isDirectory, rules)) ignored.add(name);
    }
    return ignored;
  };
}

/** `a/b/c`: the root, `a`, `a/b`. */
function directoriesAbove(name: string): string[] {
  const above: string[] = [];
  for (let at = dirname(name); at !== "."; at = dirname(at)) above.unshift(at);
  return [".", ...above];
}

const disk: RulesDisk = {
  async lstat(path) {
    const kind = entryAt(path)?.kind;
    return { kind: kind === "symlink" ? "link" : (kind ?? "special"), identity: path };
  },
  async read(path, _identity, { maxBytes }) {
    const bytes = bytesAt(path, maxBytes);
    return bytes && { bytes, isTruncated: false };
  },
};
