// A search sees what is staged, too.

import { expect, it } from "vitest";
import { createMemoryWorkspace } from "../testing/memory-workspace.js";
import { stagedWorkspace } from "./staged-workspace.js";
import type { StagedFile } from "./staging.js";

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

it("follows a staged link, and knows staged directories, permissions and a file that became a directory", async () => {
  const disk = createMemoryWorkspace({ "a.ts": "old", "was-file": "x" });
  const staged: Record<string, StagedFile> = {
    "/project/link": { id: "p1", bytes: Buffer.from("b.ts"), type: "symlink" },
    "/project/loop": { id: "p1", bytes: Buffer.from("loop"), type: "symlink" },
    "/project/b.ts": { id: "p1", bytes: Buffer.from("new"), mode: 0o755 },
    "/project/empty": { id: "p1", bytes: new Uint8Array(), type: "directory" },
    "/project/was-file": { id: "p1", bytes: new Uint8Array(), type: "directory" },
  };
  const workspace = stagedWorkspace(disk, {
    staged: (path) => (staged[path] ? [staged[path]] : []),
    stagedPaths: () => Object.keys(staged),
  });
  const target = await workspace.resolve("link", "read");
  expect(target.path).toBe("/project/b.ts");
  expect(Buffer.from((await workspace.readFile(target)).bytes).toString()).toBe("new");
  expect((await workspace.stat(target)).mode).toBe(0o755);
  await expect(workspace.resolve("loop", "read")).rejects.toThrow("not found");
  expect((await workspace.resolve("empty", "read")).kind).toBe("directory");
  expect((await workspace.resolve("was-file", "read")).kind).toBe("directory");
  const root = await workspace.resolve(".", "read");
  const { entries } = await workspace.list(root, { limit: 20 });
  expect(entries.filter(({ name }) => name !== "a.ts").map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    "b.ts file",
    "empty directory",
    "link link",
    "loop link",
    "was-file directory",
  ]);
  const walked: string[] = [];
  for await (const file of workspace.walk(root)) walked.push(file.path);
  expect(walked).toEqual(["/project/a.ts", "/project/b.ts"]);
});

it("reads files that are in the view only, also where the disk has another version", async () => {
  const disk = createMemoryWorkspace({ "a.ts": "old", "dist/out.js": "disk" });
  const places = new Map([
    ["/project/dist/out.js", "view"],
    ["/project/node_modules/x/index.js", "kept"],
  ]);
  const workspace = stagedWorkspace(disk, {
    staged: () => [],
    stagedPaths: () => [],
    kept: {
      file: (path) => places.get(path),
      paths: () => [...places.keys()],
      read: async (place) => ({ bytes: Buffer.from(place), isTruncated: false }),
      stat: async (place) => ({ sizeBytes: place.length, modifiedMs: 1, mode: 0o600 }),
    },
  });
  const text = async (path: string) =>
    Buffer.from((await workspace.readFile(await workspace.resolve(path, "read"))).bytes).toString();
  expect([await text("a.ts"), await text("dist/out.js"), await text("node_modules/x/index.js")]).toEqual([
    "old",
    "view",
    "kept",
  ]);
  expect(await workspace.stat(await workspace.resolve("node_modules/x/index.js", "read"))).toMatchObject({
    mode: 0o600,
  });
  const directory = await workspace.resolve("node_modules", "read");
  expect((await workspace.list(directory, { limit: 5 })).entries).toMatchObject([{ name: "x", kind: "directory" }]);
});
