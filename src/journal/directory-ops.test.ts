// Links, directories, modes and changes of type on the real disk: what is refused, what is stale, and how an apply that
// fails in the middle goes back.

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { contentHash, type FileType } from "../base/file-type.js";
import type { ChangeOp } from "./change-set.js";
import { failingDisk, Project } from "./faults/real-disk.test-kit.js";

const seen = (project: Project, name: string, type: FileType, text = "") => ({
  path: project.path(name),
  shownPath: name,
  beforeHash: contentHash(type, Buffer.from(text)),
  beforeType: type,
});
const remove = (project: Project, name: string, type: FileType, text = ""): ChangeOp => ({
  kind: "delete",
  ...seen(project, name, type, text),
});
const make = (project: Project, name: string, type: FileType, text = "", more: { mode?: number } = {}): ChangeOp => ({
  kind: "create",
  path: project.path(name),
  shownPath: name,
  type,
  bytes: Buffer.from(text),
  ...more,
});
const turn = (
  project: Project,
  name: string,
  [was, old]: [FileType, string?],
  [is, text = ""]: [FileType, string?],
): ChangeOp => ({
  kind: "modify",
  ...seen(project, name, was, old),
  type: is,
  bytes: Buffer.from(text),
});

/** Names with their types, and nothing temporary. */
function names(project: Project, way = ""): string[] {
  return readdirSync(project.path(way))
    .sort()
    .flatMap((name) => {
      const at = way === "" ? name : `${way}/${name}`;
      const stat = lstatSync(project.path(at));
      if (stat.isDirectory()) return [`${at}/`, ...names(project, at)];
      return [stat.isSymbolicLink() ? `${at} -> ${readlinkSync(project.path(at))}` : at];
    });
}

const failing = (test: (name: string, path: string, to?: string) => boolean) =>
  failingDisk((name, path, to) => {
    if (test(name, path, to)) throw Object.assign(new Error("EIO"), { code: "EIO" });
  });

describe("J-20: links and directories", () => {
  it("are made, changed and removed together with files", async () => {
    const project = new Project(temporaryDirectory());
    project.write("f", "text");
    project.write("d/x", "x");
    mkdirSync(project.path("d/empty"));
    symlinkSync("nowhere", project.path("l"));
    await project.apply([
      turn(project, "f", ["file", "text"], ["symlink", "d"]),
      turn(project, "l", ["symlink", "nowhere"], ["directory"]),
      make(project, "l/in/deep", "file", "deep"),
      remove(project, "d/x", "file", "x"),
      remove(project, "d/empty", "directory"),
      turn(project, "d", ["directory"], ["file", "now a file"]),
      make(project, "made", "directory", "", { mode: 0o700 }),
    ]);
    expect(names(project)).toEqual(["d", "f -> d", "l/", "l/in/", "l/in/deep", "made/"]);
    expect([project.read("d"), lstatSync(project.path("made")).mode & 0o777]).toEqual(["now a file", 0o700]);
    expect(project.journals()).toEqual([]);
  });

  it("get a mode that closes them only when nothing has to be put into them any more", async () => {
    const project = new Project(temporaryDirectory());
    project.write("d/x", "x");
    const chmod: ChangeOp = { ...turn(project, "d", ["directory"], ["directory"]), mode: 0o500 } as ChangeOp;
    await project.apply([
      chmod,
      project.modify("d/x", "y"),
      make(project, "n", "directory", "", { mode: 0o500 }),
      make(project, "n/y", "file", "y"),
    ]);
    expect([lstatSync(project.path("d")).mode & 0o777, lstatSync(project.path("n")).mode & 0o777]).toEqual([
      0o500, 0o500,
    ]);
    expect([project.read("d/x"), project.read("n/y")]).toEqual(["y", "y"]);
    for (const name of ["d", "n"]) chmodSync(project.path(name), 0o700);
  });

  it("are stale where another program put something into a directory that goes, or led a link elsewhere", async () => {
    const project = new Project(temporaryDirectory());
    project.write("d/x", "x");
    project.write("d/foreign", "theirs");
    symlinkSync("elsewhere", project.path("l"));
    const gone = [remove(project, "d/x", "file", "x"), remove(project, "d", "directory")];
    await expect(project.apply(gone)).rejects.toThrow("1 of 2 files changed since the preview (d).");
    await expect(project.apply([remove(project, "l", "symlink", "nowhere")])).rejects.toThrow("1 of 1 files changed");
    expect(names(project)).toEqual(["d/", "d/foreign", "d/x", "l -> elsewhere"]);
  });

  it("are refused where the set contradicts itself", async () => {
    const project = new Project(temporaryDirectory());
    project.write("d/x", "x");
    const set = [remove(project, "d/x", "file", "x"), remove(project, "d", "directory"), make(project, "d/y", "file")];
    await expect(project.apply(set)).rejects.toThrow(
      "Apply failed: d: another file needs a directory there. Nothing was written.",
    );
    expect(names(project)).toEqual(["d/", "d/x"]);
  });

  it("are restored with what was in them when a later step fails", async () => {
    const project = new Project(temporaryDirectory());
    project.write("a/b/x", "x");
    project.write("c/y", "y");
    symlinkSync("a", project.path("l"));
    chmodSync(project.path("a/b"), 0o750);
    const before = names(project);
    let removed = 0;
    project.disk = failing((name) => name === "rmdir" && ++removed === 2);
    const set = [
      turn(project, "l", ["symlink", "a"], ["file", "plain"]),
      remove(project, "a/b/x", "file", "x"),
      remove(project, "a/b", "directory"),
      remove(project, "a", "directory"),
      make(project, "new", "symlink", "c"),
    ];
    await expect(project.apply(set)).rejects.toThrow("Apply failed: a: EIO. All files were restored.");
    expect(names(project)).toEqual(before);
    expect([project.read("a/b/x"), lstatSync(project.path("a/b")).mode & 0o777]).toEqual(["x", 0o750]);
    expect([project.journals(), project.undoRecords()]).toEqual([[], []]);
  });

  it("keep what a path was when another program uses the directory that it became, and the apply has to go back", async () => {
    const project = new Project(temporaryDirectory());
    project.write("f", "precious");
    const set = [turn(project, "f", ["file", "precious"], ["directory"]), make(project, "f/x", "file", "ours")];
    project.disk = failingDisk((name, _path, to) => {
      if (name === "link" && to?.endsWith("/x")) writeFileSync(project.path("f/x"), "theirs");
    });
    const error = await project.apply(set).catch((thrown: Error) => thrown.message);
    const kept = readdirSync(project.root).find((name) => name.startsWith(".f."));
    expect(error).toContain(`f (what it was is kept as ${kept})`);
    expect(readFileSync(project.path(kept ?? ""), "utf8")).toBe("precious");
    expect(project.read("f/x")).toBe("theirs");
  });

  it("are finished by recovery, and its journal is one that an earlier galley does not touch", async () => {
    const project = new Project(temporaryDirectory());
    project.write("d/x", "x");
    const set = [
      remove(project, "d/x", "file", "x"),
      turn(project, "d", ["directory"], ["symlink", "y"]),
      make(project, "e", "directory"),
    ];
    project.disk = failing(
      (name, path) => name === "append" && path.endsWith(".gj") && !existsSync(project.path("d/x")),
    );
    await project.apply(set).catch(() => {});
    const [journal] = project.journals();
    if (journal) expect(readFileSync(`${project.directories.journalDir}/${journal}`, "utf8")).toContain('"version":2');
    project.disk = new Project(temporaryDirectory()).disk;
    await project.recover();
    expect(names(project)).toEqual(["d -> y", "e/"]);
    rmSync(project.path("e"), { recursive: true });
  });
});
