import { describe, expect, it } from "vitest";
import { isGitData } from "./git-data.js";

describe("git's own data", () => {
  it("is what git writes when it commits, merges, stashes and packs", () => {
    const ways = [
      ...[
        "objects/aa/bb",
        "objects/pack/pack-1.idx",
        "objects/info/packs",
        "refs/heads/main",
        "refs/stash",
        "packed-refs",
      ],
      ...["HEAD", "ORIG_HEAD", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "COMMIT_EDITMSG", "index"],
      ...[
        "logs/HEAD",
        "logs/refs/heads/a/b",
        "info/refs",
        "worktrees/w/HEAD",
        "worktrees/w/index",
        "worktrees/w/logs/HEAD",
      ],
    ];
    for (const way of ways) expect([way, isGitData(`/p/.git/${way}`)]).toEqual([way, true]);
    expect(isGitData("/p/sub/.git/objects/aa/bb")).toBe(true);
  });

  it("is nothing that decides what runs, or where things come from", () => {
    const ways = [
      ...[
        "",
        "config",
        "config.worktree",
        "hooks/pre-commit",
        "hooks",
        "info/exclude",
        "info/attributes",
        "modules/m/config",
      ],
      ...[
        "objects/info/alternates",
        "objects/info/http-alternates",
        "commondir",
        "gitdir",
        "remotes/origin",
        "branches/x",
      ],
      ...["worktrees/w/gitdir", "worktrees/w/commondir", "worktrees/w/config.worktree", "rebase-merge/git-rebase-todo"],
      ...[
        "sequencer/todo",
        "x/.git/objects/aa",
        "objects/.git/hooks/x",
        "index/x",
        "HEAD/../config",
        "hooks/HEAD",
        "lfs/x",
      ],
    ];
    for (const way of ways) expect([way, isGitData(`/p/.git/${way}`)]).toEqual([way, false]);
    for (const path of [
      "/p/.GIT/objects/aa",
      "/p/git~1/objects/aa",
      "/p/.git /objects/aa",
      "/p/objects/aa",
      "/p/.github/x",
    ])
      expect([path, isGitData(path)]).toEqual([path, false]);
  });
});
