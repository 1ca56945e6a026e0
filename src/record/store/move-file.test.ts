import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../../../test/kit/temporary-directory.js";
import { systemClock } from "../../base/clock.js";
import { countedIds } from "../../base/ids.js";
import { acquireLock } from "../../base/path-lock.js";
import type { AgentMessage } from "../../protocol/messages.js";
import { manualClock } from "../../testing/manual-clock.js";
import { createRecord, createRecordInMemory, openRecord } from "../open-record.js";
import type { SessionRecord } from "../record.js";
import type { RecordOptions } from "../record-options.js";
import { artifactDirectory } from "../session-paths.js";
import { deleteSession } from "./delete-session.js";
import { SessionDirectories } from "./session-directories.js";
import { SessionIndex } from "./session-index.js";
import { faultyDisk, header, linesOf, readFile, userEntry } from "./store.test-kit.js";

const said = (text: string): AgentMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });

function setUp(changes: Partial<RecordOptions> = {}) {
  const home = temporaryDirectory();
  const options: RecordOptions = {
    cwd: join(home, "app"),
    agentDir: join(home, "agent"),
    home,
    clock: manualClock(),
    ids: countedIds(),
    ...changes,
  };
  const keep = (record: SessionRecord) => {
    onTestFinished(() => record.close());
    return record;
  };
  return { home, options, other: join(home, "other"), create: () => keep(createRecord(options)), keep };
}

const fileOf = (record: SessionRecord) => record.sessionFile ?? "";
const bodyOf = (path: string) => readFileSync(path, "utf8").split("\n").slice(1);

async function isFree(path: string): Promise<boolean> {
  const { lock } = await acquireLock(path, systemClock);
  await lock?.release();
  return lock !== undefined;
}

/** A session with two messages, an output and a plan beside it. */
async function begun(rig: ReturnType<typeof setUp>): Promise<SessionRecord> {
  const record = rig.create();
  record.appendMessage(said("one"));
  record.appendMessage(said("two"));
  await record.artifacts.save("bash", "long output");
  await record.artifacts.savePlan("p1.plan", "a plan");
  await record.flush();
  return record;
}

describe("a session that moves to another working directory", () => {
  it("takes its file and what lies beside it along; only the header changes", async () => {
    const rig = setUp();
    const record = await begun(rig);
    const old = fileOf(record);
    const body = bodyOf(old);
    await record.moveTo(rig.other);
    const path = fileOf(record);
    expect(dirname(path)).not.toBe(dirname(old));
    expect([existsSync(old), existsSync(artifactDirectory(old))]).toEqual([false, false]);
    expect(bodyOf(path)).toEqual(body);
    expect(readFile(path).header).toMatchObject({ id: record.sessionId, cwd: rig.other });
    expect([record.cwd, await record.artifacts.read("1"), await record.artifacts.readPlan("p1.plan")]).toEqual([
      rig.other,
      "long output",
      "a plan",
    ]);
    expect([await isFree(old), await isFree(path)]).toEqual([true, false]);

    record.appendMessage(said("three"));
    await record.artifacts.save("bash", "more");
    await record.sync();
    expect(readFile(path).entries).toHaveLength(3);
    expect(readdirSync(artifactDirectory(path)).sort()).toEqual(["1.bash.log", "2.bash.log", "p1.plan"]);
    const places = new SessionDirectories({ ...rig.options, cwd: rig.other }, { warn() {}, error() {} });
    expect((await places.list(new SessionIndex())).map((info) => info.path)).toEqual([path]);
  });

  it("stays in a directory that the user chose, and says where it belongs", async () => {
    const directory = temporaryDirectory();
    const rig = setUp({ directory });
    const record = await begun(rig);
    const path = fileOf(record);
    const body = bodyOf(path);
    await record.moveTo(rig.other);
    expect([fileOf(record), bodyOf(path)]).toEqual([path, body]);
    expect(readFile(path).header.cwd).toBe(rig.other);
    record.appendMessage(said("three"));
    await record.close();
    expect(readFile(path).entries).toHaveLength(3);
    expect(readdirSync(directory).filter((name) => name.includes(".jsonl"))).toHaveLength(1);
  });

  it("without a file has another place for it", async () => {
    const rig = setUp();
    const record = rig.create();
    await record.moveTo(rig.other);
    record.appendMessage(said("one"));
    await record.flush();
    expect(readFile(fileOf(record)).header.cwd).toBe(rig.other);
    const inMemory = createRecordInMemory(rig.options);
    await inMemory.moveTo(rig.other);
    expect(inMemory.cwd).toBe(rig.other);
  });

  it("loses no entry that comes meanwhile, and none of an older form", async () => {
    const rig = setUp();
    const path = join(temporaryDirectory(), "old.jsonl");
    writeFileSync(path, linesOf({ ...header, version: 2 }, userEntry("a", null)));
    const record = rig.keep(await openRecord(path, rig.options));
    const moving = record.moveTo(rig.other);
    record.appendMessage(said("meanwhile"));
    await moving;
    await record.flush();
    expect(existsSync(path)).toBe(false);
    const { header: now, entries } = readFile(fileOf(record));
    expect([now.version, entries.length]).toEqual([3, 2]);
  });

  it("brings the images of a file that kept its own", async () => {
    const rig = setUp();
    const path = join(temporaryDirectory(), "elsewhere.jsonl");
    const record = rig.keep(createRecord(rig.options, {}, path));
    const data = Buffer.alloc(3000, 7).toString("base64");
    record.appendMessage({ role: "user", content: [{ type: "image", data, mimeType: "image/png" }], timestamp: 1 });
    await record.flush();
    const [name = ""] = readdirSync(join(artifactDirectory(path), "blobs"));
    await record.moveTo(rig.other);
    expect(await record.blobs.get(`blob:sha256:${name}`)).toEqual(Buffer.from(data, "base64"));
  });

  it.each(["sync", "link", "unlink", "write"] as const)(
    "that fails at %s is where it was, whole, and goes on",
    async (step) => {
      const { disk, failing } = faultyDisk();
      // Without links a new file is put in its place by renaming.
      if (step === "link")
        disk.rename = () => {
          throw Object.assign(new Error("EIO: rename"), { code: "EIO" });
        };
      const rig = setUp({ disk });
      const record = await begun({
        ...rig,
        create: () => rig.keep(createRecord({ ...rig.options, disk: undefined as never })),
      });
      await record.close();
      const path = fileOf(record);
      const again = rig.keep(await openRecord(path, rig.options));
      const bytes = readFileSync(path);
      failing.add(step);
      await expect(again.moveTo(rig.other)).rejects.toThrow();
      failing.clear();
      expect([fileOf(again), again.cwd, readFileSync(path)]).toEqual([path, rig.options.cwd, bytes]);
      expect(await again.artifacts.read("1")).toBe("long output");
      expect(await again.artifacts.readPlan("p1.plan")).toBe("a plan");
      again.appendMessage(said("three"));
      await again.sync();
      expect(readFile(path).entries).toHaveLength(3);
      expect(again.persistError).toBeUndefined();
    },
  );

  it("is refused when the file is not ours, or its first line holds more than a header", async () => {
    const rig = setUp();
    const record = await begun(rig);
    const reader = rig.keep(await openRecord(fileOf(record), rig.options));
    await expect(reader.moveTo(rig.other)).rejects.toThrow("in use by another galley");
    const path = join(temporaryDirectory(), "fused.jsonl");
    writeFileSync(path, `${JSON.stringify(header)}${linesOf(userEntry("a", null), userEntry("b", "a"))}`);
    const fused = rig.keep(await openRecord(path, rig.options));
    const bytes = readFileSync(path);
    await expect(fused.moveTo(rig.other)).rejects.toThrow("The first line of");
    expect(readFileSync(path)).toEqual(bytes);
  });

  it("is refused when another program writes to the file meanwhile, or when the disk did not take everything", async () => {
    const { disk, failing } = faultyDisk();
    const rig = setUp({ disk });
    const record = await begun(rig);
    const path = fileOf(record);
    failing.add("write");
    record.appendMessage(said("three"));
    await expect(record.moveTo(rig.other)).rejects.toThrow("Session not saved: ENOSPC");
    failing.clear();
    await record.flush();
    disk.syncDirectory = async () => appendFileSync(path, "another program's line\n");
    await expect(record.moveTo(rig.other)).rejects.toThrow("was changed by another program");
    expect([fileOf(record), readFile(path).entries.length]).toEqual([path, 3]);
    expect(readFileSync(path, "utf8")).toMatch(/another program's line\n$/);
    expect(await record.artifacts.readPlan("p1.plan")).toBe("a plan");
  });

  it("keeps a last line apart that lacked its end", async () => {
    const rig = setUp();
    const path = join(temporaryDirectory(), "open.jsonl");
    writeFileSync(path, linesOf(header, userEntry("a", null)).trimEnd());
    const record = rig.keep(await openRecord(path, rig.options));
    await record.moveTo(rig.other);
    record.appendMessage(said("b"));
    await record.flush();
    expect(readFile(fileOf(record))).toMatchObject({ problemCount: 0, entries: [{ id: "a" }, { parentId: "a" }] });
  });

  it("leaves alone what is not its own in a folder of its name", async () => {
    const rig = setUp();
    const folder = temporaryDirectory();
    const record = rig.keep(createRecord(rig.options, {}, join(folder, "project.jsonl")));
    mkdirSync(join(folder, "project"));
    writeFileSync(join(folder, "project", "main.ts"), "mine");
    record.appendMessage(said("one"));
    await record.artifacts.save("bash", "output");
    await record.moveTo(rig.other);
    expect(readdirSync(join(folder, "project"))).toEqual(["main.ts"]);
    expect(await record.artifacts.read("1")).toBe("output");
  });
});

describe("deleting a session", () => {
  it("removes the file and what belongs to it, and nothing else", async () => {
    const rig = setUp();
    const folder = temporaryDirectory();
    const path = join(folder, "project.jsonl");
    const record = rig.keep(createRecord(rig.options, {}, path));
    record.appendMessage(said("one"));
    await record.artifacts.save("bash", "output");
    await record.artifacts.savePlan("p1.plan", "a plan");
    await record.close();
    for (const name of ["project.jsonl.tail", "project.jsonl.v2.bak", "project.jsonl2", "project/main.ts"])
      writeFileSync(join(folder, name), "x");
    await deleteSession(path);
    expect(readdirSync(folder).sort()).toEqual(["project", "project.jsonl2"]);
    expect(readdirSync(join(folder, "project"))).toEqual(["main.ts"]);
    await expect(deleteSession(path)).rejects.toThrow(`File not found: ${path}`);
  });

  it("refuses one that is open, and what is no session", async () => {
    const rig = setUp();
    const record = await begun(rig);
    await expect(deleteSession(fileOf(record))).rejects.toThrow("is in use by another galley");
    const folder = temporaryDirectory();
    const source = join(folder, "main.ts");
    for (const content of ["", "export {};\n", '{"type":"other","id":"x"}\n']) {
      writeFileSync(source, content);
      await expect(deleteSession(source)).rejects.toThrow(`Not a session file: ${source}`);
      expect(readFileSync(source, "utf8")).toBe(content);
    }
    await expect(deleteSession(folder)).rejects.toThrow("Not a session file");
    expect(existsSync(fileOf(record))).toBe(true);
  });
});
