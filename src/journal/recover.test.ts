import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import type { ChangeOp } from "./change-set.js";
import { failingDisk, Project } from "./faults/real-disk.test-kit.js";
import { nodeChangeDisk } from "./node-change-disk.js";
import { encodeRecord } from "./records.js";
import { recoverChanges } from "./recover.js";

let project: Project;
beforeEach(() => {
  project = new Project(temporaryDirectory());
  for (const name of ["a", "b", "c"]) project.write(name, "old");
});

const before = { a: "old", b: "old", c: "old" };

/** From this call on the process is as good as dead. */
async function dieAt(isThere: (name: string, path: string) => boolean, ops: readonly ChangeOp[]): Promise<void> {
  let isDead = false;
  project.disk = failingDisk((name, path) => {
    isDead ||= isThere(name, path);
    if (isDead) throw Object.assign(new Error("dead"), { code: "EIO" });
  });
  await project.apply(ops, { width: 1 }).catch(() => {});
  project.disk = nodeChangeDisk;
  project.settled.splice(0);
}

describe("recovery on the real disk", () => {
  it("has nothing to do where nothing was ever applied", async () => {
    rmSync(project.directories.journalDir, { recursive: true });
    expect(await project.recover()).toEqual([]);
  });

  it("finds a journal that is reached through a link", async () => {
    await dieAt((name) => name === "rename", [project.modify("a", "new")]);
    const journalDir = join(project.home, "link");
    symlinkSync(project.directories.journalDir, journalDir);
    const settle = async () => true;
    expect(await recoverChanges({ disk: nodeChangeDisk, journalDir, width: 1, settle })).toMatchObject([
      { result: "applied" },
    ]);
    expect([project.tree(), project.journals()]).toEqual([{ ...before, a: "new" }, []]);
  });

  it("rolls back before the commit and reports nothing", async () => {
    await dieAt(
      (name, path) => name === "link" && path.endsWith("/c"),
      [project.modify("a", "new"), project.create("n/m", "new"), project.delete("c")],
    );
    expect(project.journals()).toHaveLength(1);
    expect(await project.recover()).toEqual([]);
    expect(project.tree()).toEqual(before);
    expect([...project.journals(), ...project.undoRecords(), ...project.settled]).toEqual([]);
  });

  it("rolls forward after the commit, and reports to the owner", async () => {
    const ops = [project.modify("a", "new"), project.create("n/m", "new"), project.delete("c")];
    let renames = 0;
    await dieAt((name) => name === "rename" && ++renames > 0, ops);
    const [outcome] = await project.recover();
    expect(outcome).toMatchObject({ result: "applied", foreign: [] });
    expect(project.settled).toEqual([outcome]);
    expect(project.tree()).toEqual({ a: "new", b: "old", "n/m": "new" });
    expect([project.journals(), project.undoRecords().length]).toEqual([[], 1]);
    expect(await project.recover()).toEqual([]);
  });

  it("counts a file that was applied and then edited as applied", async () => {
    await dieAt(
      (name, path) => name === "rename" && path.includes("/.b."),
      [project.modify("a", "new"), project.modify("b", "new")],
    );
    project.write("a", "edited since");
    expect(await project.recover()).toMatchObject([{ result: "applied" }]);
    expect(project.tree()).toEqual({ a: "edited since", b: "new", c: "old" });
  });

  it("rolls back when another program wrote a file, and leaves that file alone", async () => {
    await dieAt(
      (name, path) => name === "rename" && path.includes("/.b."),
      [project.modify("a", "new"), project.modify("b", "new")],
    );
    project.write("b", "theirs");
    expect(await project.recover()).toMatchObject([{ result: "reverted", foreign: ["b"] }]);
    expect(project.tree()).toEqual({ ...before, b: "theirs" });
    expect([...project.journals(), ...project.undoRecords()]).toEqual([]);
  });

  it("copes with a directory that is gone", async () => {
    for (const name of ["d/a", "d/b", "e/a"]) project.write(name, "old");
    const ops = [project.modify("d/a", "new"), project.delete("d/b"), project.modify("e/a", "new")];
    await dieAt((name, path) => name === "unlink" && path.endsWith("/b"), ops);
    rmSync(project.path("d"), { recursive: true });
    expect(await project.recover()).toMatchObject([{ result: "applied" }]);
    expect(project.tree()).toEqual({ ...before, "e/a": "new" });
    expect(project.journals()).toEqual([]);
  });

  it("copes with a directory that is gone on the way back", async () => {
    for (const name of ["d/a", "d/b", "e/a"]) project.write(name, "old");
    const ops = [project.modify("d/a", "new"), project.delete("d/b"), project.modify("e/a", "new")];
    await dieAt((name, path) => name === "rename" && path.includes("/.a.") && path.includes("-2.new"), ops);
    rmSync(project.path("d"), { recursive: true });
    project.write("e/a", "theirs");
    expect(await project.recover()).toMatchObject([{ result: "reverted", foreign: ["d/a", "d/b", "e/a"] }]);
    expect(project.tree()).toEqual({ ...before, "e/a": "theirs" });
    expect(project.journals()).toEqual([]);
  });

  it("J-6: does not take what is behind a link, or not mounted, for gone", async () => {
    for (const name of ["d/a", "d/b"]) project.write(name, "old");
    await dieAt(
      (name, path) => name === "rename" && path.includes("/.b."),
      [project.modify("d/a", "new"), project.modify("d/b", "new")],
    );
    renameSync(project.path("d"), project.path("moved"));
    symlinkSync(project.path("moved"), project.path("d"));
    await expect(project.recover()).rejects.toThrow(/^Recovery needed: .*\/d is now a link$/);
    renameSync(project.root, `${project.root}-away`);
    await expect(project.recover()).rejects.toThrow(/^Recovery needed: .*\/project: ENOENT$/);
    renameSync(`${project.root}-away`, project.root);
    rmSync(project.path("d"));
    renameSync(project.path("moved"), project.path("d"));
    expect(await project.recover()).toMatchObject([{ result: "applied" }]);
    expect(project.tree()).toEqual({ ...before, "d/a": "new", "d/b": "new" });
  });

  it("copes with undo records that are gone", async () => {
    await dieAt((name, path) => name === "link" && path.endsWith("/a"), [project.modify("a", "new")]);
    rmSync(project.directories.undoDir, { recursive: true });
    expect(await project.recover()).toEqual([]);
    expect([project.tree(), project.journals()]).toEqual([before, []]);
  });

  it("keeps a directory into which another program put a file", async () => {
    await dieAt((name) => name === "link", [project.create("n/m", "new"), project.modify("a", "new")]);
    project.write("n/theirs", "theirs");
    await project.recover();
    expect(project.tree()).toEqual({ ...before, "n/theirs": "theirs" });
  });

  it("J-6: says what is needed, changes nothing, and finishes when it can", async () => {
    await dieAt(
      (name, path) => name === "rename" && path.includes("/.b."),
      [project.modify("a", "new"), project.modify("b", "new")],
    );
    const torn = project.tree();
    project.disk = failingDisk((name) => {
      if (name === "rename") throw Object.assign(new Error("no"), { code: "EROFS" });
    });
    await expect(project.recover()).rejects.toMatchObject({
      code: "apply_failed",
      message: "Recovery needed: b: EROFS",
    });
    expect(project.tree()).toEqual(torn);
    project.disk = nodeChangeDisk;
    await project.recover();
    expect(project.tree()).toEqual({ a: "new", b: "new", c: "old" });
  });

  it("J-7: tries again while the owner cannot record the outcome", async () => {
    project.settles = async () => false;
    await project.apply([project.modify("a", "new")]);
    expect(project.journals()).toHaveLength(1);
    project.settles = async () => Promise.reject(new Error("the session is locked"));
    expect(await project.recover()).toMatchObject([{ result: "applied" }]);
    expect(project.journals()).toHaveLength(1);
    await project.apply([project.modify("b", "new")], { settle: async () => true });
    project.settles = async () => true;
    await project.recover();
    expect([project.journals(), project.tree()]).toEqual([[], { a: "new", b: "new", c: "old" }]);
  });

  it("removes a journal that never got to its first record", async () => {
    for (const [name, bytes] of Object.entries({ "0.gj": "", "1.gj": '["half', "2.gj": "\0\0\0\n" }))
      writeFileSync(join(project.directories.journalDir, name), bytes);
    expect(await project.recover()).toEqual([]);
    expect(project.journals()).toEqual([]);
  });

  it("touches nothing that a later version left", async () => {
    const path = join(project.directories.journalDir, "0.gj");
    writeFileSync(path, encodeRecord({ type: "begin", version: 3 }));
    await expect(project.recover()).rejects.toThrow(
      `Recovery needed: ${path} was written by a later version of galley`,
    );
    expect(project.journals()).toEqual(["0.gj"]);
  });

  it("does not remove a journal that it cannot read", async () => {
    writeFileSync(join(project.directories.journalDir, "0.gj"), "");
    project.disk = { ...nodeChangeDisk, read: async () => undefined };
    await expect(project.recover()).rejects.toThrow(/^Recovery needed: .*0\.gj cannot be read in full$/);
    expect(project.journals()).toEqual(["0.gj"]);
  });

  it("passes over what is no journal", async () => {
    mkdirSync(join(project.directories.journalDir, "d.gj"));
    writeFileSync(join(project.directories.journalDir, "note.txt"), "");
    expect(await project.recover()).toEqual([]);
    expect(readdirSync(project.directories.journalDir)).toEqual(["d.gj", "note.txt"]);
  });
});
