import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { commonGitDirectory } from "../../files/git-worktree.js";
import { findProtected } from "./protected-places.js";

const identity = ["-c", "user.name=T", "-c", "user.email=t@example.invalid"];

function git(cwd: string, ...args: string[]): void {
  execFileSync("git", [...identity, ...args], { cwd, stdio: "ignore" });
}

/** Relative to the root. */
function find(root: string, { cwd = root, home = "/nowhere", stubsInUse = new Set<string>() } = {}) {
  const found = findProtected({ roots: [root], gitDirectories: [], cwd, home, stubsInUse });
  const show = (paths: readonly string[]) => paths.map((path) => relative(root, path)).sort();
  return {
    readOnly: show(found.readOnly),
    pinned: show(found.pinned),
    stubs: show(found.stubs),
    watched: show(found.watched.map(({ path }) => path)),
    repositories: show(found.repositories),
  };
}

test("an empty project: directories are covered, files are watched, a repository may be made", () => {
  expect(find(temporaryDirectory())).toEqual({
    readOnly: [],
    pinned: [],
    stubs: [".galley", ".idea", ".vscode"],
    watched: [".envrc", ".githooks", ".gitmodules", ".husky", ".mcp.json", ".omp", ".pi", ".xcsh"],
    repositories: [".git"],
  });
});

test("a repository: what decides which programs run is read-only, and .git cannot be renamed", () => {
  const root = temporaryDirectory();
  git(root, "init", "-q");
  for (const name of [".vscode", ".pi"]) mkdirSync(join(root, name));
  writeFileSync(join(root, ".envrc"), "");
  expect(find(root)).toMatchObject({
    readOnly: [".envrc", ".git/config", ".git/hooks", ".git/info", ".pi", ".vscode"],
    pinned: [".git"],
    stubs: [".galley", ".git/modules", ".idea"],
    repositories: [],
  });
});

test("the directories down to the working directory are watched too", () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, "a/b/.vscode"), { recursive: true });
  const { readOnly, watched, repositories } = find(root, { cwd: join(root, "a/b") });
  expect(readOnly).toEqual(["a/b/.vscode"]);
  expect(watched).toContain("a/.galley");
  expect(repositories).toEqual([".git", "a/.git", "a/b/.git"]);
});

test("a link is watched, and what it leads to in the project is read-only", () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, "shared"));
  symlinkSync("shared", join(root, ".vscode"));
  symlinkSync("/etc", join(root, ".idea"));
  const { readOnly, watched, stubs } = find(root);
  expect(readOnly).toEqual(["shared"]);
  expect(watched).toEqual(expect.arrayContaining([".vscode", ".idea"]));
  expect(stubs).toEqual([".galley"]);
});

test("the stub of another command is a stub, not a directory of the user's", () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, ".idea"));
  expect(find(root, { stubsInUse: new Set([join(root, ".idea")]) }).stubs).toContain(".idea");
});

test("a home that the user made writable keeps its start files", () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, ".config/fish"), { recursive: true });
  writeFileSync(join(root, ".bashrc"), "");
  const { readOnly, pinned, watched } = find(root, { home: root });
  expect(readOnly).toEqual([".bashrc", ".config/fish"]);
  expect(pinned).toEqual([".config"]);
  expect(watched).toEqual(expect.arrayContaining([".ssh", ".zshrc", ".config/autostart"]));
});

test("a linked worktree has its common directory if both point at each other", () => {
  const directory = temporaryDirectory();
  const main = join(directory, "main");
  const linked = join(directory, "linked");
  mkdirSync(main);
  git(main, "init", "-q");
  git(main, "commit", "-q", "--allow-empty", "-m", "x");
  git(main, "worktree", "add", "-q", linked);
  expect(commonGitDirectory(linked)).toBe(join(main, ".git"));
  expect(commonGitDirectory(main)).toBeUndefined();
  const found = findProtected({
    ...{ roots: [linked], gitDirectories: [join(main, ".git")], cwd: linked, home: "/nowhere", stubsInUse: new Set() },
  });
  expect(found.readOnly).toEqual(
    expect.arrayContaining([
      join(linked, ".git"),
      join(main, ".git/hooks"),
      join(main, ".git/worktrees/linked/gitdir"),
    ]),
  );
  expect(found.pinned).toContain(join(main, ".git/worktrees/linked"));
  // A project that names a repository which does not know it gets nothing.
  const liar = join(directory, "liar");
  mkdirSync(liar);
  writeFileSync(join(liar, ".git"), `gitdir: ${join(main, ".git/worktrees/linked")}\n`);
  expect(commonGitDirectory(liar)).toBeUndefined();
  writeFileSync(join(liar, ".git"), `gitdir: ${join(main, ".git")}\n`);
  expect(commonGitDirectory(liar)).toBeUndefined();
});
