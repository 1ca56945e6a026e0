import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { isTempName } from "../files/disk/temp-names.js";
import { failingDisk, Project } from "./faults/real-disk.test-kit.js";
import { nodeChangeDisk } from "./node-change-disk.js";
import { readUndoRecord } from "./undo-record.js";

let project: Project;
beforeEach(() => {
  project = new Project(temporaryDirectory());
});

const isRoot = process.getuid?.() === 0;

describe("a change set on the real disk", () => {
  it("modifies, creates in new directories, deletes and renames in one go, and leaves nothing else", async () => {
    project.write("a.ts", "old a");
    project.write("gone.ts", "old gone");
    project.write("from.ts", "old from", 0o755);
    const ops = [
      project.modify("a.ts", "new a"),
      project.create("x/y/new.ts", "new"),
      project.delete("gone.ts"),
      project.rename("from.ts", "x/to.ts", "new to"),
    ];
    const { isUndoable, hardlinkBroken } = await project.apply(ops);
    expect(project.tree()).toEqual({ "a.ts": "new a", "x/to.ts": "new to", "x/y/new.ts": "new" });
    expect(statSync(project.path("x/to.ts")).mode & 0o7777).toBe(0o755);
    expect({ isUndoable, hardlinkBroken, journals: project.journals() }).toEqual({
      isUndoable: true,
      hardlinkBroken: [],
      journals: [],
    });
    expect(project.settled).toMatchObject([{ result: "applied", foreign: [] }]);
  });

  it("says which files changed since they were seen, and changes none", async () => {
    for (const name of ["a", "b", "c"]) project.write(name, "old");
    const ops = [
      project.modify("a", "new"),
      project.modify("b", "new"),
      project.delete("c"),
      project.create("d", "new"),
    ];
    project.write("b", "theirs");
    project.write("d", "theirs");
    const before = project.tree();
    await expect(project.apply(ops)).rejects.toMatchObject({
      code: "stale_preview",
      message: "2 of 4 files changed since the preview (b, d).",
      details: { files: ["b", "d"], total: 4 },
    });
    expect(project.tree()).toEqual(before);
    expect([...project.journals(), ...project.undoRecords()]).toEqual([]);
  });

  it("takes a file that is gone for a changed one", async () => {
    project.write("a/b", "old");
    const op = project.modify("a/b", "new");
    await expect(project.apply([{ ...op, path: project.path("no/such"), shownPath: "no/such" }])).rejects.toMatchObject(
      {
        code: "stale_preview",
      },
    );
  });

  it("refuses one file twice, by its path or by what it is", async () => {
    project.write("a", "old");
    linkSync(project.path("a"), project.path("b"));
    await expect(project.apply([project.modify("a", "1"), project.delete("a")])).rejects.toThrow(
      "Apply failed: a: it is the same file as a. Nothing was written.",
    );
    await expect(project.apply([project.modify("a", "1"), project.modify("b", "2")])).rejects.toThrow(
      "Apply failed: b: it is the same file as a. Nothing was written.",
    );
    await expect(project.apply([project.create("n", "1"), project.create("n/m", "2")])).rejects.toThrow(
      "Apply failed: n: another file needs a directory there. Nothing was written.",
    );
    expect(project.tree()).toEqual({ a: "old", b: "old" });
  });

  it("J-12: gives one name of several the new bytes, and says so", async () => {
    project.write("a", "old");
    linkSync(project.path("a"), project.path("other"));
    expect(await project.apply([project.modify("a", "new")])).toMatchObject({ hardlinkBroken: ["a"] });
    expect(project.tree()).toEqual({ a: "new", other: "old" });
    expect(statSync(project.path("other")).nlink).toBe(1);
  });

  it("J-10: keeps exec, set-group and sticky bits, also of a file that is renamed", async () => {
    const modes = { plain: 0o640, exec: 0o755, group: 0o2775, sticky: 0o1666 };
    for (const [name, mode] of Object.entries(modes)) {
      project.write(name, "old");
      chmodSync(project.path(name), mode);
    }
    await project.apply(Object.keys(modes).map((name) => project.modify(name, "new")));
    await project.apply(Object.keys(modes).map((name) => project.rename(name, `${name}-moved`)));
    for (const [name, mode] of Object.entries(modes))
      expect([name, statSync(project.path(`${name}-moved`)).mode & 0o7777]).toEqual([name, mode]);
  });

  it.runIf(isRoot)("J-10: keeps owner and group (skipped unless root)", async () => {
    project.write("a", "old");
    chownSync(project.path("a"), 12, 34);
    await project.apply([project.modify("a", "new")]);
    expect(statSync(project.path("a"))).toMatchObject({ uid: 12, gid: 34 });
  });

  it("J-10: refuses before anything is written what it cannot keep", async () => {
    project.write("a", "old");
    project.write("b", "old");
    const foreign = { ...nodeChangeDisk };
    foreign.lstat = async (path) => ({ ...(await nodeChangeDisk.lstat(path)), uid: 4321 });
    foreign.create = async (path, mode) => {
      const file = await nodeChangeDisk.create(path, mode);
      return { ...file, chown: async () => Promise.reject(Object.assign(new Error("EPERM"), { code: "EPERM" })) };
    };
    project.disk = foreign;
    await expect(project.apply([project.modify("a", "new"), project.modify("b", "new")])).rejects.toThrow(
      /^Apply failed: [ab]: its owner and group cannot be kept\. Nothing was written\.$/,
    );
    project.disk = nodeChangeDisk;
    chmodSync(project.path("a"), 0o4755);
    await expect(project.apply([project.modify("a", "new")])).rejects.toThrow("a: it is setuid");
    await expect(project.apply([project.create("c", "new", { mode: 0o4755 })])).rejects.toThrow(
      "c: it would be setuid",
    );
    expect(project.tree()).toEqual({ a: "old", b: "old" });
    expect([...project.journals(), ...project.undoRecords()]).toEqual([]);
  });

  it("J-13: refuses a read-only file unless it is forced", async () => {
    project.write("a", "old", 0o444);
    await expect(project.apply([project.modify("a", "new")])).rejects.toThrow(
      "Apply failed: a: it is read-only. Nothing was written.",
    );
    await project.apply([project.modify("a", "new", { force: true })]);
    expect(project.tree()).toEqual({ a: "new" });
    expect(statSync(project.path("a")).mode & 0o7777).toBe(0o444);
  });

  it("J-13: refuses a mount point, and copies where there are no second names", async () => {
    project.write("a", "old");
    const link = (code: string) => ({
      ...nodeChangeDisk,
      link: async () => Promise.reject(Object.assign(new Error(code), { code })),
    });
    project.disk = link("EXDEV");
    await expect(project.apply([project.modify("a", "new")])).rejects.toThrow(
      "Apply failed: a: it is a mount point. Nothing was written.",
    );
    project.disk = link("EPERM");
    await project.apply([project.modify("a", "new"), project.create("b", "new")]);
    expect(project.tree()).toEqual({ a: "new", b: "new" });
  });

  it("J-13: does not commit with a copy that is not what it would put back", async () => {
    project.write("a", "old");
    project.disk = {
      ...nodeChangeDisk,
      async link() {
        project.write("its like", "old");
        renameSync(project.path("its like"), project.path("a"));
        throw Object.assign(new Error("EPERM"), { code: "EPERM" });
      },
    };
    await expect(project.apply([project.modify("a", "new")])).rejects.toMatchObject({ code: "stale_preview" });
    expect([project.tree(), project.journals(), project.undoRecords()]).toEqual([{ a: "old" }, [], []]);
  });

  it("refuses what is not a plain file, and a way that is none", async () => {
    project.write("a", "old");
    symlinkSync(project.path("a"), project.path("link"));
    mkdirSync(project.path("dir"));
    await expect(project.apply([project.modify("link", "new")])).rejects.toThrow("Apply failed: link: it is a link.");
    await expect(project.apply([project.create("dir", "new")])).rejects.toThrow(
      "Apply failed: dir: it is a directory.",
    );
    await expect(project.apply([project.create("a/b", "new")])).rejects.toThrow(
      "it is not a directory. Nothing was written.",
    );
    symlinkSync(project.path("dir"), project.path("way"));
    await expect(project.apply([project.create("way/b", "new")])).rejects.toThrow(
      /^Apply failed: .*way: it is not a directory/,
    );
    expect(project.tree()).toEqual({ a: "old", link: "old", "dir/": null, "way/": null });
  });

  it("J-17: keeps an undo record of what was there", async () => {
    project.write("a", Buffer.from("old \xff\u0000", "latin1"), 0o600);
    utimesSync(project.path("a"), 1_700_000_000.123456, 1_700_000_000.123456);
    project.write("b", "bye", 0o755);
    const owner = { session: "s1", pendingId: "pa_1" };
    const { txid } = await project.apply([project.modify("a", "new"), project.delete("b"), project.create("c", "")], {
      owner,
    });
    const [path = ""] = project.undoRecords();
    expect(basename(path)).toBe(`${txid}.gu`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const record = await readUndoRecord(nodeChangeDisk, path);
    expect(record).toMatchObject({
      txid,
      at: 1234,
      label: "Rename it",
      sourceToolName: "ast_edit",
      by: "user",
      reason: "agreed",
      owner,
    });
    const [a, b, c] = record?.files ?? [];
    expect(a).toMatchObject({ kind: "modify", path: project.path("a"), shownPath: "a", before: { mode: 0o600 } });
    expect(a?.before?.bytes).toEqual(Buffer.from("old \xff\u0000", "latin1"));
    expect(a?.before?.mtimeMs).toBeCloseTo(1_700_000_000_123.456, 3);
    expect(b).toMatchObject({ kind: "delete", before: { bytes: Buffer.from("bye"), mode: 0o755 }, afterHash: null });
    expect(c).toMatchObject({ kind: "create", before: null });
    expect(project.settled[0]?.owner).toEqual(owner);
  });

  it("J-17: keeps bytes that are at hand without reading them again, and only if they are what was there", async () => {
    for (const name of ["a", "b", "c"]) project.write(name, `old ${name}`);
    const read: string[] = [];
    const disk = failingDisk((call, path) => {
      if (call === "read") read.push(basename(path));
    });
    const at = (name: string, beforeBytes?: string) => ({
      ...project.modify(name, "new"),
      ...(beforeBytes === undefined ? {} : { beforeBytes: Buffer.from(beforeBytes) }),
    });
    await project.apply([at("a", "old a"), at("b", "not b"), at("c")], { disk });
    const record = await readUndoRecord(nodeChangeDisk, project.undoRecords()[0] ?? "");
    expect(record?.files.map(({ before }) => before?.bytes.toString())).toEqual(["old a", "old b", "old c"]);
    expect(read.sort()).toEqual(["b", "c"]);
  });

  it("J-17: a record that is not there is none, and a damaged one is told", async () => {
    project.write("a", "old");
    await project.apply([project.modify("a", "new")]);
    const [path = ""] = project.undoRecords();
    writeFileSync(path, "x", { flag: "a" });
    await expect(readUndoRecord(nodeChangeDisk, path)).rejects.toMatchObject({ code: "file_changed" });
    expect(await readUndoRecord(nodeChangeDisk, `${path}x`)).toBeUndefined();
  });

  it("keeps no undo record where none is wanted", async () => {
    project.write("a", "old");
    expect(await project.apply([project.modify("a", "new")], { keepsUndo: false })).toMatchObject({
      isUndoable: false,
    });
    expect(project.undoRecords()).toEqual([]);
  });

  it("sets the mode and the time that a plan carries, to the microsecond", async () => {
    project.write("a", "old");
    project.write("b", "same");
    for (const mtimeMs of [1_600_000_000_123.456, 5_000_004, 1_700_000_000_000.001, 1_999_999_999_999.999]) {
      const wish = { mode: 0o711, mtimeMs };
      const created = `c${mtimeMs}`;
      await project.apply([
        project.modify("a", `new ${mtimeMs}`, wish),
        project.create(created, "new", wish),
        project.modify("b", "same", wish),
      ]);
      for (const name of ["a", "b", created]) {
        const { mode, mtimeNs } = lstatSync(project.path(name), { bigint: true });
        expect([name, Number(mode) & 0o7777, mtimeNs / 1000n]).toEqual([
          name,
          0o711,
          BigInt(Math.round(mtimeMs * 1000)),
        ]);
      }
    }
  });

  it("does nothing, and writes no journal, where nothing would change", async () => {
    project.write("a", "same");
    const { ino, mtimeMs } = statSync(project.path("a"));
    project.disk = failingDisk((name) => {
      if (["create", "rename", "link", "unlink"].includes(name)) throw new Error(`${name} was called`);
    });
    expect(await project.apply([project.modify("a", "same")])).toMatchObject({ isUndoable: false });
    expect(statSync(project.path("a"))).toMatchObject({ ino, mtimeMs });
    expect(project.settled).toEqual([]);
  });

  it("takes names of 255 bytes, cut at a whole character", async () => {
    const names = ["x".repeat(255), `${"é".repeat(127)}x`, `${"語".repeat(85)}`];
    for (const name of names) project.write(name, "old");
    const staged: string[] = [];
    project.disk = failingDisk((name, path) => {
      if (name === "create" && !/\.g[ju]$/.test(path)) staged.push(basename(path));
    });
    await project.apply(names.map((name) => project.modify(name, "new")));
    expect(Object.values(project.tree())).toEqual(["new", "new", "new"]);
    expect(staged.map((name) => [isTempName(name), Buffer.byteLength(name) <= 255, name.includes("\ufffd")])).toEqual(
      names.map(() => [true, true, false]),
    );
  });

  it("J-1: stops before the commit when it is asked to, and puts everything back", async () => {
    for (const name of ["a", "b", "c"]) project.write(name, "old");
    const ops = [
      project.modify("a", "new"),
      project.modify("b", "new"),
      project.create("n/m", "new"),
      project.delete("c"),
    ];
    const before = project.tree();
    let calls = 0;
    project.disk = failingDisk(() => void calls++);
    await project.apply(ops.slice(0, 1));
    const total = calls;
    project.write("a", "old");
    for (let at = 0; at < total; at += 3) {
      const stop = new AbortController();
      let left = at;
      let isCommitted = false;
      project.disk = failingDisk((name, _path, to = "") => {
        if (name === "rename" || (name === "link" && !isTempName(basename(to)))) isCommitted = true;
        if (left-- === 0) stop.abort();
      });
      const outcome = await project.apply(ops, { signal: stop.signal, width: 1 }).then(
        () => "applied",
        (error) => error.code,
      );
      if (outcome === "applied") break;
      expect([outcome, isCommitted, project.tree()]).toEqual(["aborted", false, before]);
      expect([...project.journals(), ...project.undoRecords().slice(1)]).toEqual([]);
    }
  });

  it("J-2: ignores a cancel that comes after the commit", async () => {
    project.write("a", "old");
    project.write("b", "old");
    const stop = new AbortController();
    project.disk = failingDisk((name) => {
      if (name === "rename") stop.abort();
    });
    await project.apply([project.modify("a", "new"), project.modify("b", "new")], { signal: stop.signal });
    expect(project.tree()).toEqual({ a: "new", b: "new" });
  });

  it("J-2, J-3: puts the very same files back when a rename fails, and names the file and the cause", async () => {
    project.write("a", "old");
    project.write("b", "old");
    project.write("c", "old");
    const before = ["a", "b", "c"].map((name) => statSync(project.path(name)));
    project.disk = failingDisk((name, path) => {
      if (name === "rename" && basename(path).startsWith(".b.")) throw Object.assign(new Error("no"), { code: "EIO" });
    });
    await expect(
      project.apply([
        project.modify("a", "new"),
        project.create("n", "new"),
        project.delete("c"),
        project.modify("b", "new"),
      ]),
    ).rejects.toMatchObject({ code: "apply_failed", message: "Apply failed: b: EIO. All files were restored." });
    expect(project.tree()).toEqual({ a: "old", b: "old", c: "old" });
    const after = ["a", "b", "c"].map((name) => statSync(project.path(name)));
    expect(after.map(({ ino, mtimeMs, mode }) => [ino, mtimeMs, mode])).toEqual(
      before.map(({ ino, mtimeMs, mode }) => [ino, mtimeMs, mode]),
    );
    expect([...project.journals(), ...project.undoRecords()]).toEqual([]);
    expect(project.settled).toMatchObject([{ result: "reverted", foreign: [] }]);
  });

  it("J-3: names a file that another program changed meanwhile, and leaves it alone", async () => {
    project.write("a", "old");
    project.write("b", "old");
    project.disk = failingDisk((name, path) => {
      if (name === "rename" && basename(path).startsWith(".a.")) writeFileSync(project.path("b"), "theirs");
    });
    await expect(project.apply([project.modify("a", "new"), project.modify("b", "new")])).rejects.toThrow(
      "Apply failed: b: another program changed it. Not restored, changed by another program: b.",
    );
    expect(project.tree()).toEqual({ a: "old", b: "theirs" });
  });

  it("works where the journal is reached through a link", async () => {
    project.write("a", "old");
    const link = join(project.home, "link");
    symlinkSync(project.home, link);
    const directories = { ...project.directories, journalDir: join(link, "journal"), undoDir: join(link, "undo") };
    await project.apply([project.modify("a", "new")], { directories });
    expect([project.tree(), project.journals(), project.undoRecords().length]).toEqual([{ a: "new" }, [], 1]);
  });

  it("a directory that is swapped for a link leads nowhere", async () => {
    project.write("d/a", "old");
    const outside = join(project.home, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "a"), "old");
    for (const moment of ["digest", "create", "link", "rename"]) {
      const op = project.modify("d/a", moment);
      let isSwapped = false;
      project.disk = failingDisk((name) => {
        if (name !== moment || isSwapped) return;
        isSwapped = true;
        renameSync(project.path("d"), project.path("moved"));
        symlinkSync(outside, project.path("d"));
      });
      await project.apply([op]).catch(() => {});
      expect([isSwapped, readdirSync(outside), readFileSync(join(outside, "a"), "utf8")]).toEqual([true, ["a"], "old"]);
      rmSync(project.path("d"));
      renameSync(project.path("moved"), project.path("d"));
    }
  });

  it("no more than ten thousand files at once", async () => {
    const ops = Array.from({ length: 10_001 }, (_, index) => project.create(`f${index}`, "x"));
    await expect(project.apply(ops)).rejects.toThrow("no more than 10000 can be changed at once");
  });
});
