import { mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { makeDirectories } from "./make-directories.js";

const scratch = () => temporaryDirectory();

it("creates missing directories and returns the first one", () => {
  const root = scratch();
  mkdirSync(join(root, "a"));
  expect(makeDirectories(join(root, "a/b/c"), 0o700)).toBe(join(root, "a/b"));
  expect(statSync(join(root, "a/b/c")).mode & 0o777).toBe(0o700);
  expect(makeDirectories(join(root, "a/b/c"))).toBeUndefined();
});

it("goes through links, and refuses files and links that lead nowhere", () => {
  const root = scratch();
  mkdirSync(join(root, "real"));
  symlinkSync("real", join(root, "link"));
  symlinkSync("nowhere", join(root, "broken"));
  writeFileSync(join(root, "file"), "");
  expect(makeDirectories(join(root, "link/x"))).toBe(join(root, "link/x"));
  expect(statSync(join(root, "real/x")).isDirectory()).toBe(true);
  expect(() => makeDirectories(join(root, "file"))).toThrow("EEXIST");
  expect(() => makeDirectories(join(root, "file/x"))).toThrow("ENOTDIR");
  expect(() => makeDirectories(join(root, "file/x/y"))).toThrow("ENOTDIR");
  expect(() => makeDirectories(join(root, "broken"))).toThrow("EEXIST");
});

it.runIf(process.platform === "linux")("ends where nothing can be made and nothing says so", () => {
  expect(() => makeDirectories("/proc/galley/sessions")).toThrow("ENOENT");
});
