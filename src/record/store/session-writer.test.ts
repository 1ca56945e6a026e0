import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import type { SessionEntry } from "../../protocol/entries.js";
import { manualClock } from "../../testing/manual-clock.js";
import { draftPath } from "./create-file.js";
import { type LoadedSession, loadSession } from "./load-session.js";
import { ensureDirectory, nodeDisk, O_CREAT, type SessionDisk } from "./session-disk.js";
import { SessionWriter, type WriterOptions } from "./session-writer.js";
import { faultyDisk, header, heardLog, linesOf, readFile, userEntry } from "./store.test-kit.js";

const [a, b, c, d] = [userEntry("a", null), userEntry("b", "a"), userEntry("c", "b"), userEntry("d", "c")] as const;
const model: SessionEntry = { type: "model_change", id: "m", parentId: null, timestamp: "t", model: "acme/x" };
const ids = (path: string) => readFile(path).entries.map(({ id }) => id);

interface Setup {
  path?: string;
  disk?: SessionDisk;
  loaded?: LoadedSession;
}

function setUp({ path = join(temporaryDirectory(), "s.jsonl"), disk = nodeDisk, loaded }: Setup = {}) {
  const clock = manualClock();
  const log = heardLog();
  const given: string[] = [];
  const options: WriterOptions = {
    path,
    header,
    clock,
    log,
    disk,
    sinks: { saveImage: async () => undefined, saveText: async () => undefined },
    ensureDirectory: (directory) => ensureDirectory(directory, [], () => {}),
    onReadOnly: (reason) => given.push(reason),
  };
  const session = loaded?.session;
  const outdated = session && session.version < 3 ? session : undefined;
  const store = loaded?.access ? SessionWriter.resume(options, loaded.access, outdated) : SessionWriter.create(options);
  onTestFinished(() => store.close());
  return { store, path, clock, log, given };
}

async function load(path: string, disk = nodeDisk): Promise<LoadedSession> {
  const loaded = await loadSession(path, { clock: manualClock(), disk });
  if (loaded.kind === "absent") throw new Error(`nothing at ${path}`);
  return loaded;
}

/** Opened and let go of again. */
async function look(path: string, disk = nodeDisk): Promise<LoadedSession> {
  const loaded = await load(path, disk);
  if (loaded.access) {
    nodeDisk.close(loaded.access.file);
    await loaded.access.lock.release();
  }
  return loaded;
}

async function reopen(path: string, disk = nodeDisk) {
  return setUp({ path, disk, loaded: await load(path, disk) });
}

/** A file with a and b in it, open for more. */
async function withFile(changes: Partial<SessionDisk> = {}) {
  const { disk, failing } = faultyDisk(changes);
  const opened = setUp({ disk });
  opened.store.append(a);
  opened.store.append(b);
  await opened.store.sync();
  return { ...opened, failing };
}

describe("a new file", () => {
  it("comes with the first message, and what was appended before it", async () => {
    const { store, path } = setUp();
    store.append(model);
    await store.sync();
    expect(existsSync(path)).toBe(false);
    store.append({ ...a, parentId: "m" });
    await store.flush();
    expect(readFile(path)).toMatchObject({ header, entries: [model, { ...a, parentId: "m" }], problemCount: 0 });
  });

  it("never comes without a message", async () => {
    const { store, path } = setUp();
    store.append(model);
    await store.close();
    expect(existsSync(path)).toBe(false);
  });

  it("lets the loop turn before anything is done for it: the model is asked first", async () => {
    const directory = join(temporaryDirectory(), "sessions");
    const { store, path } = setUp({ path: join(directory, "s.jsonl") });
    store.append(a);
    await new Promise(setImmediate);
    expect(existsSync(directory)).toBe(false);
    await store.flush();
    expect(ids(path)).toEqual(["a"]);
  });

  it("is for this user alone, and so are the directories made for it (S-10)", async () => {
    const path = join(temporaryDirectory(), "x", "y", "s.jsonl");
    const { store } = setUp({ path });
    store.append(a);
    await store.flush();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
    expect(statSync(join(path, "../..")).mode & 0o777).toBe(0o700);
  });

  it("leaves nothing beside it, replaces what an earlier attempt left, and takes no other file for that", async () => {
    const directory = temporaryDirectory();
    const path = join(directory, "report");
    writeFileSync(draftPath(path), "half a file");
    writeFileSync(`${path}.tmp`, "the user's own");
    const { store } = setUp({ path });
    store.append(a);
    await store.flush();
    expect(readdirSync(directory).sort()).toEqual(["report", "report.tmp"]);
    expect(readFileSync(`${path}.tmp`, "utf8")).toBe("the user's own");
    expect(ids(path)).toEqual(["a"]);
  });

  it("takes the place of an empty file, and of no other", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    writeFileSync(path, "");
    const first = setUp({ path });
    first.store.append(a);
    await first.store.flush();
    expect(ids(path)).toEqual(["a"]);

    const foreign = join(temporaryDirectory(), "s.jsonl");
    const second = setUp({ path: foreign });
    writeFileSync(foreign, "the user's notes");
    second.store.append(a);
    await second.store.flush();
    expect(readFileSync(foreign, "utf8")).toBe("the user's notes");
    expect(second.given).toEqual([`Another file now exists at ${foreign}`]);
  });

  it("is made also where there are no hard links", async () => {
    const link = () => {
      throw Object.assign(new Error("EPERM"), { code: "EPERM" });
    };
    const { store, path, given } = setUp({ disk: faultyDisk({ link }).disk });
    store.append(a);
    await store.flush();
    store.append(b);
    expect(ids(path)).toEqual(["a", "b"]);
    expect(given).toEqual([]);
  });

  it("waits for a disk that has no room, with everything in order (S-11)", async () => {
    const { disk, failing } = faultyDisk();
    const { store, path, log } = setUp({ disk });
    failing.add("write");
    store.append(a);
    await store.flush();
    store.append(b);
    await store.flush();
    expect(existsSync(path)).toBe(false);
    expect(store.persistError).toContain("no space left on device");
    failing.clear();
    store.append(c);
    await store.flush();
    expect(ids(path)).toEqual(["a", "b", "c"]);
    expect(store.persistError).toBeUndefined();
    expect(log.heard).toHaveLength(1);
  });
});

describe("appending", () => {
  it("is done when it returns: one line, one write (S-1)", async () => {
    let writes = 0;
    const { store, path } = await withFile({
      write: (file, bytes, offset) => {
        writes++;
        return nodeDisk.write(file, bytes, offset);
      },
    });
    writes = 0;
    store.append(c);
    expect(ids(path)).toEqual(["a", "b", "c"]);
    expect(writes).toBe(1);
    expect(store.length).toBe(statSync(path).size);
  });

  it("goes on after a short write (S-1)", async () => {
    const { store, path } = await withFile({
      write: (file, bytes, offset) => nodeDisk.write(file, Buffer.from(bytes).subarray(0, offset + 7), offset),
    });
    store.append(c);
    expect(ids(path)).toEqual(["a", "b", "c"]);
  });

  it("cuts a line that failed halfway, keeps the entry, and tries again with the next (S-1, S-11)", async () => {
    let room = Number.POSITIVE_INFINITY;
    const { store, path, log } = await withFile({
      write(file, bytes, offset) {
        if (room <= 0) throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
        const part = Buffer.from(bytes).subarray(0, offset + room);
        room -= part.length - offset;
        return nodeDisk.write(file, part, offset);
      },
    });
    const before = readFileSync(path);
    room = 10;
    store.append(c);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(store.persistError).toBe("ENOSPC: no space left on device");
    store.append(d);
    await store.flush();
    room = Number.POSITIVE_INFINITY;
    await store.flush();
    expect(ids(path)).toEqual(["a", "b", "c", "d"]);
    expect(store.persistError).toBeUndefined();
    expect(log.heard).toHaveLength(1);
  });

  it("cuts it later when it cannot be cut at once", async () => {
    let isFull = false;
    const { store, path, failing } = await withFile({
      write(file, bytes, offset) {
        if (isFull && offset > 0) throw new Error("full");
        return nodeDisk.write(file, isFull ? Buffer.from(bytes).subarray(0, 5) : bytes, offset);
      },
    });
    isFull = true;
    failing.add("truncate");
    store.append(c);
    store.append(d);
    await store.flush();
    expect(statSync(path).size).toBe(store.length + 5);
    isFull = false;
    failing.clear();
    await store.flush();
    expect(readFile(path).problemCount).toBe(0);
    expect(ids(path)).toEqual(["a", "b", "c", "d"]);
  });

  it("keeps the order when some entries take longer than others", async () => {
    const { store, path } = await withFile();
    store.append(userEntry("long", "b", "x".repeat(600_000)));
    for (let index = 0; index < 20; index++) store.append(userEntry(`n${index}`, "b"));
    await store.flush();
    store.append(c);
    expect(ids(path)).toEqual(["a", "b", "long", ...Array.from({ length: 20 }, (_, index) => `n${index}`), "c"]);
  });

  it("takes an entry at the very moment when the queue runs empty", async () => {
    const { store, path } = await withFile();
    for (let index = 0; index < 50; index++) {
      store.append(userEntry(`long${index}`, "b", "x".repeat(500_001)));
      for (let step = 0; step < index; step++) await Promise.resolve();
      store.append(userEntry(`short${index}`, "b"));
      await store.flush();
    }
    expect(ids(path)).toHaveLength(102);
  });
});

describe("another writer (S-4)", () => {
  it.each([
    ["appends", (path: string) => appendFileSync(path, "{}\n")],
    ["cuts", (path: string) => truncateSync(path, 10)],
    ["removes the file", (path: string) => rmSync(path)],
    ["moves the file away", (path: string) => renameSync(path, `${path}.moved`)],
    [
      "moves the file away and puts a copy in its place",
      (path: string) => {
        renameSync(path, `${path}.moved`);
        copyFileSync(`${path}.moved`, path);
      },
    ],
    [
      "puts another file in its place, and the old one has another name",
      (path: string) => {
        linkSync(path, `${path}.old`);
        copyFileSync(path, `${path}.new`);
        renameSync(`${path}.new`, path);
      },
    ],
    [
      "puts another file in its place",
      (path: string) => {
        writeFileSync(`${path}.new`, readFileSync(path));
        renameSync(`${path}.new`, path);
      },
    ],
  ])("%s: we stop, and say so", async (_name, change) => {
    const { store, path, given } = await withFile();
    change(path);
    const after = existsSync(path) ? readFileSync(path) : undefined;
    store.append(c);
    store.append(d);
    await store.sync();
    expect(given).toEqual([`Session ${path} was changed by another program`]);
    if (after) expect(readFileSync(path).equals(after)).toBe(true);
    await store.close();
    const again = await look(path).catch(() => undefined); // cut within its header, it is no session any more
    expect(again?.readOnly).toBeUndefined();
  });

  it("a failed line is not cut off when another program wrote after it", async () => {
    let onWrite = () => {};
    const { store, path, given } = await withFile({
      write(file, bytes, offset) {
        onWrite();
        return nodeDisk.write(file, bytes, offset);
      },
    });
    onWrite = () => {
      appendFileSync(path, "theirs\n");
      throw new Error("full");
    };
    store.append(c);
    onWrite = () => {};
    store.append(d);
    await store.flush();
    expect(given).toHaveLength(1);
    expect(readFileSync(path, "utf8").endsWith("theirs\n")).toBe(true);
  });
});

describe("safe on the disk (S-5)", () => {
  function counted() {
    const synced: string[] = [];
    const disk: Partial<SessionDisk> = {
      sync: async (file) => {
        synced.push("file");
        await nodeDisk.sync(file);
      },
      syncDirectory: async () => void synced.push("directory"),
    };
    return { synced, disk };
  }

  it("a new file with its name, then only what was added", async () => {
    const { synced, disk } = counted();
    const { store } = setUp({ disk: faultyDisk(disk).disk });
    store.append(a);
    await store.sync();
    expect(synced).toEqual(["file", "directory", "directory"]);
    store.append(b);
    await Promise.all([store.sync(), store.sync()]);
    await store.sync();
    expect(synced).toEqual(["file", "directory", "directory", "file"]);
  });

  it("within a second without a call to sync", async () => {
    const { synced, disk } = counted();
    const { store, clock } = setUp({ disk: faultyDisk(disk).disk });
    store.append(a);
    await store.flush();
    clock.advance(999);
    expect(synced).toEqual([]);
    clock.advance(1);
    await store.sync();
    expect(synced).toEqual(["file", "directory", "directory"]);
    store.append(b);
    store.append(c);
    clock.advance(1000);
    await store.sync();
    expect(synced).toHaveLength(4);
    expect(clock.pendingTimers).toBe(0);
  });

  it("a failure shows until it is mended, and stops nothing", async () => {
    let isBroken = true;
    const { store, path, log } = await withFile({
      sync: async () => {
        if (isBroken) throw new Error("EIO: i/o error, fdatasync");
      },
    });
    await store.sync();
    store.append(c);
    await store.sync();
    expect(store.persistError).toBe("EIO: i/o error, fdatasync");
    expect(ids(path)).toEqual(["a", "b", "c"]);
    expect(log.heard).toHaveLength(1);
    isBroken = false;
    await store.sync();
    expect(store.persistError).toBeUndefined();
  });
});

describe("closing", () => {
  it("saves, frees the lock, and says what could not be saved", async () => {
    const { store, path, failing, log } = await withFile();
    failing.add("write");
    store.append(c);
    await store.close();
    await store.close();
    expect(log.heard.at(-1)).toMatch(/^1 session entries are lost: ENOSPC/);
    const again = await reopen(path);
    again.store.append(c);
    expect(ids(path)).toEqual(["a", "b", "c"]);
  });
});

describe("opening", () => {
  it("goes on where the file ends", async () => {
    const { store, path } = await withFile();
    await store.close();
    const again = await reopen(path);
    again.store.append(c);
    expect(ids(path)).toEqual(["a", "b", "c"]);
  });

  it("a second opener may only read, and learns who holds the file (L-2)", async () => {
    const { path } = await withFile();
    const second = await look(path);
    expect(second.access).toBeUndefined();
    expect(second.readOnly?.text).toBe(`Session ${path} is in use by another galley (pid ${process.pid})`);
    expect(second.session.entries).toHaveLength(2);
  });

  it("tells what is not there from what is empty", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const clock = manualClock();
    expect(await loadSession(path, { clock })).toEqual({ kind: "absent", path, exists: false });
    writeFileSync(path, "");
    expect(await loadSession(path, { clock })).toEqual({ kind: "absent", path, exists: true });
  });

  it.each([
    ["a source file", 'import { x } from "y";\n\nexport const z = x;\n'],
    ["one line without an end", "hello"],
    ["a broken header", '{"type":"session"\n{"type":"message"}\n'],
    ["another JSON file", '{"type":"module"}\n'],
  ])("refuses %s and leaves it as it is (S-9)", async (_name, content) => {
    const path = join(temporaryDirectory(), "s.jsonl");
    writeFileSync(path, content);
    chmodSync(path, 0o644);
    await expect(look(path)).rejects.toThrow(`Not a session file: ${path}`);
    await expect(look(path)).rejects.toThrow(`Not a session file: ${path}`); // and so the lock was freed
    expect(readFileSync(path, "utf8")).toBe(content);
    expect(statSync(path).mode & 0o777).toBe(0o644);
    expect(readdirSync(join(path, ".."))).toEqual(["s.jsonl"]);
  });

  it("refuses a directory and a device without opening them", async () => {
    await expect(look(temporaryDirectory())).rejects.toThrow("Not a session file");
    await expect(look("/dev/zero")).rejects.toThrow("Not a session file: /dev/zero");
  });

  it("refuses in a sentence what no memory could hold", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    writeFileSync(path, linesOf(header));
    truncateSync(path, 2 ** 40); // sparse
    await expect(look(path)).rejects.toThrow(`Session file is too large to load into memory: ${path} (1048576 MiB)`);
  });

  it("only reads a version that is newer (S-9)", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const content = `${linesOf({ ...header, version: 4 }, a)}{"torn`;
    writeFileSync(path, content);
    const loaded = await look(path);
    expect(loaded.readOnly?.text).toBe("Session version 4 is newer than supported (3)");
    expect(loaded.access).toBeUndefined();
    expect(readFileSync(path, "utf8")).toBe(content);
  });

  it("only reads what this user may not write", async () => {
    const { store, path } = await withFile();
    await store.close();
    const open: SessionDisk["open"] = (name, flags) => {
      if (flags & 2) throw Object.assign(new Error("EACCES"), { code: "EACCES" });
      return nodeDisk.open(name, flags);
    };
    const loaded = await look(path, { ...nodeDisk, open });
    expect(loaded.readOnly?.text).toBe(`${path} cannot be written by this user`);
    expect((await look(path)).access).toBeDefined();
  });

  it("makes a file private that other users can read, and says so (S-10)", async () => {
    const { store, path } = await withFile();
    await store.close();
    chmodSync(path, 0o664);
    const loaded = await look(path);
    expect(loaded.warnings).toEqual([`${path} was accessible to other users; it is now private`]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("reports damage in few words", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    writeFileSync(path, `${linesOf(header, a)}${"bad\n".repeat(12)}${linesOf({ ...c, parentId: "gone" })}`, {
      mode: 0o600,
    });
    expect((await look(path)).warnings).toEqual([
      `${path}: damaged lines were skipped (line 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, …)`,
      `${path}: entries whose parent is missing were attached to the entry before them (line 15)`,
    ]);
  });
});

describe("a torn end (S-2)", () => {
  async function torn(tail: string) {
    const path = join(temporaryDirectory(), "s.jsonl");
    writeFileSync(path, linesOf(header, a) + tail, { mode: 0o600 });
    return path;
  }

  it("is moved to .tail, and the next line is whole", async () => {
    const path = await torn('{"type":"mess');
    const { store, log } = await reopen(path);
    expect(readFileSync(`${path}.tail`, "utf8")).toBe('{"type":"mess');
    expect(statSync(`${path}.tail`).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).toBe(linesOf(header, a));
    store.append(b);
    expect(ids(path)).toEqual(["a", "b"]);
    expect(log.heard).toEqual([]);
  });

  it("joins an earlier one there", async () => {
    const path = await torn("first");
    await (await reopen(path)).store.close();
    appendFileSync(path, "second");
    const loaded = await look(path);
    expect(loaded.warnings).toEqual([`The last line of ${path} was torn; its 6 bytes are in ${path}.tail`]);
    expect(readFileSync(`${path}.tail`, "utf8")).toBe("first\nsecond");
  });

  it("stays where it is while another process holds the file", async () => {
    const { path } = await withFile();
    appendFileSync(path, "half a li");
    expect((await look(path)).warnings).toEqual([]);
    expect(readFileSync(path, "utf8").endsWith("half a li")).toBe(true);
    expect(existsSync(`${path}.tail`)).toBe(false);
  });

  it("that cannot be moved stays, and the next line stands on its own", async () => {
    const path = await torn('{"type":"mess');
    const { disk, failing } = faultyDisk();
    failing.add("write");
    const loaded = await load(path, disk);
    failing.clear();
    expect(loaded.warnings).toEqual([`The torn last line of ${path} could not be moved away: ENOSPC`]);
    const { store } = setUp({ path, loaded });
    store.append(b);
    expect(ids(path)).toEqual(["a", "b"]);
    expect(readFile(path).problems).toEqual([{ kind: "malformed", line: 3 }]);
  });

  it("is none when only the LF is missing: the entry stays", async () => {
    const path = await torn(JSON.stringify(b));
    const { store } = await reopen(path);
    expect(existsSync(`${path}.tail`)).toBe(false);
    store.append(c);
    expect(readFileSync(path, "utf8")).toBe(linesOf(header, a, b, c));
  });
});

describe("an older version", () => {
  const old = linesOf(
    { type: "session", id: "old", timestamp: "t", cwd: "/x" },
    { type: "message", timestamp: "t1", message: { role: "user", content: "hi", timestamp: 1 } },
    {
      type: "message",
      timestamp: "t2",
      message: { role: "hookMessage", customType: "h", content: "x", display: true },
    },
  );

  function oldFile(): string {
    const path = join(temporaryDirectory(), "s.jsonl");
    writeFileSync(path, old, { mode: 0o600 });
    return path;
  }

  it("is left alone until something is appended", async () => {
    const path = oldFile();
    const { store } = await reopen(path);
    await store.sync();
    await store.close();
    expect(readFileSync(path, "utf8")).toBe(old);
    expect(readdirSync(join(path, ".."))).toEqual(["s.jsonl"]);
  });

  it("is then put into today's form, and kept as it was", async () => {
    const path = oldFile();
    const { store } = await reopen(path);
    store.append(userEntry("n", "00000002"));
    await store.sync();
    expect(readFileSync(`${path}.v1.bak`, "utf8")).toBe(old);
    const read = readFile(path);
    expect(read).toMatchObject({ version: 3, problemCount: 0 });
    expect(read.entries.map(({ id, parentId }) => [id, parentId])).toEqual([
      ["00000001", null],
      ["00000002", "00000001"],
      ["n", "00000002"],
    ]);
    expect(read.entries[1]).toMatchObject({ message: { role: "custom" } });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    store.append(userEntry("o", "n"));
    expect(ids(path)).toHaveLength(4);
  });

  it("never overwrites an earlier backup", async () => {
    const path = oldFile();
    writeFileSync(`${path}.v1.bak`, "precious");
    const { store } = await reopen(path);
    store.append(userEntry("n", "00000002"));
    await store.flush();
    expect(readFileSync(`${path}.v1.bak`, "utf8")).toBe("precious");
    expect(readFileSync(`${path}.v1.bak.2`, "utf8")).toBe(old);
  });

  it.each(["write", "sync", "rename", "link"] as const)(
    "a failing %s leaves the old file, and the next entry tries again",
    async (name) => {
      const path = oldFile();
      const { disk, failing } = faultyDisk({ copy: nodeDisk.copy });
      const { store } = await reopen(path, disk);
      failing.add(name);
      if (name === "link") failing.add("copy");
      store.append(userEntry("n", "00000002"));
      await store.flush();
      expect(readFileSync(path, "utf8")).toBe(old);
      expect(store.persistError).toBeDefined();
      expect(readdirSync(join(path, ".."))).toEqual(["s.jsonl"]);
      failing.clear();
      store.append(userEntry("o", "n"));
      await store.flush();
      expect(ids(path)).toEqual(["00000001", "00000002", "n", "o"]);
    },
  );

  it.each(["EACCES", "EPERM", "EROFS"])(
    "that may not be replaced (%s) is given up: the entries want another place",
    async (code) => {
      const refuse = () => {
        throw Object.assign(new Error(`${code}: not permitted`), { code });
      };
      const mayNotCreate = {
        open: (path: string, flags: number) => (flags & O_CREAT ? refuse() : nodeDisk.open(path, flags)),
      };
      for (const changes of [mayNotCreate, { rename: refuse }]) {
        const path = oldFile();
        const { store, given } = await reopen(path, faultyDisk(changes).disk);
        store.append(userEntry("n", "00000002"));
        await store.flush();
        expect(given).toEqual([`Session ${path} cannot be converted to the current format: ${code}: not permitted`]);
        expect(store.persistError).toBeUndefined();
        expect(readFileSync(path, "utf8")).toBe(old);
        expect(readdirSync(join(path, ".."))).toEqual(["s.jsonl"]);
      }
    },
  );

  it("is in today's form also when its new name is not safe yet: that is tried again", async () => {
    const path = oldFile();
    const { disk, failing } = faultyDisk();
    const { store, given } = await reopen(path, disk);
    failing.add("syncDirectory");
    store.append(userEntry("n", "00000002"));
    await store.sync();
    expect(store.persistError).toContain("ENOSPC");
    store.append(userEntry("o", "n"));
    expect(ids(path)).toEqual(["00000001", "00000002", "n", "o"]);
    failing.clear();
    await store.sync();
    expect(store.persistError).toBeUndefined();
    expect(given).toEqual([]);
    expect(readdirSync(join(path, "..")).sort()).toEqual(["s.jsonl", "s.jsonl.v1.bak"]);
  });

  it("is not touched when another program wrote to it meanwhile", async () => {
    const path = oldFile();
    const { store, given } = await reopen(path);
    appendFileSync(path, "more\n");
    store.append(userEntry("n", "00000002"));
    await store.flush();
    expect(given).toHaveLength(1);
    expect(readFileSync(path, "utf8")).toBe(`${old}more\n`);
    expect(readdirSync(join(path, ".."))).toEqual(["s.jsonl"]);
  });
});

it("directories of ours are closed to others; other directories keep their mode (S-10)", () => {
  const directory = temporaryDirectory();
  const [ours, theirs] = [join(directory, "ours"), join(directory, "theirs")];
  for (const path of [join(ours, "deep"), theirs]) mkdirSync(path, { recursive: true });
  for (const path of [ours, join(ours, "deep"), theirs]) chmodSync(path, 0o755);
  const warnings: string[] = [];
  const ensure = (path: string) => ensureDirectory(path, [ours], (text) => warnings.push(text));
  ensure(join(ours, "deep"));
  ensure(theirs);
  const modes = [ours, join(ours, "deep"), theirs].map((path) => (statSync(path).mode & 0o777).toString(8));
  expect(modes).toEqual(["700", "700", "755"]);
  expect(warnings).toHaveLength(2);
});
