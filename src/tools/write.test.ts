import { describe, expect, it } from "vitest";
import { createMemoryWorkspace, type MemoryWorkspace } from "../testing/memory-workspace.js";
import { createRead } from "./read.js";
import { SeenFiles } from "./seen-files.js";
import { stagingKit } from "./tools.test-kit.js";
import { createWrite } from "./write.js";

const context = { cwd: "/project" };

function tools(files: Record<string, string | Uint8Array>) {
  const workspace: MemoryWorkspace = createMemoryWorkspace(files);
  const seen = new SeenFiles();
  const writer = createWrite({ workspace, staging: stagingKit().staging, seen });
  const reader = createRead(workspace, { seen });
  return {
    workspace,
    write: (path: string, content: string, signal?: AbortSignal) =>
      writer.execute("call_1", { path, content }, signal, () => {}, context),
    read: (path: string) => reader.execute("call_2", { path }, undefined, () => {}, context),
  };
}

/** Somebody else's hand. */
async function change(workspace: MemoryWorkspace, path: string, text: string): Promise<void> {
  await workspace.writeFile(await workspace.resolve(path, "write"), { bytes: Buffer.from(text) });
}

const said = (text: string, details: unknown) => ({ content: [{ type: "text", text }], details });

describe("what is written", () => {
  it("makes a file, with the directories on the way", async () => {
    const { workspace, write } = tools({});
    expect(await write("src/new/a.txt", "naïve\n")).toEqual(
      said("Successfully wrote 7 bytes to src/new/a.txt", { created: true }),
    );
    expect(workspace.files).toMatchObject({ "src/new/a.txt": "naïve\n" });
  });

  it("replaces a file and shows what changed", async () => {
    const { workspace, write } = tools({ "a.txt": "one\ntwo\nthree\n" });
    expect(await write("./a.txt", "one\n2\nthree\n")).toEqual(
      said("Successfully wrote 12 bytes to a.txt", {
        created: false,
        diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
      }),
    );
    expect(workspace.files).toEqual({ "a.txt": "one\n2\nthree\n" });
    expect(await write("a.txt", "one\n2\nthree\n")).toEqual(
      said("Successfully wrote 12 bytes to a.txt", { created: false }),
    );
  });

  it.each([
    ["CRLF", "a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n", "CRLF line endings"],
    ["a mark", "\ufeffa\n", "b\n", "\ufeffb\n", "byte order mark"],
    ["both", "\ufeffa\r\n", "b\n", "\ufeffb\r\n", "CRLF line endings, byte order mark"],
  ])("keeps %s of the old file and says so", async (_name, before, content, after, kept) => {
    const { workspace, write } = tools({ a: before });
    const result = await write("a", content);
    expect(workspace.files).toEqual({ a: after });
    expect(result.content).toEqual([
      {
        type: "text",
        text: `Successfully wrote ${Buffer.byteLength(after)} bytes to a\n\n[Kept from the old file: ${kept}]`,
      },
    ]);
  });

  it.each([
    ["mixed endings before", "a\r\nb\n", "a\nc\n"],
    ["CRLF in the new text", "a\r\nb\r\n", "a\r\nc\n"],
    ["one line, which ends in nothing", "a\r\n", "c"],
    ["bytes that were no UTF-8", Uint8Array.of(0xff, 0x0d, 0x0a, 0x0a), "é\n"],
  ])("writes as given: %s", async (_name, before, content) => {
    const { workspace, write } = tools({ a: before });
    await write("a", content);
    expect(workspace.files).toEqual({ a: content });
  });

  it("makes a file anew that was seen and is gone", async () => {
    const seen = new SeenFiles();
    seen.note("/project/a.txt", { bytes: Buffer.from("old"), isTruncated: false });
    const { execute } = createWrite({ staging: stagingKit().staging, workspace: createMemoryWorkspace({}), seen });
    const result = await execute("call_1", { path: "a.txt", content: "x" }, undefined, () => {}, context);
    expect(result.details).toEqual({ created: true });
  });

  it("takes file_path", () => {
    const { prepareArguments } = createWrite({
      staging: stagingKit().staging,
      workspace: createMemoryWorkspace({}),
      seen: new SeenFiles(),
    });
    expect(prepareArguments?.({ file_path: "a", content: "" })).toEqual({ path: "a", content: "" });
  });
});

describe("what is refused, and leaves the file alone", () => {
  const changed = "File changed since it was last read: a.txt. Read it again.";

  it("a file that changed since it was read, until it is read again", async () => {
    const { workspace, read, write } = tools({ "a.txt": "old\n" });
    await read("a.txt");
    await change(workspace, "a.txt", "foreign\n");
    await expect(write("a.txt", "new\n")).rejects.toMatchObject({ code: "file_changed", message: changed });
    expect(workspace.files).toEqual({ "a.txt": "foreign\n" });
    await read("a.txt");
    await write("a.txt", "new\n");
    await write("a.txt", "newer\n");
    expect(workspace.files).toEqual({ "a.txt": "newer\n" });
  });

  it("a file that changes while it is written", async () => {
    const { workspace, write } = tools({ "a.txt": "old\n" });
    const original = workspace.writeFile;
    workspace.writeFile = async (target, request) => {
      workspace.writeFile = original;
      await change(workspace, "a.txt", "foreign\n");
      return original(target, request);
    };
    await expect(write("a.txt", "new\n")).rejects.toThrow(changed);
    expect(workspace.files).toEqual({ "a.txt": "foreign\n" });
  });

  it("a generated file", async () => {
    const files = { "a.ts": "// @generated\nx\n" };
    const { workspace, write } = tools(files);
    await expect(write("a.ts", "y")).rejects.toThrow("Cannot modify auto-generated file: a.ts");
    expect(workspace.files).toEqual(files);
  });

  it("UTF-16, half a character, a directory, an aborted call", async () => {
    const files = { "a.txt": Uint8Array.of(0xff, 0xfe, 0x61, 0), "dir/b": "b" };
    const { workspace, write } = tools(files);
    await expect(write("a.txt", "x")).rejects.toThrow(
      "Cannot overwrite a.txt: it is UTF-16 text, and only UTF-8 can be written.",
    );
    await expect(write("dir/b", "\udc00")).rejects.toThrow("content holds half of a surrogate pair");
    await expect(write("dir", "x")).rejects.toThrow("it is a directory");
    await expect(write("dir/b", "x", AbortSignal.abort())).rejects.toMatchObject({ code: "aborted" });
    await expect(write("new", "x", AbortSignal.abort())).rejects.toMatchObject({ code: "aborted" });
    expect(workspace.files).toEqual(files);
  });
});
