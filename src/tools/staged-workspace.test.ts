// A search sees what is staged, too.

import { expect, it } from "vitest";
import { createMemoryWorkspace } from "../testing/memory-workspace.js";
import { stagedWorkspace } from "./staged-workspace.js";

it("asks about the staged bytes, not about those on the disk", async () => {
  const disk = createMemoryWorkspace({ "a.ts": "old", "b.ts": "old" });
  const staged = (path: string) => (path === "/project/a.ts" ? [{ id: "p1", bytes: Buffer.from("newer") }] : []);
  const workspace = stagedWorkspace(disk, { staged, stagedPaths: () => ["/project/a.ts"] });
  const readIf = async (path: string, word: string, maxBytes = 100) => {
    const target = await workspace.resolve(path, "read");
    const read = await workspace.readIf(target, (bytes) => Buffer.from(bytes).includes(word), { maxBytes });
    return read && { text: Buffer.from(read.bytes).toString(), isTruncated: read.isTruncated };
  };
  expect(await readIf("a.ts", "newer")).toEqual({ text: "newer", isTruncated: false });
  expect(await readIf("a.ts", "old")).toBeUndefined();
  expect(await readIf("a.ts", "old", 3)).toEqual({ text: "new", isTruncated: true });
  expect(await readIf("b.ts", "old")).toEqual({ text: "old", isTruncated: false });
});

it("has the directories that staged files would be in", async () => {
  const disk = createMemoryWorkspace({ "a.ts": "old" });
  const path = "/project/d/e/new.ts";
  const staged = (asked: string) => (asked === path ? [{ id: "p1", bytes: Buffer.from("new") }] : []);
  const workspace = stagedWorkspace(disk, { staged, stagedPaths: () => [path] });
  const target = await workspace.resolve("d", "read");
  expect(target).toMatchObject({ path: "/project/d", displayPath: "d", kind: "directory" });
  expect((await workspace.list(target, { limit: 10 })).entries).toMatchObject([{ name: "e", kind: "directory" }]);
  expect(await workspace.stat(target)).toMatchObject({ mode: 0o755 });
  const walked: string[] = [];
  for await (const file of workspace.walk(target)) walked.push(file.path);
  expect(walked).toEqual([path]);
  await expect(workspace.resolve("d/f", "read")).rejects.toThrow("not found");
});
