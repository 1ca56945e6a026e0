import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { isHarmlessConfig, readGitDirectory } from "./git-directory.js";

function repository(files: Record<string, string>): string {
  const root = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, name, ".."), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

const plain = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n";

describe("a repository without git", () => {
  it("tells its branch, or the commit that it is at", () => {
    const root = repository({ ".git/HEAD": "ref: refs/heads/feature/a-b\n", ".git/config": plain });
    expect(readGitDirectory(root)).toEqual({ path: join(root, ".git"), head: "feature/a-b", isHarmless: true });
    const detached = repository({ ".git/HEAD": `${"0123456789abcdef".repeat(2)}01234567\n`, ".git/config": plain });
    expect(readGitDirectory(detached)?.head).toBe("0123456789ab");
  });

  it("tells nothing of what is no head, no directory, or not there", () => {
    expect(readGitDirectory(temporaryDirectory())).toBeUndefined();
    for (const head of [
      "",
      "ref: refs/heads/\n",
      "ref: refs/heads/a b\n",
      "ref: refs/heads/a\u001b[2J\n",
      "x".repeat(99_999),
    ])
      expect(readGitDirectory(repository({ ".git/HEAD": head }))).toMatchObject({ head: undefined, isHarmless: false });
    const root = temporaryDirectory();
    mkdirSync(join(root, ".git"));
    execFileSync("mkfifo", [join(root, ".git/HEAD")]);
    symlinkSync("/etc/passwd", join(root, ".git/config"));
    expect(readGitDirectory(root)).toMatchObject({ head: undefined, isHarmless: false });
  });

  it("tells the branch of a linked worktree, whose configuration is not here", () => {
    const root = repository({ "main/wt/HEAD": "ref: refs/heads/topic\n", "tree/.git": "gitdir: ../main/wt\n" });
    expect(readGitDirectory(join(root, "tree"))).toMatchObject({ head: "topic", isHarmless: false });
    const common = repository({ ".git/HEAD": "ref: refs/heads/a\n", ".git/config": plain, ".git/commondir": "../x\n" });
    expect(readGitDirectory(common)).toMatchObject({ head: "a", isHarmless: false });
  });
});

describe("a configuration", () => {
  it.each([
    plain,
    `${plain}# a remark\n[remote "origin"]\n\turl = git@host:a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`,
    `${plain}[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tname = A "B" C\n`,
    `${plain}[submodule "x"]\r\n\tactive = true\r\n[pull]\n\trebase\n`,
  ])("is harmless: %j", (config) => {
    expect(isHarmlessConfig(config)).toBe(true);
  });

  it.each([
    '[filter "x"]\n\tclean = /tmp/evil\n',
    '[filter "x"] clean = /tmp/evil\n',
    "[filter.x]\n\tclean = /tmp/evil\n",
    '[FILTER "x"]\n\tclean = /tmp/evil\n',
    "[core]\n\tfsmonitor = /tmp/evil\n",
    "[core]\n\tworktree = /\n",
    "[core]\n\tattributesFile = x\n",
    "[include]\n\tpath = ../evil\n",
    '[includeIf "gitdir:/"]\n\tpath = ../evil\n',
    "[extensions]\n\tworktreeConfig = true\n",
    '[remote "x"]\n\tpromisor = true\n',
    '[remote "x"]\n\tuploadpack = /tmp/evil\n',
    "[user]\n\tname = a \\\n[core]\n",
    "\ufeff[core]\n\tx\n",
    "name = x\n",
    "[core\n",
    "[user]\n\t1x = y\n",
  ])("is not: %j", (config) => {
    expect(isHarmlessConfig(`${config}${plain}`)).toBe(false);
  });
});
