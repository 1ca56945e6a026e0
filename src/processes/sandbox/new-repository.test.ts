import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { cleanConfig, cleanNewRepository } from "./new-repository.js";

test("what git writes for a new repository stays as it is", () => {
  const config = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	logallrefupdates = true
[user]
	name = A
[remote "origin"]
	url = https://example.invalid/x.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
	remote = origin
	merge = refs/heads/main
`;
  expect(cleanConfig(config)).toEqual({ text: config, removed: [] });
});

test.each([
  ["[core]\n\tfsmonitor = evil\n", "core.fsmonitor"],
  ["[core]\n\thooksPath = /x\n", "core.hooksPath"],
  ["[alias]\n\tx = !evil\n", "alias.x"],
  ["[include]\n\tpath = /x\n", "include.path"],
  ['[remote "o"]\n\tuploadpack = evil\n', "remote.uploadpack"],
  ["[remote.o]\n\turl = x\n", "remote.o.url"],
  ["[user]\n\tname = a\\\n[alias] x = !evil\n", "a line"],
  ["[user] name = a\n", "a line"],
  ["key = x\n", ".key"],
])("a setting that could run something is taken out: %j", (config, removed) => {
  const cleaned = cleanConfig(config);
  expect(cleaned.removed[0]).toBe(removed);
  expect(cleaned.text).not.toMatch(/evil|=/);
});

test("hooks but samples, modules and pointers are taken out of a new repository", () => {
  const git = join(temporaryDirectory(), ".git");
  mkdirSync(join(git, "hooks"), { recursive: true });
  mkdirSync(join(git, "modules/x"), { recursive: true });
  writeFileSync(join(git, "hooks/pre-commit"), "evil");
  writeFileSync(join(git, "hooks/pre-commit.sample"), "");
  writeFileSync(join(git, "commondir"), "/x");
  writeFileSync(join(git, "config"), "[core]\n\tbare = false\n\tpager = evil\n");
  expect(cleanNewRepository(git)).toEqual([
    ".git/hooks/pre-commit",
    ".git/modules",
    ".git/commondir",
    "core.pager in .git/config",
  ]);
  expect(readdirSync(git).sort()).toEqual(["config", "hooks"]);
  expect(readdirSync(join(git, "hooks"))).toEqual(["pre-commit.sample"]);
  expect(readFileSync(join(git, "config"), "utf8")).toBe("[core]\n\tbare = false\n");
});

test("a configuration or a repository that is a link is taken away, and nothing behind it is touched", () => {
  const directory = temporaryDirectory();
  const target = join(directory, "target");
  writeFileSync(target, "[alias]\n\tx = !evil\n");
  mkdirSync(join(directory, ".git"));
  symlinkSync(target, join(directory, ".git/config"));
  expect(cleanNewRepository(join(directory, ".git"))).toEqual([".git/config"]);
  symlinkSync(directory, join(directory, "link"));
  expect(cleanNewRepository(join(directory, "link"))).toEqual([".git"]);
  expect(readdirSync(directory).sort()).toEqual([".git", "target"]);
  expect(readFileSync(target, "utf8")).toMatch(/evil/);
  expect(cleanNewRepository(join(directory, "missing"))).toEqual([]);
});
