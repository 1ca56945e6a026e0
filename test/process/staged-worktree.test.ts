// Staged commands in a linked git worktree: what git writes in the repository that the worktree belongs to is staged with
// the rest, applied, undone, and gone after a discard. With the built program, as root and as an ordinary user.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { diskTree } from "../kit/disk-tree.js";
import { ensureBuilt } from "../kit/rpc-host.js";
import { sandboxAbility } from "../kit/sandbox-rig.js";
import { openDirectory } from "../kit/temporary-directory.js";
import { actAs, noOrdinaryUser, users } from "../kit/two-users.js";

await ensureBuilt();
const { noView } = sandboxAbility();
if (noView !== undefined) it.skip(`skipped: commands cannot be staged here: ${noView}`, () => {});
if (noOrdinaryUser !== undefined) it.skip(`skipped: as an ordinary user, because ${noOrdinaryUser}`, () => {});

beforeAll(ensureBuilt, 150_000);

const test = it.skipIf(noView !== undefined);
const gitEnvironment = { PATH: process.env.PATH, HOME: "/nonexistent" };
const commit = "echo two >> file.txt && git add -A && git commit -qm second";

describe.each(users)("in a linked worktree, as %s", (user) => {
  function rig() {
    const top = openDirectory();
    const [home, main, cwd] = ["home", "main", "side"].map((name) => join(top, name)) as [string, string, string];
    for (const path of [home, main]) mkdirSync(path);
    writeFileSync(join(main, "file.txt"), "one\n");
    const make = (...args: string[]) => execFileSync("git", args, { cwd: main, env: gitEnvironment });
    make("init", "-q", "-b", "main", ".");
    for (const [key, value] of [
      ["user.email", "a@example.com"],
      ["user.name", "A"],
      ["gc.auto", "0"],
    ] as const)
      make("config", key, value);
    make("add", "-A");
    make("commit", "-qm", "first");
    make("worktree", "add", "-q", "-b", "side", "../side");
    const acting = actAs(user, { top, home });
    const galley = (...args: string[]) => acting.galley(args, cwd);
    const git = (...args: string[]) => acting.start(["git", ...args], cwd);
    const both = (options = {}) => [main, cwd].map((root) => diskTree(root, options));
    return { main, cwd, galley, git, both };
  }

  test("a commit is staged, applied and undone", async () => {
    const { main, cwd, galley, git, both } = rig();
    await git("status"); // brings the index up to date
    const [before, plain] = [both({ withTimes: true }), both()];
    const first = (await git("rev-parse", "HEAD")).stdout;

    const staged = await galley("exec", "--stage", "--", "sh", "-c", commit);
    expect(staged.stderr).toMatch(/^Staged as pa_1 – not written yet: /);
    expect(staged.stderr).toMatch(/git: side [0-9a-f]{7} → [0-9a-f]{7}, 3 objects, index/);
    expect([staged.code, staged.stdout]).toEqual([0, ""]);
    expect(both({ withTimes: true })).toEqual(before);

    const seen = await galley("exec", "--stage", "--", "git", "log", "--format=%s");
    expect([seen.code, seen.stdout]).toEqual([0, "second\nfirst\n"]);
    expect(both({ withTimes: true })).toEqual(before);

    expect(await galley("apply", "1")).toMatchObject({ code: 0, stderr: "" });
    expect((await git("log", "--format=%s")).stdout).toBe("second\nfirst\n");
    expect((await git("--no-optional-locks", "status", "--porcelain", "--branch")).stdout).toBe("## side\n");
    expect(await git("fsck", "--strict")).toMatchObject({ code: 0 });
    expect((await git("-C", main, "log", "--format=%s", "main")).stdout).toBe("first\n");
    expect(readFileSync(join(cwd, "file.txt"), "utf8")).toBe("one\ntwo\n");

    expect(await galley("undo")).toMatchObject({ code: 0, stderr: "" });
    expect(both()).toEqual(plain);
    expect((await git("rev-parse", "HEAD")).stdout).toBe(first);
    expect(await git("fsck", "--strict")).toMatchObject({ code: 0 });
  });

  test("a discard moves nothing, and what decides about programs needs the user's word", async () => {
    const { main, galley, both } = rig();
    const before = both({ withTimes: true });
    await galley("exec", "--stage", "--", "sh", "-c", commit);
    expect((await galley("discard", "1")).code).toBe(0);
    expect(both({ withTimes: true })).toEqual(before);

    const hook = `git config core.pager ./evil && printf '#!/bin/sh\\n' > "$(git rev-parse --git-common-dir)/hooks/pre-commit"`;
    const staged = await galley("exec", "--stage", "--", "sh", "-c", hook);
    expect([staged.code, staged.stdout]).toEqual([0, ""]);
    const refused = await galley("apply", "--all");
    expect([refused.code, refused.stdout]).toEqual([6, ""]);
    expect(refused.stderr).toContain(".git/hooks/pre-commit");
    expect(both({ withTimes: true })).toEqual(before);
    expect((await galley("apply", "2", "--protected")).code).toBe(0);
    expect(readFileSync(join(main, ".git/hooks/pre-commit"), "utf8")).toBe("#!/bin/sh\n");
  });

  test("a project cannot choose the place: a repository that does not point back stays as it is", async () => {
    const { main, cwd, galley, both } = rig();
    writeFileSync(join(main, ".git/worktrees/side/gitdir"), `${join(cwd, "../elsewhere/.git")}\n`);
    const before = both({ withTimes: true });
    const tried = await galley("exec", "--stage", "--", "sh", "-c", `echo x > '${main}/.git/x'`);
    expect(tried.code).not.toBe(0);
    expect(tried.stderr).toContain("No files changed.");
    expect(both({ withTimes: true })).toEqual(before);
  });

  test("what was staged for a repository is not applied once that no longer points back", async () => {
    const { main, cwd, galley, both } = rig();
    await galley("exec", "--stage", "--", "sh", "-c", commit);
    writeFileSync(join(main, ".git/worktrees/side/gitdir"), `${join(cwd, "../elsewhere/.git")}\n`);
    const before = both({ withTimes: true });
    expect((await galley("apply", "1")).code).not.toBe(0);
    expect(both({ withTimes: true })).toEqual(before);
  });
});
