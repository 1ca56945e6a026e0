import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { indexMeaning } from "./git-index.js";

let cwd = "";
const env = { PATH: process.env.PATH, HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" };
const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e", ...args], { cwd, env });
const write = (path: string, text: string) => writeFileSync(join(cwd, path), text);
const bytes = () => readFileSync(join(cwd, ".git/index"));
const meaning = (index: Uint8Array = bytes()) => indexMeaning(join(cwd, ".git/index"), index);

beforeEach(() => {
  cwd = temporaryDirectory();
});

describe.each(["sha1", "sha256"])("what the index says, with %s", (format) => {
  beforeEach(() => {
    git("init", "-q", `--object-format=${format}`);
    mkdirSync(join(cwd, "src"));
    for (const name of ["a", "b", "src/a long name that needs its padding", "src/b"]) write(name, name);
    git("add", "-A");
    git("commit", "-qm", "one");
  });

  it.each(["2", "3", "4"])(
    "is the same after a look at the files, and another one after git add (version %s)",
    (version) => {
      if (version === "3") git("rm", "-q", "--cached", "b"); // an entry with more flags needs it
      if (version === "3") git("add", "-N", "b");
      git("update-index", "--index-version", version);
      const [before, said] = [bytes(), meaning()];
      expect(said).toMatch(/^[0-9a-f]{64}$/);
      utimesSync(join(cwd, "a"), 1_000_000_000, 1_000_000_000);
      git("status");
      expect(bytes().equals(before)).toBe(false);
      expect(meaning()).toBe(said);
      write("a", "other");
      git("status");
      expect(meaning()).toBe(said);
      git("add", "a");
      expect(meaning()).not.toBe(said);
      git("update-index", "--chmod=+x", "src/b");
      const executable = meaning();
      git("rm", "-qf", "--cached", "src/b");
      expect(new Set([said, executable, meaning()]).size).toBe(3);
    },
  );

  it("is unknown for an index that is cut, split, or somewhere else", () => {
    const whole = bytes();
    for (let length = 0; length < whole.length; length++) expect(meaning(whole.subarray(0, length))).toBeUndefined();
    expect(indexMeaning(join(cwd, "index"), whole)).toBeUndefined();
    expect(indexMeaning(join(cwd, ".git/HEAD"), whole)).toBeUndefined();
    git("update-index", "--split-index");
    expect(meaning()).toBeUndefined();
  });
});
