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
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { countedIds } from "../base/ids.js";
import type { SessionEntry } from "../protocol/entries.js";
import type { AgentMessage } from "../protocol/messages.js";
import { manualClock } from "../testing/manual-clock.js";
import { buildContext } from "./build-context.js";
import { SessionManager, type SessionManagerOptions } from "./record.js";
import { resolveImages } from "./store/blobs.js";
import { SessionIndex } from "./store/list.js";
import { entryLists, faultyDisk, header, heardLog, linesOf, readFile, userEntry } from "./store/store.test-kit.js";

const said = (text: string): AgentMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });

function setUp(changes: Partial<SessionManagerOptions> = {}) {
  const home = temporaryDirectory();
  const log = heardLog();
  const options: SessionManagerOptions = {
    cwd: join(home, "app"),
    agentDir: join(home, ".galley", "agent"),
    home,
    clock: manualClock(),
    ids: countedIds(),
    log,
    ...changes,
  };
  const managers: SessionManager[] = [];
  onTestFinished(async () => {
    for (const manager of managers) await manager.close();
  });
  const keep = (manager: SessionManager) => {
    managers.push(manager);
    return manager;
  };
  return {
    home,
    options,
    log,
    create: () => keep(SessionManager.create(options)),
    open: async (path: string | undefined, how = {}) => keep(await SessionManager.open(path ?? "", options, how)),
    continueRecent: async () => keep(await SessionManager.continueRecent(options)),
    forkFrom: async (path: string) => keep(await SessionManager.forkFrom(path, options)),
    keep,
  };
}

const fileOf = (manager: SessionManager) => manager.sessionFile ?? "";
const ids = (entries: readonly SessionEntry[]) => entries.map(({ id }) => id);

/** Everything that a reload must bring back. */
function state(manager: SessionManager) {
  const { tree, context } = manager;
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
    const manager = create();
    expect(fileOf(manager)).toMatch(
      new RegExp(
        `^${home}/.galley/agent/sessions/-app-[0-9a-f]{8}/2026-01-05T08-00-00-000Z_00000000-0000-7000-8000-000000000001.jsonl$`,
      ),
    );
    manager.append({ type: "model_change", model: "acme/x", role: "default" });
    await manager.sync();
    expect(readdirSync(home)).toEqual([]);
    manager.appendMessage(said("hi"));
    await manager.flush();
    const read = readFile(fileOf(manager));
    expect(read.header).toEqual({
      type: "session",
      version: 3,
      id: manager.sessionId,
      timestamp: "2026-01-05T08:00:00.000Z",
      cwd: join(home, "app"),
    });
    expect(read.entries).toEqual(manager.tree.entries);
    for (const path of [fileOf(manager), dirname(fileOf(manager)), dirname(dirname(fileOf(manager)))])
      expect(statSync(path).mode & 0o077).toBe(0);
  });

  it("chains entries at the leaf, in memory at once", () => {
    const manager = setUp().create();
    const first = manager.appendMessage(said("a"));
    const second = manager.append({ type: "custom", customType: "x", data: { y: 1 } });
    expect(first).toMatchObject({
      type: "message",
      id: "00000001",
      parentId: null,
      timestamp: "2026-01-05T08:00:00.000Z",
    });
    expect(second).toEqual({ ...second, parentId: first.id, data: { y: 1 } });
    expect(Object.keys(second).slice(0, 4)).toEqual(["type", "id", "parentId", "timestamp"]);
    expect(manager.context.messages).toEqual([said("a")]);
  });

  it("goes where the caller says", async () => {
    const directory = join(temporaryDirectory(), "mine");
    const manager = setUp({ directory }).create();
    manager.appendMessage(said("a"));
    await manager.flush();
    expect(dirname(fileOf(manager))).toBe(directory);
  });

  it("remembers where it came from", () => {
    const { options } = setUp();
    const manager = SessionManager.create(options, { parentSession: "/p.jsonl", parentSessionId: "p" });
    expect(manager.header).toMatchObject({ parentSession: "/p.jsonl", parentSessionId: "p" });
  });

  it("in memory leaves nothing behind", async () => {
    const { options, home } = setUp();
    const manager = SessionManager.inMemory({ cwd: options.cwd });
    manager.appendMessage(said("a"));
    expect(await manager.artifacts.save("bash", "text")).toBe("1");
    await manager.sync();
    await manager.close();
    expect(manager).toMatchObject({ sessionFile: undefined, persistError: undefined, readOnlyReason: undefined });
    expect(readdirSync(home)).toEqual([]);
  });

  it("never gives an id twice", () => {
    let calls = 0;
    const manager = setUp({ ids: { session: () => "s", entry: () => `id${Math.floor(calls++ / 3)}` } }).create();
    for (let index = 0; index < 5; index++) manager.appendMessage(said("x"));
    expect(ids(manager.tree.entries)).toEqual(["id0", "id1", "id2", "id3", "id4"]);
  });
});

describe("opening", () => {
  it("brings everything back, for random conversations", async () => {
    const { options } = setUp();
    await fc.assert(
      fc.asyncProperty(entryLists, async (entries) => {
        const manager = SessionManager.create(options);
        const first = manager.appendMessage(said("first"));
        const idFor = new Map<string | null, string | null>([[null, null]]);
        for (const entry of entries) {
          const { id, parentId: _, timestamp: __, ...fields } = entry;
          const before = manager.tree.entries.length;
          if (fields.type === "leaf") manager.moveLeaf(idFor.get(fields.targetId) ?? null);
          else if (fields.type === "label") manager.setLabel(idFor.get(fields.targetId) ?? first.id, fields.label);
          else if (fields.type === "session_info") manager.setName(`n${fields.name}`, fields.source);
          else manager.append(fields as never);
          idFor.set(id, manager.tree.entries[before]?.id ?? manager.tree.leafId);
        }
        const live = state(manager);
        expect(live.context).toMatchObject(pick(buildContext(manager.tree.pathTo())));
        await manager.close();
        const again = await SessionManager.open(fileOf(manager), options);
        expect(state(again)).toEqual(live);
        expect(again.warnings).toEqual([]);
        await again.close();
      }),
      { numRuns: 40 },
    );
  });

  it("a place where nothing is begins a session there, or is an error", async () => {
    const { open, home } = setUp();
    const path = join(home, "deep", "new.jsonl");
    const manager = await open(path);
    expect(manager.sessionFile).toBe(path);
    expect(existsSync(join(home, "deep"))).toBe(false);
    manager.appendMessage(said("a"));
    await manager.flush();
    expect(readFile(path).entries).toHaveLength(1);
    await expect(open(join(home, "nope.jsonl"), { ifMissing: "fail" })).rejects.toThrow(
      `File not found: ${home}/nope.jsonl`,
    );
  });

  it("an empty file is such a place, too", async () => {
    const { open, home } = setUp();
    const path = join(home, "empty.jsonl");
    writeFileSync(path, "");
    const manager = await open(path, { ifMissing: "fail" });
    manager.appendMessage(said("a"));
    await manager.flush();
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
    const manager = await open(path);
    await open(path);
    await forkFrom(path);
    const damage = [
      `${path}: damaged lines were skipped (line 3)`,
      `${path}: entries without their parent were put after the entry before them (line 4)`,
    ];
    expect(manager.warnings).toEqual(damage);
    expect(log.heard).toEqual([
      ...damage,
      ...damage,
      expect.stringContaining("is in use by another galley"),
      ...damage,
    ]);
  });

  it("keeps the place, the name and the directory of the session", async () => {
    const { create, open } = setUp();
    const manager = create();
    const first = manager.appendMessage(said("a"));
    manager.appendMessage(said("b"));
    manager.moveLeaf(first.id);
    manager.setName("mine");
    await manager.close();
    const again = await open(manager.sessionFile);
    expect(again.tree).toMatchObject({ leafId: first.id, name: "mine" });
    expect(again).toMatchObject({ cwd: manager.cwd, sessionId: manager.sessionId, warnings: [] });
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
    const manager = await open(path);
    manager.appendMessage(said("more"));
    await manager.close();
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
    expect(second.readOnlyReason).toBe(`Session ${first.sessionFile} is in use by another galley (pid ${process.pid})`);
    expect(second.warnings).toEqual([second.readOnlyReason]);
    second.appendMessage(said("b"));
    await second.sync();
    expect(second.readOnlyReason).toBeUndefined();
    expect(fileOf(second)).not.toBe(fileOf(first));
    expect(second.sessionId).not.toBe(first.sessionId);
    expect(second.header).toMatchObject({ parentSession: first.sessionFile, parentSessionId: first.sessionId });
    expect(log.heard.at(-1)).toBe(`${second.warnings[0]}. The conversation goes on in ${second.sessionFile}`);
    first.appendMessage(said("c"));
    second.appendMessage(said("d"));
    await Promise.all([first.close(), second.close()]);
    expect((await open(first.sessionFile)).context.messages).toEqual([said("a"), said("c")]);
    expect((await open(second.sessionFile)).context.messages).toEqual([said("a"), said("b"), said("d")]);
  });

  it("changed by another program: the same, with every entry that was ours (S-4)", async () => {
    const { create, open } = setUp();
    const manager = create();
    manager.appendMessage(said("a"));
    await manager.flush();
    const from = fileOf(manager);
    appendFileSync(from, "theirs\n");
    manager.appendMessage(said("b"));
    manager.appendMessage(said("c"));
    await manager.close();
    expect(readFileSync(from, "utf8").endsWith("theirs\n")).toBe(true);
    expect(manager.warnings).toEqual([
      `Session ${from} was changed by another program. The conversation goes on in ${manager.sessionFile}`,
    ]);
    expect((await open(manager.sessionFile)).context.messages).toEqual([said("a"), said("b"), said("c")]);
  });

  it("removed while open: the conversation is written anew", async () => {
    const { create } = setUp();
    const manager = create();
    manager.appendMessage(said("a"));
    await manager.flush();
    rmSync(fileOf(manager));
    manager.appendMessage(said("b"));
    await manager.sync();
    expect(readFile(fileOf(manager)).entries).toHaveLength(2);
  });

  it("of a newer version: read, and continued elsewhere", async () => {
    const { open, home } = setUp();
    const path = join(home, "new.jsonl");
    const content = linesOf({ ...header, version: 9 }, userEntry("a", null));
    writeFileSync(path, content);
    const manager = await open(path);
    expect(manager.warnings).toEqual(["Session version 9 is newer than supported (3)"]);
    manager.appendMessage(said("b"));
    await manager.sync();
    expect(readFileSync(path, "utf8")).toBe(content);
    expect(readFile(fileOf(manager))).toMatchObject({ version: 3, entries: [{ id: "a" }, {}] });
  });

  it("taken by somebody between its choice and its first message", async () => {
    const { open, home } = setUp();
    const path = join(home, "chosen.jsonl");
    const manager = await open(path);
    writeFileSync(path, "not yours");
    manager.appendMessage(said("a"));
    await manager.sync();
    expect(readFileSync(path, "utf8")).toBe("not yours");
    expect(readFile(fileOf(manager)).entries).toHaveLength(1);
  });
});

describe("a full disk (S-11)", () => {
  it("shows, stops nothing, and loses nothing once there is room", async () => {
    const { disk, failing } = faultyDisk();
    const { create, open, log } = setUp({ disk });
    const manager = create();
    manager.appendMessage(said("a"));
    await manager.sync();
    failing.add("write");
    for (let index = 0; index < 10; index++) {
      manager.appendMessage(said(`${index}`));
      await manager.sync();
    }
    expect(manager.persistError).toContain("no space left");
    expect(manager.context.messages).toHaveLength(11);
    expect(log.heard).toHaveLength(1);
    failing.clear();
    manager.appendMessage(said("last"));
    await manager.sync();
    expect(manager.persistError).toBeUndefined();
    await manager.close();
    expect((await open(manager.sessionFile)).context.messages).toHaveLength(12);
  });
});

describe("moving the leaf", () => {
  it("writes a leaf entry hung on its target, and the context follows", () => {
    const manager = setUp().create();
    const first = manager.appendMessage(said("a"));
    const { revision } = manager.context;
    manager.appendMessage(said("b"));
    const moved = manager.moveLeaf(first.id);
    expect(moved).toMatchObject({ type: "leaf", targetId: first.id, parentId: first.id });
    expect(manager.context.messages).toEqual([said("a")]);
    expect(manager.context.revision).toBeGreaterThan(revision);
    expect(manager.moveLeaf(first.id)).toBeUndefined();
    expect(manager.moveLeaf(null)).toMatchObject({ targetId: null, parentId: null });
    expect(manager.context.messages).toEqual([]);
    expect(manager.appendMessage(said("root")).parentId).toBeNull();
    expect(() => manager.moveLeaf("nope")).toThrow("Entry nope not found");
  });
});

describe("names and labels", () => {
  it("a name is one clean line, and a person's beats an automatic one for ever", () => {
    const manager = setUp().create();
    manager.setName("auto", "auto");
    expect(manager.setName("  two\n\twords\u0000 ")).toMatchObject({ name: "two words", source: "user" });
    expect(manager.setName("again", "auto")).toBeUndefined();
    expect(manager.tree.name).toBe("two words");
    for (const empty of ["", " \n\t", "\u0000\u001b"])
      expect(() => manager.setName(empty)).toThrow("Session name cannot be empty");
  });

  it.each(["\u0001", " \n", "\u0001a\u0000 b\n"])("in a file is cleaned, too: %j", async (name) => {
    const { open, home, keep } = setUp();
    const path = join(home, "theirs.jsonl");
    const info = { type: "session_info", id: "n", parentId: "a", timestamp: "t", name };
    const long = userEntry("b", "a", "x".repeat(300_000));
    writeFileSync(path, linesOf(header, userEntry("a", null), info, long), { mode: 0o600 });
    const manager = await open(path);
    const clean = name.includes("a") ? "a b" : undefined;
    expect(manager.tree.name).toBe(clean);
    const { session } = await manager.branchTo("b");
    expect(keep(session).tree.name).toBe(clean);
    manager.appendMessage(said("more"));
    await manager.close();
    expect((await open(path)).readOnlyReason).toBeUndefined();
  });

  it("a label goes on an entry, and comes off again", () => {
    const manager = setUp().create();
    const { id } = manager.appendMessage(said("a"));
    manager.setLabel(id, "here");
    expect([...manager.tree.labels]).toEqual([[id, "here"]]);
    manager.setLabel(id);
    expect(manager.tree.labels.size).toBe(0);
    expect(manager.tree.leafId).toBe(id);
    expect(() => manager.setLabel("nope", "x")).toThrow("Entry nope not found");
  });

  it("a long session repeats its name where a list looks for it", async () => {
    const { create, open } = setUp();
    const manager = create();
    manager.appendMessage(said("a"));
    await manager.flush();
    manager.setName("far away");
    for (let index = 0; index < 20; index++) manager.appendMessage(said("x".repeat(10_000)));
    await manager.close();
    const [info] = await new SessionIndex().list([dirname(fileOf(manager))]);
    expect(info?.name).toBe("far away");
    const { length } = readFileSync(fileOf(manager));
    await (await open(manager.sessionFile)).close(); // nothing was added: nothing is repeated
    expect(readFileSync(fileOf(manager))).toHaveLength(length);
  });
});

describe("branching", () => {
  function conversation(manager: SessionManager) {
    const first = manager.appendMessage(said("one"));
    manager.setLabel(first.id, "start");
    const second = manager.appendMessage(said("two"));
    const third = manager.appendMessage(said("three"));
    manager.setLabel(third.id, "end");
    manager.setName("the name");
    return { first, second, third };
  }

  it("makes a new file with what came before, its labels and its name", async () => {
    const { create, open, keep } = setUp();
    const manager = create();
    const { first, second, third } = conversation(manager);
    const before = state(manager);
    const { session, text } = await manager.branchTo(third.id);
    keep(session);
    expect(text).toBe("three");
    expect(session.header).toMatchObject({ parentSession: manager.sessionFile, parentSessionId: manager.sessionId });
    expect(session.context.messages).toEqual([said("one"), said("two")]);
    expect([...session.tree.labels]).toEqual([[first.id, "start"]]);
    expect(session.tree).toMatchObject({ leafId: second.id, name: "the name", nameSource: "user" });
    expect(state(manager)).toEqual(before);
    const live = state(session);
    await session.close();
    expect(state(await open(session.sessionFile))).toEqual(live);
  });

  it("before the first message is an empty session that knows its parent", async () => {
    const { create, keep } = setUp();
    const manager = create();
    const { first } = conversation(manager);
    const { session, text } = await manager.branchTo(first.id);
    keep(session);
    expect(text).toBe("one");
    expect(session.context.messages).toEqual([]);
    expect(existsSync(fileOf(session))).toBe(false);
    session.appendMessage(said("other"));
    await session.flush();
    expect(readFile(fileOf(session)).header.parentSession).toBe(manager.sessionFile);
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
    const manager = SessionManager.inMemory({ cwd: "/x" });
    const { third } = conversation(manager);
    await manager.artifacts.save("bash", "text");
    const { session } = await manager.branchTo(third.id);
    expect(session.context.messages).toHaveLength(2);
    expect(await session.artifacts.read("1")).toBe("text");
    expect(session.sessionFile).toBeUndefined();
  });

  it("starts only at a user message", async () => {
    const manager = setUp().create();
    conversation(manager);
    const custom = manager.append({ type: "custom", customType: "x" });
    for (const id of [custom.id, "nope"])
      await expect(manager.branchTo(id)).rejects.toThrow("Invalid entry ID for branching");
  });
});

describe("a fork", () => {
  it("is a full copy under a new id, with artifacts, also of a file in use", async () => {
    const { create, forkFrom } = setUp();
    const manager = create();
    const first = manager.appendMessage(said("a"));
    manager.appendMessage(said("b"));
    manager.moveLeaf(first.id);
    await manager.artifacts.save("bash", "text");
    await manager.flush();
    const fork = await forkFrom(fileOf(manager));
    expect(state(fork)).toEqual(state(manager));
    expect(fork.header).toMatchObject({ parentSession: manager.sessionFile, parentSessionId: manager.sessionId });
    expect(await fork.artifacts.read("1")).toBe("text");
    fork.appendMessage(said("c"));
    await fork.flush();
    expect(readFile(fileOf(fork)).entries).toHaveLength(4);
    expect(readFile(fileOf(manager)).entries).toHaveLength(3);
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
    const manager = create();
    const text = "x".repeat(600_000);
    const message: AgentMessage = { role: "user", content: [image, { type: "text", text }], timestamp: 1 };
    manager.appendMessage(message);
    manager.appendMessage(said("after"));
    await manager.close();
    expect(manager.context.messages[0]).toBe(message);
    expect(statSync(fileOf(manager)).size).toBeLessThan(510_000);
    expect(readdirSync(join(home, ".galley", "agent", "blobs"))).toHaveLength(1);
    const again = await open(manager.sessionFile);
    const [loaded] = again.context.messages;
    expect(loaded && (await resolveImages(loaded, again.blobs))).toMatchObject({ content: [image, {}] });
    const [entry] = again.tree.entries as (SessionEntry & { artifactId?: string })[];
    expect(await again.artifacts.read(entry?.artifactId ?? "")).toBe(text);
    expect(again.context.messages[1]).toEqual(said("after"));
  });

  it("of a file elsewhere stays beside it, where nobody collects it", async () => {
    const { open, home } = setUp();
    const path = join(home, "elsewhere", "s.jsonl");
    const manager = await open(path);
    manager.appendMessage({ role: "user", content: [image], timestamp: 1 });
    await manager.flush();
    expect(readdirSync(join(home, "elsewhere", "s", "blobs"))).toHaveLength(1);
    expect(existsSync(join(home, ".galley"))).toBe(false);
  });

  it("comes along when a copy keeps its images elsewhere, in both directions", async () => {
    const { create, home, options, forkFrom, keep, open } = setUp();
    const inside = create();
    inside.appendMessage({ role: "user", content: [image], timestamp: 1 });
    await inside.close();
    const outside = keep(await SessionManager.forkFrom(fileOf(inside), { ...options, directory: join(home, "mine") }));
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
    const manager = create();
    manager.appendMessage({ role: "user", content: [image], timestamp: 1 });
    const { id } = manager.appendMessage(said("b"));
    const { session } = await manager.branchTo(id);
    keep(session);
    expect(statSync(fileOf(session)).size).toBeLessThan(1000);
    expect(readdirSync(join(home, ".galley", "agent", "blobs"))).toHaveLength(1);
  });
});

describe("continuing", () => {
  it("the newest of this directory, and none of another", async () => {
    const { create, continueRecent, options, keep } = setUp();
    const other = keep(SessionManager.create({ ...options, cwd: join(options.cwd, "sub") }));
    other.appendMessage(said("other"));
    await other.close();
    const [first, second] = [create(), create()];
    for (const [index, manager] of [first, second].entries()) {
      manager.appendMessage(said("x"));
      await manager.close();
      utimesSync(fileOf(manager), 100 - index, 100 - index);
    }
    expect((await continueRecent()).sessionId).toBe(first.sessionId);
  });

  it("this terminal's own, before a newer one", async () => {
    const { create, continueRecent, options, keep } = setUp({ terminalId: "pts-1" });
    const mine = create();
    mine.appendMessage(said("mine"));
    await mine.close();
    const newer = keep(SessionManager.create({ ...options, terminalId: "pts-2" }));
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
    const manager = create();
    manager.append({ type: "model_change", model: "a/b" });
    await manager.close();
    expect(existsSync(join(options.agentDir, "terminal-sessions"))).toBe(false);
  });

  it("a new one when there is nothing, and past what cannot be opened", async () => {
    const { create, continueRecent, log } = setUp();
    expect((await continueRecent()).tree.entries).toEqual([]);
    const manager = create();
    manager.appendMessage(said("a"));
    await manager.close();
    const broken = join(dirname(fileOf(manager)), "broken.jsonl");
    writeFileSync(broken, `${readFileSync(fileOf(manager), "utf8").split("\n")[0]}`.replace("}", ',"x":"\n'));
    const again = await continueRecent();
    expect(again.sessionId).toBe(manager.sessionId);
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
    const manager = await continueRecent();
    expect(manager.sessionId).toBe("legacy");
    expect(basename(fileOf(manager))).toBe("x.jsonl");
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
}: SessionManager["context"]) {
  return { messages, entryIds, thinkingLevel, models, injectedRules, prunedEntryIds, mode };
}
