import { describe, expect, it } from "vitest";
import { withoutSession } from "../plans/change-writer.js";
import { createMemoryChangeWriter } from "../testing/memory-change-writer.js";
import { createMemoryWorkspace } from "../testing/memory-workspace.js";
import { createEdit } from "./edit.js";
import { createRead } from "./read.js";
import { SeenFiles } from "./seen-files.js";
import type { Staging } from "./staging.js";
import { stagingKit } from "./tools.test-kit.js";
import { createWrite } from "./write.js";

const context = { cwd: "/project" };
type Edit = { path: string; old_text: string; new_text: string; all?: boolean };
const one = (path: string, old_text: string, new_text: string, all?: boolean): Edit => ({
  path,
  old_text,
  new_text,
  ...(all === undefined ? {} : { all }),
});

function tools(files: Record<string, string | Uint8Array>, beforeApply = async () => {}) {
  const workspace = createMemoryWorkspace(files);
  const seen = new SeenFiles();
  const plans = createMemoryChangeWriter(workspace);
  const staging: Staging = {
    ...stagingKit().staging,
    async applyNow(changes, what) {
      await beforeApply();
      return plans.apply(changes, { reason: "", ...what, pendingId: "", by: "model" }, withoutSession);
    },
  };
  const editor = createEdit({ workspace, staging, seen });
  const writer = createWrite({ workspace, staging: stagingKit().staging, seen });
  const reader = createRead(workspace, { seen });
  return {
    workspace,
    edit: (...edits: Edit[]) => editor.execute("call_1", { edits }, undefined, () => {}, context),
    write: (path: string, content: string) => writer.execute("call_2", { path, content }, undefined, () => {}, context),
    read: (path: string) => reader.execute("call_3", { path }, undefined, () => {}, context),
    abortedEdit: (...edits: Edit[]) => editor.execute("call_4", { edits }, AbortSignal.abort(), () => {}, context),
  };
}

describe("results", () => {
  it("tells of one text, with its diff", async () => {
    const { workspace, edit } = tools({ "src/a.ts": "one\ntwo\nthree\n" });
    expect(await edit(one("src/a.ts", "two", "2"))).toEqual({
      content: [{ type: "text", text: "Successfully replaced text in src/a.ts." }],
      details: {
        diff: "--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
        firstChangedLine: 2,
      },
    });
    expect(workspace.files).toEqual({ "src/a.ts": "one\n2\nthree\n" });
  });

  it("counts several, by `all` or by the list", async () => {
    const { workspace, edit } = tools({ a: "x x x\n" });
    expect((await edit(one("a", "x", "y", true))).content).toEqual([
      { type: "text", text: "Successfully replaced 3 occurrences in a." },
    ]);
    expect((await edit(one("a", "y y y", "z"), one("./a", "z", "end"))).content).toEqual([
      { type: "text", text: "Successfully replaced 2 occurrences in a." },
    ]);
    expect(workspace.files).toEqual({ a: "end\n" });
  });

  it("tells of each file", async () => {
    const { edit } = tools({ a: "1\n", b: "1\n1\n" });
    const head = (name: string) => `--- a/${name}\n+++ b/${name}\n`;
    const diffs = [`${head("a")}@@ -1,1 +1,1 @@\n-1\n+2\n`, `${head("b")}@@ -1,2 +1,2 @@\n-1\n-1\n+3\n+3\n`];
    expect(await edit(one("a", "1", "2"), one("b", "1", "3", true))).toEqual({
      content: [{ type: "text", text: "Successfully replaced text in a.\nSuccessfully replaced 2 occurrences in b." }],
      details: {
        diff: diffs.join(""),
        firstChangedLine: 1,
        perFileResults: [
          { path: "a", diff: diffs[0], firstChangedLine: 1, replaced: 1 },
          { path: "b", diff: diffs[1], firstChangedLine: 1, replaced: 2 },
        ],
      },
    });
  });
});

describe("failures", () => {
  it.each([
    ["an empty text", [one("a", "", "x")], "old_text must not be empty."],
    ["no edit", [], "`edits` must include at least one edit."],
    ["no file", [one("src/none.ts", "a", "b")], "File not found: src/none.ts"],
    [
      "no such text",
      [one("a", "zzz", "b")],
      "Could not find the exact text in a. The old text must match exactly including all whitespace and newlines.",
    ],
    [
      "two of them",
      [one("a", "foo", "b")],
      "Found 2 occurrences in a:\n\n1:foo foo\n--\n1:foo foo\n\nAdd more context lines to disambiguate.",
    ],
    [
      "nothing to do",
      [one("a", "foo", "foo", true)],
      "No changes made to a. The replacement gives exactly what is there; check new_text, or move on.",
    ],
  ])("%s", async (_name, edits, message) => {
    const { workspace, edit } = tools({ a: "foo foo" });
    await expect(edit(...edits)).rejects.toMatchObject({ message });
    expect(workspace.files).toEqual({ a: "foo foo" });
  });

  it("write nothing at all when one of several edits fails", async () => {
    const files = { a: "one\n", b: "two\n" };
    const { workspace, edit } = tools(files);
    const good = one("a", "one", "1");
    await expect(edit(good, one("none", "x", "y"))).rejects.toMatchObject({
      code: "not_found",
      message: "File not found: none\n\nNo file was changed.",
    });
    await expect(edit(good, one("b", "zzz", "y"))).rejects.toThrow(
      /newlines\.\n\nEdit 2 of 2 failed\. No file was changed\.$/,
    );
    await expect(edit(one("b", "two", "2"), good, one("a", "one", "y"))).rejects.toThrow(
      /Edit 3 of 3 failed\. No file was changed\.$/,
    );
    await expect(edit(good, one("b", "", "y"))).rejects.toThrow("old_text must not be empty.");
    expect(workspace.files).toEqual(files);
  });

  it("write nothing at all when one of several files changes in between", async () => {
    const { workspace, edit } = tools({ a: "1", b: "1", c: "1" }, async () => {
      await workspace.writeFile(await workspace.resolve("b", "write"), { bytes: Buffer.from("theirs") });
    });
    await expect(edit(...["a", "b", "c"].map((path) => one(path, "1", "2")))).rejects.toMatchObject({
      code: "file_changed",
      message: "File changed since it was last read: b. Read it again.\n\nNo file was changed.",
    });
    expect(workspace.files).toEqual({ a: "1", b: "theirs", c: "1" });
  });

  it("refuse what changed since it was read, is generated, or is aborted", async () => {
    const { workspace, edit, read, abortedEdit } = tools({ a: "one", "gen.ts": "# DO NOT EDIT\nx" });
    await expect(abortedEdit(one("a", "one", "1"), one("a", "1", "2"))).rejects.toMatchObject({
      message: "Operation aborted",
    });
    await expect(edit(one("gen.ts", "x", "y"))).rejects.toThrow("Cannot modify auto-generated file: gen.ts");
    await read("a");
    await workspace.writeFile(await workspace.resolve("a", "write"), { bytes: Buffer.from("one more") });
    await expect(edit(one("a", "one", "1"))).rejects.toMatchObject({
      code: "file_changed",
      message: "File changed since it was last read: a. Read it again.",
    });
    await read("a");
    await edit(one("a", "one", "1"));
    await edit(one("a", "1", "2"));
    expect(workspace.files.a).toBe("2 more");
  });

  it("show nothing of a file that must not be read", async () => {
    const { edit } = tools({ id_rsa: "secret words here" });
    await expect(edit(one("id_rsa", "secret words hers", "x"))).rejects.toMatchObject({ code: "file_refused" });
  });
});

describe("calls at the same time", () => {
  it("all take effect, whatever files they share", async () => {
    const { workspace, edit, write } = tools({ a: "1 2 3 4 5 6 7 8", b: "1 2 3 4 5 6 7 8" });
    const digits = [1, 2, 3, 4, 5, 6, 7, 8];
    await Promise.all([
      ...digits.map((digit) => {
        const edits = ["a", "b"].map((path) => one(path, `${digit}`, `<${digit}>`));
        return edit(...(digit % 2 ? edits : edits.reverse()));
      }),
      write("c", "c"),
    ]);
    const all = digits.map((digit) => `<${digit}>`).join(" ");
    expect(workspace.files).toEqual({ a: all, b: all, c: "c" });
  });

  it("may name one file by two names that count as one", async () => {
    const { workspace, edit } = tools({ "A.txt": "1", "a.txt": "1" });
    await edit(one("A.txt", "1", "2"), one("a.txt", "1", "3"));
    expect(workspace.files).toEqual({ "A.txt": "2", "a.txt": "3" });
  });
});

describe("other spellings", () => {
  const prepare = (args: Record<string, unknown>) =>
    createEdit({
      staging: stagingKit().staging,
      workspace: createMemoryWorkspace({}),
      seen: new SeenFiles(),
    }).prepareArguments?.(args);
  const expected = { edits: [{ path: "a", old_text: "o", new_text: "n" }] };

  it.each([
    [{ path: "a", oldText: "o", newText: "n" }, expected],
    [{ file_path: "a", old_string: "o", new_string: "n" }, expected],
    [{ path: "a", old_text: "o", new_text: "n", all: null }, expected],
    [{ edits: [{ path: "a", oldText: "o", newText: "n" }] }, expected],
    [{ path: "a", edits: [{ oldText: "o", newText: "n" }] }, expected],
    [{ path: "b", oldText: "x", newText: "y", edits: [{ path: "a", old_text: "o", newText: "n" }] }, expected],
    [
      { file_path: "a", old_string: "o", new_string: "", replace_all: true },
      { edits: [{ path: "a", old_text: "o", new_text: "", all: true }] },
    ],
    [{ edits: ["a", null] }, { edits: ["a", null] }],
    [{ edits: "text" }, { edits: "text" }],
    [{}, { edits: [{}] }],
  ])("%j", (args, prepared) => {
    expect(prepare(args)).toEqual(prepared);
  });
});
