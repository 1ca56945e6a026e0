import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  artifactDirectory,
  isInside,
  legacyDirectoryNames,
  sessionDirectoryName,
  sessionFileName,
} from "./session-paths.js";

const at = (cwd: string) => ({ cwd, home: "/home/dev", temp: "/tmp" });
const hash = (cwd: string) => createHash("sha256").update(cwd).digest("hex").slice(0, 8);

describe("sessionDirectoryName", () => {
  it.each([
    ["/home/dev/app", "-app"],
    ["/home/dev/work/app", "-work-app"],
    ["/home/dev", "-"],
    ["/tmp/x/y", "-tmp-x-y"],
    ["/srv/app:1", "--srv-app-1--"],
    ["/home/developer", "--home-developer--"],
  ])("%s is readable as %s", (cwd, readable) => {
    expect(sessionDirectoryName(at(cwd))).toBe(`${readable}-${hash(cwd)}`);
  });

  it("tells directories apart that read the same", () => {
    expect(sessionDirectoryName(at("/a/b-c"))).not.toBe(sessionDirectoryName(at("/a/b/c")));
  });

  it("fits a file system's limit and holds no control character", () => {
    const name = sessionDirectoryName(at(`/srv/${"ä".repeat(300)}/line\nbreak`));
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
    expect(sessionDirectoryName(at("/srv/line\nbreak"))).toMatch(/^--srv-line-break---[0-9a-f]{8}$/);
  });
});

it("knows the names of other programs", () => {
  expect(legacyDirectoryNames(at("/home/dev/app"))).toEqual(["-app", "--home-dev-app--"]);
  expect(legacyDirectoryNames(at("/srv/app"))).toEqual(["--srv-app--"]);
});

it("names a file by time and id", () => {
  expect(sessionFileName(Date.UTC(2026, 1, 16, 10, 20, 30, 5), "0197")).toBe("2026-02-16T10-20-30-005Z_0197.jsonl");
});

it("puts artifacts beside the file, whatever it is called", () => {
  expect(artifactDirectory("/s/a.jsonl")).toBe("/s/a");
  expect(artifactDirectory("/s/a")).toBe("/s/a.artifacts");
});

it.each([
  ["/a", "/a", true],
  ["/a", "/a/b", true],
  ["/a", "/ab", false],
  ["/a", "/a/../b", false],
  ["/a", "/a/..b", true],
])("isInside(%s, %s) is %s", (directory, path, expected) => {
  expect(isInside(directory, path)).toBe(expected);
});
