import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { isOwnDirectory, lookAt, readModuleFile } from "./module-files.js";

let base: string;
beforeEach(() => {
  base = temporaryDirectory();
});
const at = (name: string) => join(base, name);

it("tells what a path really leads to", () => {
  writeFileSync(at("file"), "");
  mkdirSync(at("directory"));
  symlinkSync("file", at("link"));
  symlinkSync("circle", at("circle"));
  expect(lookAt(at("link"))).toEqual({ kind: "file", realPath: at("file") });
  expect(lookAt(at("directory"))).toEqual({ kind: "directory", realPath: at("directory") });
  expect(lookAt(at("circle"))).toEqual({ kind: "unfit", problem: "cannot be read (ELOOP)" });
  for (const name of ["gone", "file/below", "n\0l", "x".repeat(300)])
    expect(lookAt(at(name))).toEqual({ kind: "missing" });
});

it("reads all of a file, behind a link too, with its mode", () => {
  writeFileSync(at("file"), "a".repeat(10_000));
  chmodSync(at("file"), 0o640);
  symlinkSync("file", at("link"));
  const { realPath, bytes, mode } = readModuleFile(at("link"), 10_000);
  expect({ realPath, length: bytes.length, mode }).toEqual({ realPath: at("file"), length: 10_000, mode: 0o640 });
});

it.runIf(process.platform === "linux")("refuses what is no bounded regular file", () => {
  writeFileSync(at("file"), "12345");
  execFileSync("mkfifo", [at("pipe")]);
  expect(() => readModuleFile(at("file"), 4)).toThrow("is larger than 4 bytes");
  expect(() => readModuleFile(at("pipe"), 4)).toThrow("is not a regular file");
  expect(() => readModuleFile("/dev/zero", 4)).toThrow("is not a regular file");
  expect(() => readModuleFile(base, 4)).toThrow("is a directory");
  expect(() => readModuleFile(at("gone"), 4)).toThrow("is not there");
  // Its size is told as 0, and it goes on.
  expect(() => readModuleFile("/proc/kallsyms", 4)).toThrow("is larger than 4 bytes");
});

it("knows whose a directory is", () => {
  const own = process.getuid?.() ?? 0;
  expect(isOwnDirectory(base)).toBe(true);
  expect(isOwnDirectory(base, [own + 1])).toBe(false);
  expect(isOwnDirectory(base, [])).toBe(true);
  expect(isOwnDirectory(at("gone"))).toBe(false);
});
