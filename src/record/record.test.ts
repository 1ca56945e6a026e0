import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { runs } from "../../test/kit/runs.js";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { countedIds } from "../base/ids.js";
import type { SessionEntry } from "../protocol/entries.js";
import type { AgentMessage } from "../protocol/messages.js";
import { manualClock } from "../testing/manual-clock.js";
import { buildContext } from "./build-context.js";
import { continueRecent, createRecord, createRecordInMemory, forkRecord, openRecord } from "./open-record.js";
import type { SessionRecord } from "./record.js";
import type { RecordOptions } from "./record-options.js";
import { resolveImages } from "./store/blobs.js";
import { SessionIndex } from "./store/session-index.js";
import { entryLists, faultyDisk, header, heardLog, linesOf, readFile, userEntry } from "./store/store.test-kit.js";

const said = (text: string): AgentMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });

function setUp(changes: Partial<RecordOptions> = {}) {
  const home = temporaryDirectory();
  const log = heardLog();
  const options: RecordOptions = {
    cwd: join(home, "app"),
    agentDir: join(home, ".galley", "agent"),
    home,
    clock: manualClock(),
    ids: countedIds(),
    log,
    ...changes,
  };
  const records: SessionRecord[] = [];
  onTestFinished(async () => {
    for (const record of records) await record.close();
  });
  const keep = (record: SessionRecord) => {
    records.push(record);
    return record;
  };
  return {
    home,
    options,
    log,
    create: () => keep(createRecord(options)),
    open: async (path: string | undefined, how = {}) => keep(await openRecord(path ?? "", options, how)),
    continueRecent: async () => keep(await continueRecent(options)),
    forkFrom: async (path: string) => keep(await forkRecord(path, options)),
    keep,
  };
}

const fileOf = (record: SessionRecord) => record.sessionFile ?? "";
const ids = (entries: readonly SessionEntry[]) => entries.map(({ id }) => id);

/** Everything that a reload must bring back. */
function state(record: SessionRecord) {
  const { tree, context } = record;
  const { messages, entryIds, thinkingLevel, models, injectedRules, prunedEntryIds, mode } = context;
  return {
    entries: [...tree.entries],
    leafId: tree.leafId,
    name: tree.name,
    labels: [...tree.labels],
    context: { messages, entryIds, thinkingLevel, models, injectedRules, prunedEntryIds, mode },
  };
}

describe("a new session", () => {
  it("has its place from the start and no file before its first message", async () => {
    const { create, home } = setUp();
    const record = create();
    expect(fileOf(record)).toMatch(
      new RegExp(
        `^${home}/.galley/agent/sessions/--${`${home}/app`.slice(1).replaceAll("/", "-")}--/2026-01-05T08-00-00-000Z_00000000-0000-7000-8000-000000000001.jsonl$`,
      ),
    );
    record.append({ type: "model_change", model: "acme/x", role: "default" });
    await record.sync();
    expect(readdirSync(home)).toEqual([]);
    record.appendMessage(said("hi"));
    await record.flush();
    const read = readFile(fileOf(record));
    expect(read.header).toEqual({
      type: "session",
      version: 3,
      id: record.sessionId,
      timestamp: "2026-01-05T08:00:00.000Z",
      cwd: join(home, "app"),
    });
    expect(read.entries).toEqual(record.tree.entries);
    for (const path of [fileOf(record), dirname(fileOf(record)), dirname(dirname(fileOf(record)))])
      expect(statSync(path).mode & 0o077).toBe(0);
  });

  it("chains entries at the leaf, in memory at once", () => {
    const record = setUp().create();
    const first = record.appendMessage(said("a"));
    const second = record.append({ type: "custom", customType: "x", data: { y: 1 } });
    expect(first).toMatchObject({
      type: "message",
      id: "00000001",
      parentId: null,
      timestamp: "2026-01-05T08:00:00.000Z",
    });
    expect(second).toEqual({ ...second, parentId: first.id, data: { y: 1 } });
    expect(Object.keys(second).slice(0, 4)).toEqual(["type", "id", "parentId", "timestamp"]);
    expect(record.context.messages).toEqual([said("a")]);
  });

  it("goes where the caller says", async () => {
    const directory = join(temporaryDirectory(), "mine");
    const record = setUp({ directory }).create();
    record.appendMessage(said("a"));
    await record.flush();
    expect(dirname(fileOf(record))).toBe(directory);
  });

  it("remembers where it came from", () => {
    const { options } = setUp();
    const record = createRecord(options, { parentSession: "/p.jsonl", parentSessionId: "p" });
    expect(record.header).toMatchObject({ parentSession: "/p.jsonl", parentSessionId: "p" });
  });

  it("in memory leaves nothing behind", async () => {
    const { options, home } = setUp();
    const record = createRecordInMemory({ cwd: options.cwd });
    record.appendMessage(said("a"));
    expect(await record.artifacts.save("bash", "text")).toBe("1");
    await record.sync();
    await record.close();
    expect(record).toMatchObject({ sessionFile: undefined, persistError: undefined, readOnly: undefined });
    expect(readdirSync(home)).toEqual([]);
  });

  it("never gives an id twice", () => {
    let calls = 0;
    const record = setUp({ ids: { session: () => "s", entry: () => `id${Math.floor(calls++ / 3)}` } }).create();
    for (let index = 0; index < 5; index++) record.appendMessage(said("x"));
    expect(ids(record.tree.entries)).toEqual(["id0", "id1", "id2", "id3", "id4"]);
  });
});

describe("opening", () => {
  it("brings everything back, for random conversations", async () => {
    const { options } = setUp();
    await fc.assert(
      fc.asyncProperty(entryLists, async (entries) => {
        const record = createRecord(options);
        const first = record.appendMessage(said("first"));
        const idFor = new Map<string | null, string | null>([[null, null]]);
        for (const entry of entries) {
          const { id, parentId: _, timestamp: __, ...fields } = entry;
          const before = record.tree.entries.length;
          if (fields.type === "leaf") record.moveLeaf(idFor.get(fields.targetId) ?? null);
          else if (fields.type === "label") record.setLabel(idFor.get(fields.targetId) ?? first.id, fields.label);
          else if (fields.type === "session_info") record.setName(`n${fields.name}`, fields.source);
          else record.append(fields as never);
          idFor.set(id, record.tree.entries[before]?.id ?? record.tree.leafId);
        }
        const live = state(record);
        expect(live.context).toMatchObject(pick(buildContext(record.tree.pathTo())));
        await record.close();
        const again = await openRecord(fileOf(record), options);
        expect(state(again)).toEqual(live);
        expect(again.warnings).toEqual([]);
        await again.close();
      }),
      { numRuns: runs(40) },
    );
  });

  it("a place where nothing is begins a session there, or is an error", async () => {
    const { open, home } = setUp();
    const path = join(home, "deep", "new.jsonl");
    const record = await open(path);
    expect(record.sessionFile).toBe(path);
    expect(existsSync(join(home, "deep"))).toBe(false);
    record.appendMessage(said("a"));
    await record.flush();
    expect(readFile(path).entries).toHaveLength(1);
    await expect(open(join(home, "nope.jsonl"), { ifMissing: "fail" })).rejects.toThrow(
      `File not found: ${home}/nope.jsonl`,
    );
  });

  it("an empty file is such a place, too", async () => {
    const { open, home } = setUp();
    const path = join(home, "empty.jsonl");
    writeFileSync(path, "");
    const record = await open(path, { ifMissing: "fail" });
    record.appendMessage(said("a"));
    await record.flush();
    expect(readFile(path).entries).toHaveLength(1);
  });

  it("what is no session is refused and left as it is", async () => {
    const { open, home } = setUp();
    const path = join(home, "main.ts");
    writeFileSync(path, "export {};\n");
    await expect(open(path)).rejects.toThrow(`Not a session file: ${path}`);
    expect(readFileSync(path, "utf8")).toBe("export {};\n");
  });

  it("tells what is wrong with a file, and why it is only read (S-3)", async () => {
    const { home, open, log, forkFrom } = setUp();
    const path = join(home, "damaged.jsonl");
    writeFileSync(path, `${linesOf(header, userEntry("a", null))}{"type":"mess\n${linesOf(userEntry("b", "gone"))}`, {
      mode: 0o600,
    });
    const record = await open(path);
    await open(path);
    await forkFrom(path);
    const damage = [
      `${path}: damaged lines were skipped (line 3)`,
      `${path}: entries whose parent is missing were attached to the entry before them (line 4)`,
    ];
    expect(record.warnings).toEqual(damage);
    expect(log.heard).toEqual([
      ...damage,
      ...damage,
      expect.stringContaining("is in use by another galley"),
      ...damage,
    ]);
  });

  it("keeps the place, the name and the directory of the session", async () => {
    const { create, open } = setUp();
    const record = create();
    const first = record.appendMessage(said("a"));
    record.appendMessage(said("b"));
    record.moveLeaf(first.id);
    record.setName("mine");
    await record.close();
    const again = await open(record.sessionFile);
    expect(again.tree).toMatchObject({ leafId: first.id, name: "mine" });
    expect(again).toMatchObject({ cwd: record.cwd, sessionId: record.sessionId, warnings: [] });
    expect(again.appendMessage(said("c")).parentId).toBe(first.id);
  });

  it("an older file goes on in today's form", async () => {
    const { open, home } = setUp();
    const path = join(home, "old.jsonl");
    const old = linesOf(
      { type: "session", id: "old", timestamp: "t", cwd: "/x" },
      { type: "message", timestamp: "t", message: said("hi") },
    );
    writeFileSync(path, old, { mode: 0o600 });
    const record = await open(path);
    record.appendMessage(said("more"));
    await record.close();
    expect(readFile(path)).toMatchObject({ version: 3, problemCount: 0, header: { id: "old", cwd: "/x" } });
    expect(readFileSync(`${path}.v1.bak`, "utf8")).toBe(old);
    expect((await open(path)).context.messages).toEqual([said("hi"), said("more")]);
  });
});

describe("a file that is not ours to write", () => {
  it("in use: read only, and the first entry goes to a new file with all the rest", async () => {
    const { create, open, log } = setUp();
    const first = create();
    first.appendMessage(said("a"));
    await first.flush();
    const second = await open(first.sessionFile);
    expect(second.readOnly?.text).toBe(`Session ${first.sessionFile} is in use by another galley (pid ${process.pid})`);
    expect(second.warnings).toEqual([second.readOnly?.text]);
    second.appendMessage(said("b"));
    await second.sync();
    expect(second.readOnly).toBeUndefined();
    expect(fileOf(second)).not.toBe(fileOf(first));
    expect(second.sessionId).not.toBe(first.sessionId);
    expect(second.header).toMatchObject({ parentSession: first.sessionFile, parentSessionId: first.sessionId });
    expect(log.heard.at(-1)).toBe(`${second.warnings[0]}. The conversation continues in ${second.sessionFile}`);
    first.appendMessage(said("c"));
    second.appendMessage(said("d"));
    await Promise.all([first.close(), second.close()]);
    expect((await open(first.sessionFile)).context.messages).toEqual([said("a"), said("c")]);
    expect((await open(second.sessionFile)).context.messages).toEqual([said("a"), said("b"), said("d")]);
  });

  it("changed by another program: the same, with every entry that was ours (S-4)", async () => {
    const { create, open } = setUp();
    const record = create();
    record.appendMessage(said("a"));
    await record.flush();
    const from = fileOf(record);
    appendFileSync(from, "theirs\n");
    record.appendMessage(said("b"));
    record.appendMessage(said("c"));
    await record.close();
    expect(readFileSync(from, "utf8").endsWith("theirs\n")).toBe(true);
    expect(record.warnings).toEqual([
      `Session ${from} was changed by another program. The conversation continues in ${record.sessionFile}`,
    ]);
    expect((await open(record.sessionFile)).context.messages).toEqual([said("a"), said("b"), said("c")]);
  });

  it("removed while open: the conversation is written anew", async () => {
    const { create } = setUp();
    const record = create();
    record.appendMessage(said("a"));
    await record.flush();
    rmSync(fileOf(record));
    record.appendMessage(said("b"));
    await record.sync();
    expect(readFile(fileOf(record)).entries).toHaveLength(2);
  });

  it("of a newer version: read, and continued elsewhere", async () => {
    const { open, home } = setUp();
    const path = join(home, "new.jsonl");
    const content = linesOf({ ...header, version: 9 }, userEntry("a", null));
    writeFileSync(path, content);
    const record = await open(path);
    expect(record.warnings).toEqual(["Session version 9 is newer than supported (3)"]);
    record.appendMessage(said("b"));
    await record.sync();
    expect(readFileSync(path, "utf8")).toBe(content);
    expect(readFile(fileOf(record))).toMatchObject({ version: 3, entries: [{ id: "a" }, {}] });
  });

  it("taken by another program between its choice and its first message", async () => {
    const { open, home } = setUp();
    const path = join(home, "chosen.jsonl");
    const record = await open(path);
    writeFileSync(path, "not yours");
    record.appendMessage(said("a"));
    await record.sync();
    expect(readFileSync(path, "utf8")).toBe("not yours");
    expect(readFile(fileOf(record)).entries).toHaveLength(1);
  });
});

describe("a full disk (S-11)", () => {
  it("shows, stops nothing, and loses nothing once there is room", async () => {
    const { disk, failing } = faultyDisk();
    const { create, open, log } = setUp({ disk });
    const record = create();
    record.appendMessage(said("a"));
    await record.sync();
    failing.add("write");
    for (let index = 0; index < 10; index++) {
      record.appendMessage(said(`${index}`));
      await record.sync();
    }
    expect(record.persistError).toContain("no space left");
    expect(record.context.messages).toHaveLength(11);
    expect(log.heard).toHaveLength(1);
    failing.clear();
    record.appendMessage(said("last"));
    await record.sync();
    expect(record.persistError).toBeUndefined();
    await record.close();
    expect((await open(record.sessionFile)).context.messages).toHaveLength(12);
  });
});

describe("moving the leaf", () => {
  it("writes a leaf entry hung on its target, and the context follows", () => {
    const record = setUp().create();
    const first = record.appendMessage(said("a"));
    const { revision } = record.context;
    record.appendMessage(said("b"));
    const moved = record.moveLeaf(first.id);
    expect(moved).toMatchObject({ type: "leaf", targetId: first.id, parentId: first.id });
    expect(record.context.messages).toEqual([said("a")]);
    expect(record.context.revision).toBeGreaterThan(revision);
    expect(record.moveLeaf(first.id)).toBeUndefined();
    expect(record.moveLeaf(null)).toMatchObject({ targetId: null, parentId: null });
    expect(record.context.messages).toEqual([]);
    expect(record.appendMessage(said("root")).parentId).toBeNull();
    expect(() => record.moveLeaf("nope")).toThrow("Entry nope not found");
  });
});

describe("names and labels", () => {
  it("a name is one clean line, and a user's name always wins over an automatic one", () => {
    const record = setUp().create();
    record.setName("auto", "auto");
    expect(record.setName("  two\n\twords\u0000 ")).toMatchObject({ name: "two words", source: "user" });
    expect(record.setName("again", "auto")).toBeUndefined();
    expect(record.tree.name).toBe("two words");
    record.setName("a \u2028 b\u00a0c  d\u3000");
    expect(record.tree.name).toBe("a \u2028 b\u00a0c d\u3000");
    for (const empty of ["", " \n\t", "\u0000\u001b", "\u2028\u00a0"])
      expect(() => record.setName(empty)).toThrow("Session name cannot be empty");
  });

  it.each(["\u0001", " \n", "\u0001a\u0000 b\n"])("in a file is cleaned, too: %j", async (name) => {
    const { open, home, keep } = setUp();
    const path = join(home, "theirs.jsonl");
    const info = { type: "session_info", id: "n", parentId: "a", timestamp: "t", name };
    const long = userEntry("b", "a", "x".repeat(300_000));
    writeFileSync(path, linesOf(header, userEntry("a", null), info, long), { mode: 0o600 });
    const record = await open(path);
    const clean = name.includes("a") ? "a b" : undefined;
    expect(record.tree.name).toBe(clean);
    const { session } = await record.branchTo("b");
    expect(keep(session).tree.name).toBe(clean);
    record.appendMessage(said("more"));
    await record.close();
    expect((await open(path)).readOnly).toBeUndefined();
  });

  it("a label goes on an entry, and comes off again", () => {
    const record = setUp().create();
    const { id } = record.appendMessage(said("a"));
    record.setLabel(id, "here");
    expect([...record.tree.labels]).toEqual([[id, "here"]]);
    record.setLabel(id);
    expect(record.tree.labels.size).toBe(0);
    expect(record.tree.leafId).toBe(id);
    expect(() => record.setLabel("nope", "x")).toThrow("Entry nope not found");
  });

  it("a long session repeats its name where a list looks for it", async () => {
    const { create, open } = setUp();
    const record = create();
    record.appendMessage(said("a"));
    await record.flush();
    record.setName("far away");
    for (let index = 0; index < 20; index++) record.appendMessage(said("x".repeat(10_000)));
    await record.close();
    const [info] = await new SessionIndex().list([dirname(fileOf(record))]);
    expect(info?.name).toBe("far away");
    const { length } = readFileSync(fileOf(record));
    await (await open(record.sessionFile)).close(); // nothing was added: nothing is repeated
    expect(readFileSync(fileOf(record))).toHaveLength(length);
  });
});

describe("branching", () => {
  function conversation(record: SessionRecord) {
    const first = record.appendMessage(said("one"));
    record.setLabel(first.id, "start");
    const second = record.appendMessage(said("two"));
    record.setName("the name");
    const third = record.appendMessage(said("three"));
    record.setLabel(third.id, "end");
    record.setName("a later name");
    return { first, second, third };
  }

  it("makes a new file with what came before, its labels and its name", async () => {
    const { create, open, keep } = setUp();
    const record = create();
    const { first, second, third } = conversation(record);
    const before = state(record);
    const { session, text } = await record.branchTo(third.id);
    keep(session);
    expect(text).toBe("three");
    expect(session.header).toMatchObject({ parentSession: record.sessionFile, parentSessionId: record.sessionId });
    expect(session.context.messages).toEqual([said("one"), said("two")]);
    expect([...session.tree.labels]).toEqual([[first.id, "start"]]);
    expect(session.tree).toMatchObject({ leafId: second.id, name: "the name", nameSource: "user" });
    expect(state(record)).toEqual(before);
    const live = state(session);
    await session.close();
    expect(state(await open(session.sessionFile))).toEqual(live);
  });

  it("before the first message is an empty session that knows its parent", async () => {
    const { create, keep } = setUp();
    const record = create();
    const { first } = conversation(record);
    const { session, text } = await record.branchTo(first.id);
    keep(session);
    expect(text).toBe("one");
    expect(session.context.messages).toEqual([]);
    expect(existsSync(fileOf(session))).toBe(false);
    session.appendMessage(said("other"));
    await session.flush();
    expect(readFile(fileOf(session)).header.parentSession).toBe(record.sessionFile);
  });

  it("leaves entries in the margin out of the path, wherever another program put them", async () => {
    const { open, home, keep } = setUp();
    const path = join(home, "theirs.jsonl");
    const label = { type: "label", id: "l", parentId: "a", timestamp: "t", targetId: "a", label: "x" };
    writeFileSync(path, linesOf(header, userEntry("a", null), label, userEntry("b", "l"), userEntry("c", "b")), {
      mode: 0o600,
    });
    const { session } = await (await open(path)).branchTo("c");
    keep(session);
    const messages = session.tree.entries.filter(({ type }) => type === "message");
    expect(messages.map(({ id, parentId }) => [id, parentId])).toEqual([
      ["a", null],
      ["b", "a"],
    ]);
    expect([...session.tree.labels]).toEqual([["a", "x"]]);
  });

  it("keeps what a compaction kept, also from an entry in the margin on", async () => {
    const { open, home, keep } = setUp();
    const path = join(home, "theirs.jsonl");
    const label = { type: "label", id: "l", parentId: "a", timestamp: "t", targetId: "a", label: "x" };
    const cut = { type: "compaction", id: "k", parentId: "b", timestamp: "t", summary: "S", firstKeptEntryId: "l" };
    writeFileSync(
      path,
      linesOf(header, userEntry("a", null), label, userEntry("b", "l"), cut, userEntry("c", "k"), userEntry("d", "c")),
      { mode: 0o600 },
    );
    const before = await open(path);
    expect(before.context.entryIds).toEqual(["k", "b", "c", "d"]);
    const { session } = await before.branchTo("d");
    keep(session);
    expect(session.context.entryIds).toEqual(["k", "b", "c"]);
    expect(session.context.warnings).toEqual([]);
  });

  it("works in memory, artifacts included", async () => {
    const record = createRecordInMemory({ cwd: "/x" });
    const { third } = conversation(record);
    await record.artifacts.save("bash", "text");
    const { session } = await record.branchTo(third.id);
    expect(session.context.messages).toHaveLength(2);
    expect(await session.artifacts.read("1")).toBe("text");
    expect(session.sessionFile).toBeUndefined();
  });

  it("starts only at a user message", async () => {
    const record = setUp().create();
    conversation(record);
    const custom = record.append({ type: "custom", customType: "x" });
    for (const id of [custom.id, "nope"])
      await expect(record.branchTo(id)).rejects.toThrow("Invalid entry ID for branching");
  });
});

describe("a fork", () => {
  it("is a full copy under a new id, with artifacts, also of a file in use", async () => {
    const { create, forkFrom } = setUp();
    const record = create();
    const first = record.appendMessage(said("a"));
    record.appendMessage(said("b"));
    record.moveLeaf(first.id);
    await record.artifacts.save("bash", "text");
    await record.flush();
    const fork = await forkFrom(fileOf(record));
    expect(state(fork)).toEqual(state(record));
    expect(fork.header).toMatchObject({ parentSession: record.sessionFile, parentSessionId: record.sessionId });
    expect(await fork.artifacts.read("1")).toBe("text");
    fork.appendMessage(said("c"));
    await fork.flush();
    expect(readFile(fileOf(fork)).entries).toHaveLength(4);
    expect(readFile(fileOf(record)).entries).toHaveLength(3);
  });

  it("of nothing is an error", async () => {
    const { forkFrom, home } = setUp();
    await expect(forkFrom(join(home, "nope"))).rejects.toThrow(`File not found: ${home}/nope`);
  });
});

describe("large content", () => {
  const image = { type: "image" as const, data: Buffer.alloc(5000, 9).toString("base64"), mimeType: "image/png" };

  it("goes to blobs and artifacts, and comes back", async () => {
    const { create, open, home } = setUp();
    const record = create();
    const text = "x".repeat(600_000);
    const message: AgentMessage = { role: "user", content: [image, { type: "text", text }], timestamp: 1 };
    record.appendMessage(message);
    record.appendMessage(said("after"));
    await record.close();
    expect(record.context.messages[0]).toBe(message);
    expect(statSync(fileOf(record)).size).toBeLessThan(510_000);
    expect(readdirSync(join(home, ".galley", "agent", "blobs"))).toHaveLength(1);
    const again = await open(record.sessionFile);
    const [loaded] = again.context.messages;
    expect(loaded && (await resolveImages(loaded, again.blobs))).toMatchObject({ content: [image, {}] });
    const [entry] = again.tree.entries as (SessionEntry & { artifactId?: string })[];
    expect(await again.artifacts.read(entry?.artifactId ?? "")).toBe(text);
    expect(again.context.messages[1]).toEqual(said("after"));
  });

  it("of a file elsewhere stays beside it, where it is not collected", async () => {
    const { open, home } = setUp();
    const path = join(home, "elsewhere", "s.jsonl");
    const record = await open(path);
    record.appendMessage({ role: "user", content: [image], timestamp: 1 });
    await record.flush();
    expect(readdirSync(join(home, "elsewhere", "s", "blobs"))).toHaveLength(1);
    expect(existsSync(join(home, ".galley"))).toBe(false);
  });

  it("comes along when a copy keeps its images elsewhere, in both directions", async () => {
    const { create, home, options, forkFrom, keep, open } = setUp();
    const inside = create();
    inside.appendMessage({ role: "user", content: [image], timestamp: 1 });
    await inside.close();
    const outside = keep(await forkRecord(fileOf(inside), { ...options, directory: join(home, "mine") }));
    await outside.close();
    rmSync(join(options.agentDir, "blobs"), { recursive: true });
    const back = await forkFrom(fileOf(outside));
    expect(dirname(fileOf(back))).toBe(dirname(fileOf(inside)));
    await back.close();
    rmSync(join(home, "mine"), { recursive: true });
    const [message] = (await open(back.sessionFile)).context.messages;
    expect(message && (await resolveImages(message, back.blobs))).toMatchObject({ content: [image] });
  });

  it("is written once more into a branch by name only", async () => {
    const { create, home, keep } = setUp();
    const record = create();
    record.appendMessage({ role: "user", content: [image], timestamp: 1 });
    const { id } = record.appendMessage(said("b"));
    const { session } = await record.branchTo(id);
    keep(session);
    expect(statSync(fileOf(session)).size).toBeLessThan(1000);
    expect(readdirSync(join(home, ".galley", "agent", "blobs"))).toHaveLength(1);
  });
});

describe("continuing", () => {
  it("the newest of this directory, and none of another", async () => {
    const { create, continueRecent, options, keep } = setUp();
    const other = keep(createRecord({ ...options, cwd: join(options.cwd, "sub") }));
    other.appendMessage(said("other"));
    await other.close();
    const [first, second] = [create(), create()];
    for (const [index, record] of [first, second].entries()) {
      record.appendMessage(said("x"));
      await record.close();
      utimesSync(fileOf(record), 100 - index, 100 - index);
    }
    expect((await continueRecent()).sessionId).toBe(first.sessionId);
  });

  it("this terminal's own, before a newer one", async () => {
    const { create, continueRecent, options, keep } = setUp({ terminalId: "pts-1" });
    const mine = create();
    mine.appendMessage(said("mine"));
    await mine.close();
    const newer = keep(createRecord({ ...options, terminalId: "pts-2" }));
    newer.appendMessage(said("newer"));
    await newer.close();
    utimesSync(fileOf(mine), 1, 1);
    const again = await continueRecent();
    expect(again.sessionId).toBe(mine.sessionId);
    await again.close();
    rmSync(fileOf(mine));
    expect((await continueRecent()).sessionId).toBe(newer.sessionId);
  });

  it("leaves no breadcrumb for a session without a file", async () => {
    const { create, options } = setUp({ terminalId: "pts-1" });
    const record = create();
    record.append({ type: "model_change", model: "a/b" });
    await record.close();
    expect(existsSync(join(options.agentDir, "terminal-sessions"))).toBe(false);
  });

  it("a new one when there is nothing, and past what cannot be opened", async () => {
    const { create, continueRecent, log } = setUp();
    expect((await continueRecent()).tree.entries).toEqual([]);
    const record = create();
    record.appendMessage(said("a"));
    await record.close();
    const broken = join(dirname(fileOf(record)), "broken.jsonl");
    writeFileSync(broken, `${readFileSync(fileOf(record), "utf8").split("\n")[0]}`.replace("}", ',"x":"\n'));
    const again = await continueRecent();
    expect(again.sessionId).toBe(record.sessionId);
    expect(log.heard).toEqual([]);
  });

  it("finds sessions where other programs keep them", async () => {
    const { continueRecent, options, home } = setUp();
    const directory = join(options.agentDir, "sessions", "-app");
    mkdirSync(directory, { recursive: true });
    writeFileSync(
      join(directory, "x.jsonl"),
      linesOf({ ...header, id: "legacy", cwd: join(home, "app") }, userEntry("a", null)),
      { mode: 0o600 },
    );
    writeFileSync(
      join(directory, "y.jsonl"),
      linesOf({ ...header, id: "other", cwd: "/elsewhere" }, userEntry("a", null)),
    );
    const record = await continueRecent();
    expect(record.sessionId).toBe("legacy");
    expect(basename(fileOf(record))).toBe("x.jsonl");
  });
});

function pick({
  messages,
  entryIds,
  thinkingLevel,
  models,
  injectedRules,
  prunedEntryIds,
  mode,
}: SessionRecord["context"]) {
  return { messages, entryIds, thinkingLevel, models, injectedRules, prunedEntryIds, mode };
}
