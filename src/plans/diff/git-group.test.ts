import { describe, expect, it } from "vitest";
import { type PlannedChange, stampOf } from "../plan.js";
import { gitSummary, isGrouped } from "./git-group.js";

function change(way: string, before: string | undefined, after: string | undefined): PlannedChange {
  const old = before === undefined ? undefined : { bytes: Buffer.from(before), mode: 0o644 };
  const kind = !old ? "create" : after === undefined ? "delete" : "modify";
  const path = `/p/.git/${way}`;
  return {
    kind,
    path,
    stamp: stampOf(`.git/${way}`, old),
    before: Buffer.from(before ?? ""),
    after: Buffer.from(after ?? ""),
  };
}

const hash = (start: string) => `${start.padEnd(40, "0")}\n`;
const command = (...changes: PlannedChange[]) => ({ fromCommand: true as const, changes });

describe("what a command did to git's own data", () => {
  it("is one line", () => {
    const objects = Array.from({ length: 14 }, (_, index) => change(`objects/aa/${index}`, undefined, "x"));
    const commit = [
      change("refs/heads/main", hash("1a2b3c4d"), hash("5d6e7f8a")),
      change("index", "a", "b"),
      ...objects,
    ];
    expect(gitSummary(command(...commit))).toBe("main 1a2b3c4 → 5d6e7f8, 14 objects, index");
    const branch = [
      change("refs/heads/new/one", undefined, hash("5d6e7f8a")),
      change("HEAD", "ref: refs/heads/main\n", "ref: refs/heads/new/one\n"),
    ];
    expect(gitSummary(command(...branch, change("logs/HEAD", "a", "b")))).toBe(
      "new/one → 5d6e7f8, HEAD → new/one, 1 other file",
    );
    expect(
      gitSummary(command(change("refs/tags/v1", hash("1a2b3c4d"), undefined), change("objects/a", "x", undefined))),
    ).toBe("tags/v1 1a2b3c4 → deleted, 1 object");
    const packed = (name: string, start: string) =>
      `# pack-refs with: peeled\n${hash(start).trim()} ${name}\n^${hash("9").trim()}\n`;
    const gc = [
      change("refs/heads/main", hash("1a2b3c4d"), undefined),
      change("packed-refs", undefined, packed("refs/heads/main", "1a2b3c4d")),
    ];
    expect(gitSummary(command(...gc))).toBe("packed refs");
    const commitAndGc = [
      gc[0] as PlannedChange,
      change("packed-refs", undefined, packed("refs/heads/main", "5d6e7f8a")),
    ];
    expect(gitSummary(command(...commitAndGc))).toBe("main 1a2b3c4 → 5d6e7f8");
    const gone = change("packed-refs", packed("refs/heads/old", "1a2b3c4d"), "# pack-refs\n");
    expect(gitSummary(command(gone))).toBe("old 1a2b3c4 → deleted");
    const worktree = [
      change("worktrees/side/index", "a", "b"),
      change("worktrees/side/HEAD", "ref: refs/heads/side\n", "ref: refs/heads/main\n"),
    ];
    expect(gitSummary(command(...worktree))).toBe("HEAD of side → main, index");
    expect(gitSummary(command(change("refs/heads/odd", "nonsense", hash("5d6e7f8a"))))).toBe("odd ? → 5d6e7f8");
  });

  it("is nothing where no command did it, and never holds what is protected", () => {
    const config: PlannedChange = { ...change("config", "a", "b"), protected: true };
    expect(gitSummary({ changes: [change("index", "a", "b")] })).toBeUndefined();
    expect(gitSummary(command(config))).toBeUndefined();
    expect([isGrouped(command(), config), isGrouped(command(), change("index", "a", "b"))]).toEqual([false, true]);
  });
});
