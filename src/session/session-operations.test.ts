import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { systemClock } from "../base/clock.js";
import { countedIds } from "../base/ids.js";
import { acquireLock } from "../base/path-lock.js";
import { createRecord, createRecordInMemory, openRecord } from "../record/open-record.js";
import { faultyDisk } from "../record/store/store.test-kit.js";
import { type OpenSession, openSession, scriptedProviderModel } from "../testing/open-session.js";
import { call, gate, type ScriptStep, say, textBlock, usageOf } from "../testing/scripted-model.js";
import { type AnyTool, textResult } from "../tools/tool.js";
import type { AgentSession } from "./agent-session.js";

let folder = "";
beforeEach(() => {
  folder = temporaryDirectory();
});

const open = (model: ScriptStep[], tools: AnyTool[] = []) =>
  openSession({ model, tools, session: { persist: true, sessionDir: folder, agentDir: folder } });

const fileOf = ({ session }: { session: AgentSession }) => session.sessionFile as string;
const textOf = (path: string) => readFileSync(path, "utf8");
const roles = ({ session }: OpenSession) => session.messages.map(({ role }) => role);

/** The words of each message, and what a summary says. */
const said = (messages: readonly object[]) =>
  messages.map((message) => {
    const { summary, content = [] } = message as { summary?: string; content?: { text?: string }[] };
    return summary ?? content.map(({ text = "" }) => text).join("");
  });

async function reload(path: string) {
  const reopened = await openRecord(path, { cwd: "/project", agentDir: folder });
  await reopened.close();
  return reopened;
}

async function isFree(path: string): Promise<boolean> {
  const { lock } = await acquireLock(path, systemClock);
  await lock?.release();
  return lock !== undefined;
}

const entryIds = (session: AgentSession) => session.getUserMessagesForBranching().map(({ entryId }) => entryId);

/** Three prompts; the second and third are what is left behind by going back to the second. */
async function conversation(...more: ScriptStep[]): Promise<OpenSession & { second: string }> {
  const opened = await open([say("one"), say("two"), say("three"), ...more]);
  for (const text of ["first", "second", "third"]) await opened.session.prompt(text);
  return { ...opened, second: entryIds(opened.session)[1] as string };
}

const notes = (text: string): ScriptStep => [
  { type: "start" },
  ...textBlock(0, [text]),
  { type: "done", reason: "stop", usage: usageOf(700, 30) },
];

it("going back keeps the model and the level of now, for who opens the record later, too", async () => {
  const opened = await conversation();
  opened.session.setThinkingLevel("off");
  await opened.session.navigateTree(opened.second);
  expect(opened.session.thinkingLevel).toBe("off");
  await opened.session.dispose();
  expect((await reload(fileOf(opened))).context.thinkingLevel).toBe("off");
});

it("a message of a module's has one time, however long it waited", async () => {
  const { session, events } = await open([say("one")]);
  await session.sendCustomMessage({ customType: "note", content: "x", display: true }, { deliverAs: "nextTurn" });
  await new Promise((resolve) => setTimeout(resolve, 5));
  await session.prompt("go");
  const told = events.flatMap((event) => (event.type === "message_end" ? [event.message] : []));
  expect(session.messages.map(({ timestamp }) => timestamp)).toEqual(told.map(({ timestamp }) => timestamp));
});

describe("going elsewhere with notes on what is left", () => {
  it("puts a summary of the abandoned branch where the conversation goes on, memory and file alike", async () => {
    const opened = await conversation(notes("tried two things"), say("better"));
    const { session, model, second } = opened;
    const before = session.getSessionStats().tokens.total;
    const went = await session.navigateTree(second, { summarize: true, customInstructions: "what failed" });
    const leafBefore = session.messages.length;
    expect(leafBefore).toBe(3);
    expect(went).toMatchObject({ editorText: "second", cancelled: false });
    expect(went.summaryEntry).toMatchObject({ type: "branch_summary", summary: "tried two things" });
    expect(went.summaryEntry?.fromId).toBe(went.summaryEntry?.parentId);
    expect(roles(opened)).toEqual(["user", "assistant", "branchSummary"]);

    const request = JSON.stringify(model.requests.at(-1)?.context.messages);
    for (const words of ["[User]: second", "two", "[User]: third", "three"]) expect(request).toContain(words);
    for (const words of ["[User]: first", "[Assistant]: one"]) expect(request).not.toContain(words);
    expect(request).toContain("Additional focus: what failed");
    expect(session.getSessionStats().tokens.total).toBe(before + 730);

    await session.prompt("second, better");
    expect(model.requests.at(-1)?.context.messages[2]).toMatchObject({
      role: "user",
      content: expect.stringContaining("<summary>\ntried two things\n</summary>"),
    });
    const live = structuredClone(session.messages);
    await session.dispose();
    expect((await reload(fileOf(opened))).context.messages).toEqual(live);
  });

  it("to the very beginning, and to an entry of another branch: back to what both share", async () => {
    const record = createRecordInMemory({ cwd: "/project" });
    record.appendMessage({ role: "user", content: [{ type: "text", text: "first" }], timestamp: 1 });
    const script = [say("one"), say("two"), notes("all of it"), say("other"), notes("the other way")];
    const { session, model } = await openSession({ model: script, session: { sessionManager: record } });
    for (const text of ["second", "third"]) await session.prompt(text);
    const [first = "", , third = ""] = entryIds(session);
    expect((await session.navigateTree(first, { summarize: true })).summaryEntry).toMatchObject({
      fromId: "root",
      parentId: null,
    });
    await session.prompt("other way");
    const went = await session.navigateTree(third, { summarize: true });
    expect(went).toMatchObject({ editorText: "third" });
    expect(said(session.messages)).toEqual(["first", "second", "one", "the other way"]);
    expect(JSON.stringify(model.requests.at(-1)?.context.messages)).toContain("all of it"); // notes are part of it
  });

  it("a failure leaves everything as it was, but for the bill", async () => {
    const paid: ScriptStep = [
      { type: "start", usage: usageOf(40, 0) },
      { type: "error", reason: "error", errorMessage: "no", failure: { kind: "auth" } },
    ];
    const opened = await conversation(paid);
    const { session, second } = opened;
    const live = structuredClone(session.messages);
    await expect(session.navigateTree(second, { summarize: true })).rejects.toThrow("Summarization failed: no");
    expect(session.messages).toEqual(live);
    expect(session.getSessionStats().tokens.input).toBe(40);
    await session.dispose();
    expect((await reload(fileOf(opened))).context.messages).toEqual(live);
  });

  it("can be stopped, and nothing has moved then", async () => {
    const stalled = gate();
    const opened = await conversation([stalled.wait]);
    const { session, second } = opened;
    const going = session.navigateTree(second, { summarize: true });
    await stalled.reached;
    expect(session.isCompacting).toBe(true);
    await session.abort();
    expect(session.isCompacting).toBe(false);
    expect(await going).toEqual({ cancelled: true, aborted: true });
    expect(session.messages).toHaveLength(6);
  });

  it("is refused when the conversation goes on meanwhile, and what was paid is kept", async () => {
    const writing = gate();
    const [start, ...rest] = notes("too late");
    const opened = await conversation([start as ScriptStep[number], writing.wait, ...rest], say("four"));
    const { session, second } = opened;
    const going = session.navigateTree(second, { summarize: true });
    await writing.reached;
    await session.prompt("fourth");
    writing.open();
    await expect(going).rejects.toThrow("went on while its branch was being summarized");
    expect(said(session.messages).slice(-2)).toEqual(["fourth", "four"]);
    expect(session.getSessionStats().tokens.total).toBe(730);
  });

  it("asks no model when nothing is left behind, or no notes are wanted", async () => {
    const { session, second, model } = await conversation();
    const leaf = await session.navigateTree(second);
    expect(leaf).toEqual({ editorText: "second", cancelled: false });
    expect(await session.navigateTree(second, { summarize: true })).toEqual(leaf);
    expect(model.requests).toHaveLength(3);
  });

  it("returns the text of a custom message, and goes before it", async () => {
    const { session, events } = await open([say("one"), say("two")]);
    await session.prompt("first");
    await session.sendCustomMessage({ customType: "note", content: "look here", display: true });
    await session.prompt("second");
    const record = await reload(session.sessionFile as string);
    const custom = record.tree.entries.find(({ type }) => type === "custom_message");
    expect(await session.navigateTree(custom?.id ?? "")).toEqual({ editorText: "look here", cancelled: false });
    expect(session.messages).toHaveLength(2);
    expect(events.filter(({ type }) => type === "agent_end")).toHaveLength(2);
  });
});

it("branch, go back, leave and open again: the same place", async () => {
  const opened = await open([say("one"), say("two"), say("three")]);
  const { session } = opened;
  await session.prompt("first");
  await session.prompt("second");
  const [, second = ""] = entryIds(session);
  await session.navigateTree(second);
  await session.prompt("instead");
  await session.navigateTree(second); // before it, on the way that both branches share
  const live = structuredClone(session.messages);
  expect(said(live)).toEqual(["first", "one"]);
  await session.dispose();
  const again = await open([say("four")]);
  await again.session.switchSession(fileOf(opened));
  expect(again.session.messages).toEqual(live);
  await again.session.prompt("from here");
  expect(said(again.session.messages)).toEqual(["first", "one", "from here", "four"]);
});

it("what a host sets for its session is written nowhere", async () => {
  writeFileSync(join(folder, "config.yml"), "steeringMode: one-at-a-time\n");
  const opened = await open([say("one")]);
  const { session } = opened;
  await session.prompt("first");
  const files = () =>
    (readdirSync(folder, { recursive: true }) as string[])
      .filter((name) => name.endsWith(".jsonl") || name.endsWith(".yml"))
      .map((name) => [name, readFileSync(join(folder, name), "utf8")]);
  const before = files();
  expect(before).toHaveLength(2);
  session.steeringMode = "all";
  session.followUpMode = "all";
  session.interruptMode = "immediate";
  session.setAutoRetryEnabled(false);
  session.setAutoCompactionEnabled(false);
  session.setActiveToolsByName([]);
  session.setTodoPhases([{ name: "Plan", tasks: [{ content: "test" }] }]);
  await session.dispose();
  expect(files()).toEqual(before);
});

it("tokens never fall: neither by a compaction nor by leaving a branch", async () => {
  const opened = await open([notes("one"), notes("two"), notes("summary"), notes("three"), notes("a branch")]);
  const { session } = opened;
  const totals: number[] = [];
  const note = () => totals.push(session.getSessionStats().tokens.total);
  for (const _ of [1, 2]) await session.prompt("four".repeat(25_000));
  note();
  await session.compact();
  note();
  await session.prompt("on");
  note();
  await session.navigateTree(entryIds(session).at(-1) ?? "", { summarize: true });
  note();
  expect(totals).toEqual([1460, 2190, 2920, 3650]);
  expect(roles(opened)).toEqual(["compactionSummary", "user", "assistant", "branchSummary"]);
});

describe("changes of the record", () => {
  it("several at once come one after the other, and leave nothing locked", async () => {
    const opened = await open([say("one"), say("two")]);
    const { session } = opened;
    await session.prompt("first");
    const first = fileOf(opened);
    await Promise.all([
      session.fork(),
      session.fork(),
      session.newSession(),
      session.switchSession(first),
      session.fork(),
    ]);
    const last = fileOf(opened);
    const others = readdirSync(folder).filter((name) => name.endsWith(".jsonl") && join(folder, name) !== last);
    expect(others).toHaveLength(3);
    for (const name of others) expect(await isFree(join(folder, name))).toBe(true);
    expect(await isFree(last)).toBe(false);
    await session.prompt("second");
    expect(session.messages).toHaveLength(4);
    await session.dispose();
    expect(await isFree(last)).toBe(true);
  });

  it("is refused without events once the session has ended; one that began before is not", async () => {
    const heard: string[] = [];
    const { session } = await openSession({
      model: [say("one")],
      session: {
        extensions: [
          (pi) => {
            pi.on("session_before_switch", () => void heard.push("before"));
            pi.on("session_switch", () => void heard.push("switch"));
            pi.on("session_shutdown", () => void heard.push("shutdown"));
          },
        ],
      },
    });
    await session.prompt("first");
    const [id] = entryIds(session) as [string];
    await session.newSession();
    await session.dispose();
    expect(heard).toEqual(["before", "shutdown", "switch", "shutdown"]);
    const over = "The session was closed. Open it again to go on.";
    await expect(session.newSession()).rejects.toThrow(over);
    await expect(session.switchSession(join(folder, "x.jsonl"))).rejects.toThrow(over);
    await expect(session.navigateTree(id)).rejects.toThrow(over);
    expect(heard).toHaveLength(4);
    const { session: other } = await openSession();
    expect(await Promise.all([other.newSession(), other.dispose()])).toEqual([true, undefined]);
  });

  it("is called off by an abort while modules think about it", async () => {
    const asked = gate();
    const { session } = await openSession({
      session: { extensions: [(pi) => pi.on("session_before_switch", () => asked.wait())] },
    });
    const { sessionId } = session;
    const changed = session.newSession();
    await asked.reached;
    await session.abort();
    await expect(changed).rejects.toThrow("Operation aborted");
    expect(session.sessionId).toBe(sessionId);
    asked.open();
    await session.dispose();
  });

  it("records the model and how hard it thinks", async () => {
    const thinker = { ...scriptedProviderModel, reasoning: true };
    const session = { persist: true, sessionDir: folder, agentDir: folder, model: thinker };
    const opened = await openSession({ model: [say("one")], session });
    opened.session.setThinkingLevel("high");
    await opened.session.newSession();
    await opened.session.prompt("go");
    await opened.session.dispose();
    const { context } = await reload(fileOf(opened));
    expect([context.models.get("default"), context.thinkingLevel]).toEqual(["test/script", "high"]);
  });

  it("waits for a summary that is being written, whose bill belongs to the old record", async () => {
    const stalled = gate();
    const opened = await open([say("one"), say("two"), [{ type: "start", usage: usageOf(40, 0) }, stalled.wait]]);
    const { session } = opened;
    for (const _ of [1, 2]) await session.prompt("four".repeat(25_000));
    const old = fileOf(opened);
    const compacting = expect(session.compact()).rejects.toThrow("Compaction cancelled");
    await stalled.reached;
    await session.newSession();
    expect(session.getSessionStats().tokens.total).toBe(0);
    expect(textOf(old)).toContain('"billed_usage"');
    await compacting;
  });

  it("a prompt that comes meanwhile is stopped, and stays with the record it was said in", async () => {
    const sessionManager = createRecord({ cwd: "/project", agentDir: folder, directory: folder });
    const slow = gate();
    const branchTo = sessionManager.branchTo.bind(sessionManager);
    sessionManager.branchTo = async (entryId) => {
      await slow.wait();
      return branchTo(entryId);
    };
    const stalled = gate();
    const opened = await openSession({ model: [say("one"), [stalled.wait], say("two")], session: { sessionManager } });
    const { session } = opened;
    await session.prompt("first");
    const first = fileOf(opened);
    const branching = session.branch(entryIds(session)[0] as string);
    await slow.reached;
    const late = session.prompt("late");
    await stalled.reached;
    slow.open();
    await Promise.all([branching, late]);
    expect(session.messages).toEqual([]);
    expect(textOf(first)).toMatch(/"late".*\n.*"stopReason":"aborted"/);
    await session.prompt("second");
    expect(textOf(fileOf(opened))).not.toContain('"late"');
  });

  it("waits for a tool that must not be cut short: its result belongs to the old record", async () => {
    const working = gate();
    const careful: AnyTool = {
      name: "careful",
      label: "Careful",
      description: "runs to its end",
      parameters: { type: "object" },
      nonAbortable: true,
      execute: async () => {
        await working.wait();
        return textResult("done after all");
      },
    };
    const opened = await open([call("careful", {})], [careful]);
    const { session, clock } = opened;
    const running = session.prompt("go");
    await working.reached;
    const first = fileOf(opened);
    let hasChanged = false;
    const changing = session.newSession().then(() => {
      hasChanged = true;
    });
    for (let patience = 0; patience < 5; patience++) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(10_000);
    }
    expect(hasChanged).toBe(false);
    working.open();
    await Promise.all([running, changing]);
    expect(session.messages).toEqual([]);
    expect(textOf(first)).toContain("done after all");
  });

  it("to its own file is no change: it stays where it is, and ours", async () => {
    const opened = await open([say("one"), say("two")]);
    const { session } = opened;
    await session.prompt("first");
    const path = fileOf(opened);
    session.steer("forgotten");
    await session.switchSession(path);
    expect([session.queuedMessageCount, session.messages.length]).toEqual([0, 2]);
    await session.prompt("second");
    expect(fileOf(opened)).toBe(path);
    expect(textOf(path)).toContain('"second"');
  });

  it("that cannot be made leaves the session at hand as it was", async () => {
    const opened = await open([say("one"), say("two")]);
    const { session } = opened;
    await session.prompt("first");
    session.steer("kept");
    await expect(session.switchSession(folder)).rejects.toThrow("Not a session file");
    writeFileSync(join(folder, "notes.txt"), "mine");
    symlinkSync("circle", join(folder, "circle"));
    for (const [path, reason] of [
      [join(folder, "notes.txt", "x"), "ENOTDIR: not a directory"],
      [join(folder, "x".repeat(5000)), "ENAMETOOLONG: name too long"],
      [join(folder, "circle"), "ELOOP: too many symbolic links encountered"],
      [join(folder, "a\0b"), "the path holds a NUL character"],
    ] as const) {
      const text = `Cannot open ${path}: ${reason}`;
      await expect(session.switchSession(path)).rejects.toMatchObject({ code: "file_refused", message: text });
    }
    await expect(session.branch("nope")).rejects.toThrow("Invalid entry ID for branching");
    expect([session.queuedMessageCount, session.messages.length]).toEqual([1, 2]);
    await session.prompt("second");
    expect(textOf(fileOf(opened))).toContain('"kept"');
  });
});

describe("a branch", () => {
  const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" } as const;

  it("returns the text as it was written, and can begin at a message without one", async () => {
    const { session } = await open([say("one"), say("two")]);
    await session.prompt("  indented\n    code\n");
    await session.prompt("", { images: [image] });
    const users = session.sessionManager.tree.entries.filter(
      (entry) => entry.type === "message" && entry.message.role === "user",
    );
    const [first, second] = users.map(({ id }) => id) as [string, string];
    expect(session.getUserMessagesForBranching()).toEqual([
      { entryId: first, text: "  indented\n    code\n", onPath: true },
    ]);
    expect(await session.branch(second)).toEqual({ text: "", cancelled: false });
    expect(await session.branch(first)).toEqual({ text: "  indented\n    code\n", cancelled: false });
  });

  it("that is prevented still returns the text, and a wrong id is an error before extensions are asked", async () => {
    const asked: string[] = [];
    const { session } = await openSession({
      model: [say("one")],
      session: {
        extensions: [
          (pi) =>
            pi.on("session_before_branch", ({ entryId }) => {
              asked.push(entryId);
              return { cancel: true };
            }),
        ],
      },
    });
    await session.prompt("first");
    const [id] = entryIds(session) as [string];
    expect(await session.branch(id)).toEqual({ text: "first", cancelled: true });
    await expect(session.branch("nope")).rejects.toThrow("Invalid entry ID for branching");
    expect(asked).toEqual([id]);
    await session.dispose();
  });
});

describe("a fork", () => {
  it("loses nothing that the disk did not take", async () => {
    const { disk, failing } = faultyDisk();
    const sessionManager = createRecord({
      cwd: "/project",
      agentDir: folder,
      directory: folder,
      ids: countedIds(),
      disk,
    });
    const opened = await openSession({ model: [say("one"), say("two"), say("three")], session: { sessionManager } });
    const { session } = opened;
    await session.prompt("first");
    const original = fileOf(opened);
    failing.add("write");
    await session.prompt("second");
    expect(await session.fork()).toBe(true);
    expect([session.messages.length, session.persistError]).toEqual([4, expect.stringContaining("ENOSPC")]);
    failing.clear();
    await session.prompt("third");
    expect(session.persistError).toBeUndefined();
    expect(fileOf(opened)).not.toBe(original);
    const live = structuredClone(session.messages);
    await session.dispose();
    expect((await reload(fileOf(opened))).context.messages).toEqual(live);
  });

  it("of a session without a message is a session without a file; in memory there is none", async () => {
    const opened = await open([say("one")]);
    opened.session.setSessionName("named");
    const id = opened.session.sessionId;
    expect(await opened.session.fork()).toBe(true);
    expect(opened.session.sessionId).not.toBe(id);
    expect(opened.session.sessionName).toBe("named");
    await opened.session.prompt("first");
    expect(textOf(fileOf(opened))).toContain('"named"');
    const inMemory = await openSession();
    expect(await inMemory.session.fork()).toBe(false);
  });
});
