import { describe, expect, it } from "vitest";
import { sha256Of } from "../../base/digest.js";
import type { Effect, FileState } from "../../files/layer/stage-view.js";
import { figuresText, planEffects } from "./plan-effects.js";
import { crossDeviceHint, stagedCommandText } from "./staged-command-text.js";

const file = (text: string | Uint8Array, mode = 0o644): FileState => ({
  type: "file",
  bytes: Buffer.from(text),
  mode,
  mtimeMs: 1234.5,
});
const link = (target: string): FileState => ({ type: "symlink", target: Buffer.from(target) });
const directory = (mode = 0o755): FileState => ({ type: "directory", mode });
const effect = (name: string, before?: FileState, after?: FileState): Effect => ({
  path: `/p/${name}`,
  ...(before ? { before } : {}),
  ...(after ? { after } : {}),
});
const naming = {
  shownPath: (path: string) => path.slice(3),
  isProtected: (path: string) => /^\/p\/(?:\.galley|\.git\/hooks)\//.test(path),
};
const plan = (...effects: Effect[]) => planEffects(effects, naming);
const nothingElse = { notStaged: [], kept: { files: 0, bytes: 0 }, network: "off" as const, pendingId: "pa_7" };

describe("effects as changes of a plan", () => {
  it("have stamps, bytes, permissions and times", () => {
    const { changes } = plan(effect("a", file("one"), file("two")), effect("b", undefined, file("new", 0o755)));
    expect(changes).toEqual([
      {
        kind: "modify",
        path: "/p/a",
        stamp: { path: "a", exists: true, size: 3, sha256: sha256Of("one"), mode: 0o644 },
        before: Buffer.from("one"),
        after: Buffer.from("two"),
        mtimeMs: 1234.5,
      },
      {
        kind: "create",
        path: "/p/b",
        stamp: { path: "b", exists: false, size: 0, sha256: "", mode: 0 },
        before: new Uint8Array(),
        after: Buffer.from("new"),
        mode: 0o755,
        mtimeMs: 1234.5,
      },
    ]);
    expect(figuresText(changes)).toBe("2 files (1 modified, 1 created)");
  });

  it("have the types of links and directories, and a hash of their own", () => {
    const { changes } = plan(
      effect("d", undefined, directory(0o700)),
      effect("l", link("a"), link("b")),
      effect("m", directory(), directory(0o711)),
      effect("x", link("a")),
    );
    expect(changes).toMatchObject([
      { kind: "create", type: "directory", mode: 0o700, before: new Uint8Array(), after: new Uint8Array() },
      {
        kind: "modify",
        type: "symlink",
        stamp: { type: "symlink", sha256: sha256Of("link\0a"), size: 1, mode: 0o777 },
        after: Buffer.from("b"),
      },
      {
        kind: "modify",
        type: "directory",
        mode: 0o711,
        stamp: { type: "directory", sha256: sha256Of("directory\0"), mode: 0o755 },
      },
      { kind: "delete", type: "symlink", before: Buffer.from("a") },
    ]);
    expect(changes[1]).not.toHaveProperty("mode");
  });

  it("say both types where a file became something else", () => {
    const { changes } = plan(effect("a", file("one"), directory()), effect("b", link("a"), file("two")));
    expect(changes).toMatchObject([
      { kind: "modify", type: "directory", mode: 0o755, stamp: { exists: true, sha256: sha256Of("one") } },
      { kind: "modify", mode: 0o644, stamp: { type: "symlink" }, after: Buffer.from("two") },
    ]);
    expect(changes[0]?.stamp).not.toHaveProperty("type");
    expect(changes[1]).not.toHaveProperty("type");
  });

  it("have only the mode where only that differs", () => {
    expect(plan(effect("a", file("one"), file("one", 0o755))).changes).toMatchObject([{ kind: "modify", mode: 0o755 }]);
  });

  it("say where a file came from, each deleted one once", () => {
    const { changes } = plan(
      effect("a/x", file("same")),
      effect("b/y", file("same")),
      effect("c/y", undefined, file("same")),
      effect("d", undefined, file("same")),
      effect("e", undefined, file("same")),
      effect("empty", file("")),
      effect("empty2", undefined, file("")),
    );
    expect(changes.map(({ renamedFrom }) => renamedFrom)).toEqual([
      undefined,
      undefined,
      "b/y",
      "a/x",
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("mark what only the user may write, and what changed meanwhile", () => {
    const found = plan(effect(".galley/x", undefined, file("1")), {
      ...effect("a", file("1")),
      changedMeanwhile: "known",
    });
    expect(found.changes.map((change) => change.protected)).toEqual([true, undefined]);
    expect(found.stalePaths).toEqual(["a"]);
  });
});

describe("what is said of a staged command", () => {
  it("names the changes, deletions first, and what is not among them", async () => {
    const lines = (count: number) => "x\n".repeat(count);
    const { changes } = plan(
      effect("src/cart.ts", file("a\nb\nc\n"), file("a\n1\n2\n3\nc\n")),
      effect("src/money.ts", undefined, file(lines(20))),
      effect("src/price.ts", undefined, link("money.ts")),
      effect("old/two.txt", file("x\n")),
    );
    const text = await stagedCommandText({
      ...nothingElse,
      changes,
      notStaged: [{ path: "build.sock", why: "socket" }],
      kept: { files: 12, bytes: 1_153_434 },
    });
    expect(text).toBe(`Staged as pa_7 – not written yet: 4 files (1 modified, 2 created, 1 deleted)
  D old/two.txt  -1
  M src/cart.ts  +3 -1
  A src/money.ts  +20
  A src/price.ts -> money.ts
Not staged: build.sock (socket).
Kept in the view only: 12 ignored files (1.1 MiB).
Network was off. Nothing outside the project could be written.`);
  });

  it("shows what has no lines, and what became something else", async () => {
    const { changes } = plan(
      effect("a", file("one"), file("one", 0o755)),
      effect("b", file(new Uint8Array([0, 1])), file(new Uint8Array(2048))),
      effect("c", file("x"), link("a\nb")),
      effect("d", undefined, directory()),
      effect("e", undefined, file("moved\n")),
      effect("f", file("moved\n")),
      effect(".galley/g", undefined, file("")),
    );
    const rows = (await stagedCommandText({ ...nothingElse, changes, network: "on" })).split("\n").slice(1);
    expect(rows).toEqual([
      "  D f  -1",
      "  M a  mode 0644 -> 0755",
      "  M b  binary, 2 B -> 2 KiB",
      "  M c -> a\\nb  was a file",
      "  A d/",
      "  A e  +1 (from f)",
      "  A .galley/g  (protected)",
      "Nothing outside the project could be written.",
    ]);
  });

  it("shows thirty rows, and git's own files as one of them", async () => {
    const many = Array.from({ length: 244 }, (_, index) => effect(`f${index}`, undefined, file("x\n")));
    const rows = (await stagedCommandText({ ...nothingElse, changes: plan(...many).changes })).split("\n");
    expect(rows).toHaveLength(1 + 30 + 1 + 1);
    expect(rows.at(-2)).toBe("  … and 214 more");
    const git = plan(
      effect(".git/index", file("1"), file("2")),
      effect(".git/objects/ab/c", undefined, file("3")),
      effect(".git/hooks/pre-commit", undefined, file("4\n")),
      effect("a", undefined, file("4\n")),
    );
    expect((await stagedCommandText({ ...nothingElse, changes: git.changes })).split("\n").slice(1, 4)).toEqual([
      "  A .git/hooks/pre-commit  +1 (protected)",
      "  A a  +1",
      "  git: 2 files",
    ]);
  });

  it("says when nothing changed, and when everything was dropped", async () => {
    expect(await stagedCommandText({ ...nothingElse, changes: [] })).toBe("No files changed.");
    expect(await stagedCommandText({ ...nothingElse, changes: [], kept: { files: 1, bytes: 3 } })).toBe(
      "No files changed.\nKept in the view only: 1 ignored file (3 B).",
    );
    expect(
      await stagedCommandText({ ...nothingElse, changes: [], dropped: { files: 1, bytes: 2, text: "Too much." } }),
    ).toBe("Too much.");
  });

  it("knows the output of a program that renamed a directory", () => {
    const hint = "In the staged view a directory cannot be renamed in one step. Use mv, then git add -A.";
    expect(crossDeviceHint("fatal: renaming 'a' failed: Invalid cross-device link")).toBe(hint);
    expect(crossDeviceHint("Error: EXDEV: rename")).toBe(hint);
    expect(crossDeviceHint("ENOENT")).toBeUndefined();
  });
});
