// Writing on a real disk: what must stay as it was, what somebody else does meanwhile, and every step failing.

import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { createWorkspace } from "../create-workspace.js";
import type { Workspace, WriteRequest } from "../workspace.js";
import type { Disk, DiskFile, PinnedDirectory } from "./disk.js";
import { nodeDisk } from "./node-disk.js";

let base: string;
let cwd: string;

beforeEach(() => {
  base = temporaryDirectory();
  cwd = join(base, "project");
  fs.mkdirSync(cwd);
});

const at = (name: string) => join(cwd, name);
const put = (name: string, text: string, mode = 0o644) => {
  fs.writeFileSync(at(name), text);
  fs.chmodSync(at(name), mode);
};
const text = (name: string) => fs.readFileSync(at(name), "utf8");
const modeOf = (name: string) => fs.statSync(at(name)).mode & 0o7777;
const hashOf = (content: string) => createHash("sha256").update(content).digest("hex");
const isRoot = process.getuid?.() === 0;
const changed = (name: string) => ({
  code: "file_changed",
  message: `File changed since it was last read: ${name}. Read it again.`,
});

const onDisk = (disk: Disk = nodeDisk): Workspace =>
  createWorkspace(disk, { cwd, home: join(base, "me"), agentDir: join(base, "me/.galley/agent") });
const write = async (
  name: string,
  content: string,
  { disk, ...request }: Omit<WriteRequest, "bytes"> & { disk?: Disk } = {},
) => {
  const workspace = onDisk(disk);
  const target = await workspace.resolve(name, "write");
  return workspace.writeFile(target, { bytes: Buffer.from(content), ...request });
};

/** Nothing but these names may be below the project. */
const names = () => fs.readdirSync(cwd, { recursive: true }).map(String).sort();

describe("what is written", () => {
  it("a new file, with the directories on the way", async () => {
    expect(await write("a/b/c.ts", "new\r\n")).toEqual({ created: true });
    expect(text("a/b/c.ts")).toBe("new\r\n");
    expect(names()).toEqual(["a", "a/b", "a/b/c.ts"]);
    const umask = process.umask();
    expect([modeOf("a"), modeOf("a/b")]).toEqual([0o777 & ~umask, 0o777 & ~umask]);
    expect(modeOf("a/b/c.ts")).toBe(0o666 & ~umask);
  });

  it("a new file in the place of the old one", async () => {
    put("a", "old", 0o755);
    const { ino } = fs.statSync(at("a"));
    const held = fs.openSync(at("a"), "r");
    expect(await write("a", "new", { expected: hashOf("old") })).toEqual({ created: false });
    expect(text("a")).toBe("new");
    expect(fs.statSync(at("a")).ino).not.toBe(ino);
    expect(fs.readFileSync(held, "utf8")).toBe("old"); // a reader never sees half a file
    fs.closeSync(held);
    expect(names()).toEqual(["a"]);
  });

  it.each([0o600, 0o644, 0o755, 0o2755, 0o1666, 0o200, 0o020])("J-10: keeps mode %o", async (mode) => {
    put("a", "old", mode);
    await write("a", "new");
    expect(modeOf("a")).toBe(mode);
  });

  it.runIf(isRoot)(
    "J-10: keeps owner and group, and the set-group bit that chown takes (skipped unless root)",
    async () => {
      put("a", "old");
      fs.chownSync(at("a"), 1234, 4321);
      fs.chmodSync(at("a"), 0o2754);
      await write("a", "new");
      expect(fs.statSync(at("a"))).toMatchObject({ uid: 1234, gid: 4321 });
      expect(modeOf("a")).toBe(0o2754);
    },
  );

  it("J-11: the file behind a link; the link stays", async () => {
    put("real", "old");
    fs.symlinkSync("real", at("link"));
    await write("link", "new");
    expect(fs.readlinkSync(at("link"))).toBe("real");
    expect(text("real")).toBe("new");
  });

  it("J-12: one name of several; the others keep the old bytes", async () => {
    put("a", "old");
    fs.linkSync(at("a"), at("b"));
    expect(await write("a", "new")).toEqual({ created: false, hardlinkBroken: true });
    expect([text("a"), text("b")]).toEqual(["new", "old"]);
  });

  it("a file whose name leaves no room for a longer one", async () => {
    const name = "ü".repeat(127);
    await write(name, "1");
    await write(name, "2");
    expect(text(name)).toBe("2");
    expect(names()).toEqual([name]);
  });
});

describe("what is refused, with nothing changed", () => {
  it.each([
    ["setuid", 0o4755, "it is a setuid file"],
    ["read-only, also for root", 0o444, "it is read-only"],
  ])("%s", async (_case, mode, reason) => {
    put("a", "old", mode);
    await expect(write("a", "new")).rejects.toMatchObject({
      code: "file_refused",
      message: `Cannot write a: ${reason}.`,
    });
    expect(text("a")).toBe("old");
  });

  it("a file whose owner cannot be kept", async () => {
    put("a", "old");
    const asOther: Disk = {
      ...nodeDisk,
      lstat: async (path) => {
        const stat = await nodeDisk.lstat(path);
        return stat.kind === "file" ? { ...stat, uid: 4711 } : stat;
      },
      create: async (path, mode) => ({
        ...(await nodeDisk.create(path, mode)),
        chown: () => Promise.reject(Object.assign(new Error(), { code: "EPERM" })),
      }),
    };
    await expect(write("a", "new", { disk: asOther })).rejects.toThrow(
      "Cannot write a: its owner and group cannot be kept.",
    );
    expect(names()).toEqual(["a"]);
  });

  it("other bytes than the caller saw", async () => {
    put("a", "old");
    await expect(write("a", "new", { expected: hashOf("older") })).rejects.toMatchObject(changed("a"));
    await expect(write("a", "new", { expected: "absent" })).rejects.toMatchObject(changed("a"));
    await expect(write("b", "new", { expected: hashOf("") })).rejects.toMatchObject(changed("b"));
    expect(text("a")).toBe("old");
    expect(names()).toEqual(["a"]);
  });

  it("another file than the one that was resolved, unless it holds what the caller saw", async () => {
    put("a", "old");
    const workspace = onDisk();
    const target = await workspace.resolve("a", "write");
    put("b", "other");
    fs.renameSync(at("b"), at("a"));
    const bytes = Buffer.from("new");
    await expect(workspace.writeFile(target, { bytes })).rejects.toMatchObject(changed("a"));
    fs.rmSync(at("a"));
    await expect(workspace.writeFile(target, { bytes })).rejects.toMatchObject(changed("a"));
    put("a", "other");
    expect(await workspace.writeFile(target, { bytes, expected: hashOf("other") })).toEqual({ created: false });
  });

  it("an aborted write, before it and while it runs", async () => {
    put("a", "old");
    const stop = new AbortController();
    const aborting = stepping((step) => {
      if (step.startsWith("fsync")) stop.abort();
    });
    const aborted = { code: "aborted", message: "Operation aborted" };
    await expect(write("a", "new", { signal: stop.signal, disk: aborting.disk })).rejects.toMatchObject(aborted);
    await expect(write("d/b", "new", { signal: stop.signal })).rejects.toMatchObject(aborted);
    expect(text("a")).toBe("old");
    expect(names()).toEqual(["a"]);
  });
});

describe("every step fails once", () => {
  const before = { a: "old" };
  const cases: [string, Parameters<typeof write>][] = [
    ["replacing", ["a", "new", { expected: hashOf("old") }]],
    ["creating", ["b", "new", { expected: "absent" }]],
    ["creating with directories", ["d/e/b", "new"]],
  ];

  it.each(cases)("%s: everything is as before, and the cause is named", async (_case, [name, content, request]) => {
    const counted = stepping();
    put("a", before.a);
    await write(name, content, { ...request, disk: counted.disk });
    fs.rmSync(cwd, { recursive: true });
    expect(counted.steps.length).toBeGreaterThan(4);
    const named = counted.steps.findIndex((step) => /^(?:rename|link)/.test(step));
    for (const [index, step] of counted.steps.entries()) {
      fs.mkdirSync(cwd);
      put("a", before.a);
      const failing = stepping((_step, number) => {
        if (number === index) throw Object.assign(new Error("injected"), { code: "ENOSPC" });
      });
      const outcome = await write(name, content, { ...request, disk: failing.disk }).then(
        () => "written",
        (error: Error) => error.message,
      );
      const told = step.startsWith("unlink") // of the second name, when the new file is in place
        ? "written"
        : step === "fsyncDir"
          ? `Wrote ${name}, but it may not outlast a power failure: the disk is full.`
          : `Cannot write ${name}: the disk is full.`;
      expect([step, outcome]).toEqual([step, told]);
      if (index <= named) expect([step, names(), text("a")]).toEqual([step, ["a"], before.a]);
      else expect(text(name)).toBe(content);
      fs.rmSync(cwd, { recursive: true });
    }
    fs.mkdirSync(cwd);
  });
});

describe("another program writes at each step before the last check", () => {
  const deeds: Record<string, (name: string) => void> = {
    "writes into the file": (name) => fs.appendFileSync(at(name), "!"),
    "puts another in its place": (name) => {
      fs.writeFileSync(at("other"), "foreign");
      fs.renameSync(at("other"), at(name));
    },
    "changes its mode": (name) => fs.chmodSync(at(name), 0o600),
    "deletes it": (name) => fs.rmSync(at(name)),
    "puts a link in its place": (name) => {
      fs.rmSync(at(name), { force: true });
      fs.symlinkSync(join(base, "victim"), at(name));
    },
  };

  it.each(Object.keys(deeds))("%s: that stays, and is told", async (deed) => {
    fs.writeFileSync(join(base, "victim"), "victim");
    const isStep = (step: string) => step.startsWith("fsync") || step.startsWith("create") || step.startsWith("append");
    for (const when of [0, 1, 2]) {
      put("a", "old");
      let seen = 0;
      let foreign = "";
      const meddled = stepping((step) => {
        if (!isStep(step) || seen++ !== when) return;
        deeds[deed]?.("a");
        foreign = fs.lstatSync(at("a"), { throwIfNoEntry: false }) ? text("a") : "absent";
      });
      const writing = write("a", "new", { expected: hashOf("old"), disk: meddled.disk });
      await expect(writing).rejects.toMatchObject(changed("a"));
      expect(fs.existsSync(at("a")) ? text("a") : "absent").toBe(foreign);
      expect(names().filter((name) => name !== "a")).toEqual([]);
      fs.rmSync(at("a"), { force: true });
    }
    expect(fs.readFileSync(join(base, "victim"), "utf8")).toBe("victim");
  });

  it("makes the new file first: it stays", async () => {
    for (const request of [{}, { expected: "absent" }])
      for (const when of ["create", "fsync", "link"]) {
        const meddled = stepping((step) => {
          if (step.startsWith(when)) put("a", "foreign");
        });
        await expect(write("a", "new", { ...request, disk: meddled.disk })).rejects.toMatchObject(changed("a"));
        expect(text("a")).toBe("foreign");
        expect(names()).toEqual(["a"]);
        fs.rmSync(at("a"));
      }
  });

  it("W-3: turns the directory into a link: nothing is written where it leads", async () => {
    const outside = join(base, "outside");
    fs.mkdirSync(outside);
    for (const when of ["pin", "create", "append", "fsync", "location"]) {
      fs.mkdirSync(at("d"));
      const meddled = stepping((step) => {
        if (!step.startsWith(when) || fs.existsSync(at("moved"))) return;
        fs.renameSync(at("d"), at("moved"));
        fs.symlinkSync(outside, at("d"));
      });
      await expect(write("d/a", "new", { disk: meddled.disk })).rejects.toThrow(
        "Cannot write d/a: a parent directory changed meanwhile.",
      );
      expect(fs.readdirSync(outside)).toEqual([]);
      expect(fs.readdirSync(at("moved"))).toEqual([]);
      fs.rmSync(at("d"));
      fs.rmSync(at("moved"), { recursive: true });
    }
  });

  it("W-3: puts a link where a directory would be made", async () => {
    const outside = join(base, "outside");
    fs.mkdirSync(outside);
    const meddled = stepping((step) => {
      if (step.startsWith("mkdir")) fs.symlinkSync(outside, at("d"));
    });
    await expect(write("d/a", "new", { disk: meddled.disk })).rejects.toThrow(
      "Cannot write d/a: a parent directory changed meanwhile.",
    );
    expect(fs.readdirSync(outside)).toEqual([]);
  });
});

it("J-13: without hard links, a new file still never replaces an existing one", async () => {
  const without: Disk = {
    ...nodeDisk,
    link: () => Promise.reject(Object.assign(new Error(), { code: "EPERM" })),
  };
  expect(await write("a", "new", { disk: without })).toEqual({ created: true });
  expect(text("a")).toBe("new");
  const late: Disk = {
    ...without,
    link: (from, to) => {
      put("b", "foreign");
      return without.link(from, to);
    },
  };
  await expect(write("b", "new", { disk: late })).rejects.toMatchObject(changed("b"));
  expect(text("b")).toBe("foreign");
  expect(names()).toEqual(["a", "b"]);
});

it("hides files on their way from lists and walks", async () => {
  put("a", "old");
  const seen: string[][] = [];
  const looking = stepping(async (step) => {
    if (!step.startsWith("fsync")) return;
    const workspace = onDisk();
    const root = await workspace.resolve(".", "read");
    const walked: string[] = [];
    for await (const file of workspace.walk(root)) walked.push(file.displayPath);
    const { entries, total } = await workspace.list(root, { limit: 9 });
    seen.push(names().length === 2 ? walked : [], [...entries.map(({ name }) => name), String(total)]);
  });
  await write("a", "new", { disk: looking.disk });
  expect(seen.slice(0, 2)).toEqual([["a"], ["a", "1"]]);
});

/** The real disk with somebody looking before each step that changes something, or that holds a directory. */
function stepping(before: (step: string, index: number) => void | Promise<void> = () => {}): {
  disk: Disk;
  steps: string[];
} {
  const steps: string[] = [];
  const note = async (step: string) => {
    steps.push(step);
    await before(step, steps.length - 1);
  };
  const file = (made: DiskFile): DiskFile => ({
    ...made,
    append: async (bytes) => note("append").then(() => made.append(bytes)),
    chmod: async (mode) => note("chmod").then(() => made.chmod(mode)),
    fsync: async () => note("fsync").then(() => made.fsync()),
  });
  const directory = (pinned: PinnedDirectory): PinnedDirectory => ({
    ...pinned,
    location: async () => note("location").then(() => pinned.location()),
    fsync: async () => note("fsyncDir").then(() => pinned.fsync()),
  });
  const disk: Disk = {
    ...nodeDisk,
    pin: async (path) => note("pin").then(async () => directory(await nodeDisk.pin(path))),
    create: async (path, mode) => note("create").then(async () => file(await nodeDisk.create(path, mode))),
    mkdir: async (path) => note("mkdir").then(() => nodeDisk.mkdir(path)),
    link: async (from, to) => note("link").then(() => nodeDisk.link(from, to)),
    rename: async (from, to) => note("rename").then(() => nodeDisk.rename(from, to)),
    unlink: async (path) => note("unlink").then(() => nodeDisk.unlink(path)),
  };
  return { disk, steps };
}
