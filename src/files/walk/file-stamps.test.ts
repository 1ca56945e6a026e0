import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { stampFiles } from "./file-stamps.js";

let root = "";
beforeEach(() => {
  root = temporaryDirectory();
  for (const directory of ["sub", "node_modules", ".git"]) mkdirSync(join(root, directory));
  for (const name of ["a", ".env", "sub/b", "x.log", "node_modules/c", ".git/d"]) writeFileSync(join(root, name), "1");
  writeFileSync(join(root, ".gitignore"), "*.log\n");
  symlinkSync("a", join(root, "link"));
});
afterEach(() => rmSync(root, { recursive: true }));

const stamps = async () => {
  const found = await stampFiles(root, 100);
  return Object.fromEntries([...(found ?? [])].map(([path, stamp]) => [path.slice(root.length + 1), stamp]));
};

it("finds the files that belong to a project", async () => {
  expect(Object.keys(await stamps()).sort()).toEqual([".env", ".gitignore", "a", "sub/b"]);
});

it("a file looks different after a write of the same size, and after a change of its mode", async () => {
  const before = await stamps();
  writeFileSync(join(root, "a"), "2");
  chmodSync(join(root, "sub/b"), 0o700);
  const after = await stamps();
  expect(Object.keys(after).filter((name) => after[name] !== before[name])).toEqual(["a", "sub/b"]);
});

it("gives up where there are too many", async () => {
  expect(await stampFiles(root, 3)).toBeUndefined();
  expect((await stampFiles(root, 4))?.size).toBe(4);
});
