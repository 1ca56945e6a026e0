import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { directoryAt, findProject, namesIn } from "./find-roots.js";

let base: string;
let home: string;
beforeEach(() => {
  base = temporaryDirectory();
  home = join(base, "home");
  mkdirSync(home);
});

const make = (...paths: string[]) => {
  for (const path of paths) mkdirSync(join(base, path), { recursive: true });
};
const find = (cwd: string, owners?: number[]) => {
  const { repositoryRoot, directories } = findProject({ cwd: join(base, cwd), home, owners });
  const short = (path: string) => path.replace(`${base}/`, "");
  return { root: repositoryRoot && short(repositoryRoot), directories: directories.map(short) };
};
const rootOf = (cwd: string, owners?: number[]) =>
  findProject({ cwd: join(base, cwd), home, owners }).writableRoot.replace(`${base}/`, "");

describe("findProject", () => {
  it("goes up to the directory with .git, be it a directory or a file", () => {
    make("home/w/repo/.git", "home/w/repo/a/b");
    const directories = ["home/w/repo/a/b", "home/w/repo/a", "home/w/repo"];
    expect(find("home/w/repo/a/b")).toEqual({ root: "home/w/repo", directories });
    rmSync(join(base, "home/w/repo/.git"), { recursive: true });
    writeFileSync(join(base, "home/w/repo/.git"), "gitdir: elsewhere\n");
    expect(find("home/w/repo/a/b")).toEqual({ root: "home/w/repo", directories });
  });

  it("takes the nearest of nested repositories", () => {
    make("home/repo/.git", "home/repo/inner/.git");
    expect(find("home/repo/inner")).toEqual({ root: "home/repo/inner", directories: ["home/repo/inner"] });
  });

  it("without a repository goes up to below home, and elsewhere not at all", () => {
    make("home/a/b", "srv/a/b");
    expect(find("home/a/b")).toEqual({ root: undefined, directories: ["home/a/b", "home/a"] });
    expect(find("srv/a/b")).toEqual({ root: undefined, directories: ["srv/a/b"] });
  });

  it("finds a repository outside home", () => {
    make("srv/repo/.git", "srv/repo/a");
    expect(find("srv/repo/a")).toEqual({ root: "srv/repo", directories: ["srv/repo/a", "srv/repo"] });
  });

  it("never takes home or what is above it, not even with a repository there", () => {
    make("home/.git", ".git", "home/a");
    expect(find("home")).toEqual({ root: undefined, directories: [] });
    expect(find(".")).toEqual({ root: undefined, directories: [] });
    expect(find("home/a")).toEqual({ root: undefined, directories: ["home/a"] });
  });

  it("does not use another user's repository, nor anything above it", () => {
    make("home/own/.git", "home/own/theirs/.git", "home/own/theirs/a");
    const stranger = (process.getuid?.() ?? 0) + 1;
    expect(find("home/own/theirs/a", [stranger])).toEqual({ root: undefined, directories: ["home/own/theirs/a"] });
    expect(find("home/own/theirs/a", [stranger, process.getuid?.() ?? 0]).root).toBe("home/own/theirs");
  });

  it("takes the nearest directory with .galley where there is no repository, also outside home", () => {
    make("home/w/.galley", "home/w/app/.galley", "home/w/app/src/deep", "srv/app/.galley", "srv/app/src");
    expect(rootOf("home/w/app/src/deep")).toBe("home/w/app");
    expect(rootOf("home/w")).toBe("home/w");
    expect(rootOf("srv/app/src")).toBe("srv/app");
    expect(find("srv/app/src")).toEqual({ root: undefined, directories: ["srv/app/src", "srv/app"] });
    expect(find("home/w/app/src").directories).toEqual(["home/w/app/src", "home/w/app", "home/w"]);
  });

  it("prefers the repository, wherever .galley is", () => {
    make("home/repo/.git", "home/repo/a/.galley", "home/repo/a/b");
    expect(rootOf("home/repo/a/b")).toBe("home/repo");
  });

  it("takes no project from ~/.galley, from a .galley above home, from a file of that name, nor from another user's", () => {
    make("home/.galley/agent", ".galley", "home/a/b", "home/c/d", "srv/theirs/.galley", "srv/theirs/a");
    writeFileSync(join(base, "home/c/.galley"), "");
    expect(rootOf("home/a/b")).toBe("home/a/b");
    expect(rootOf("home")).toBe("home");
    expect(rootOf("home/c/d")).toBe("home/c/d");
    const stranger = (process.getuid?.() ?? 0) + 1;
    expect(rootOf("srv/theirs/a", [stranger])).toBe("srv/theirs/a");
  });

  it("knows places by their true names", () => {
    make("home/repo/.git", "home/repo/a");
    symlinkSync(join(base, "home/repo/a"), join(base, "link"));
    expect(find("link")).toEqual({ root: "home/repo", directories: ["home/repo/a", "home/repo"] });
    symlinkSync(home, join(base, "home-link"));
    expect(findProject({ cwd: home, home: join(base, "home-link") }).directories).toEqual([]);
  });

  it("accepts a working directory that does not exist", () => {
    expect(find("home/gone/away")).toEqual({ root: undefined, directories: ["home/gone/away", "home/gone"] });
  });
});

describe("directoryAt", () => {
  it("gives the true path, nothing, or what is wrong", () => {
    make("empty");
    symlinkSync(join(base, "empty"), join(base, "link"));
    symlinkSync("loop", join(base, "loop"));
    writeFileSync(join(base, "file"), "");
    expect(directoryAt(join(base, "empty"))).toEqual({ realPath: join(base, "empty") });
    expect(directoryAt(join(base, "link"))).toEqual({ realPath: join(base, "empty") });
    expect(directoryAt(join(base, "gone"))).toBeUndefined();
    expect(directoryAt(join(base, "file", "below"))).toBeUndefined();
    expect(directoryAt(join(base, "file"))).toEqual({ problem: "is not a directory" });
    expect(directoryAt(join(base, "loop"))).toEqual({ problem: "cannot be read (ELOOP)" });
  });
});

describe("namesIn", () => {
  it("lists names sorted, follows links, and leaves dot files out", () => {
    make("d/sub", "d/.hidden");
    writeFileSync(join(base, "d/b.ts"), "");
    writeFileSync(join(base, "d/.dot"), "");
    symlinkSync(join(base, "d/sub"), join(base, "d/a-link"));
    symlinkSync("circle", join(base, "d/circle"));
    symlinkSync("nowhere", join(base, "d/gone"));
    expect(namesIn(join(base, "d"))).toEqual([
      { name: "a-link", isDirectory: true },
      { name: "b.ts", isDirectory: false },
      { name: "circle", isDirectory: false },
      { name: "gone", isDirectory: false },
      { name: "sub", isDirectory: true },
    ]);
  });

  it("finds nothing where nothing can be read", () => {
    expect(namesIn(join(base, "gone"))).toEqual([]);
    writeFileSync(join(base, "file"), "");
    expect(namesIn(join(base, "file"))).toEqual([]);
  });

  it.skipIf(process.getuid?.() === 0)("nor in a directory that is closed to us (skipped as root, who may)", () => {
    make("closed/inside");
    chmodSync(join(base, "closed"), 0);
    expect(namesIn(join(base, "closed"))).toEqual([]);
    chmodSync(join(base, "closed"), 0o700);
  });
});
