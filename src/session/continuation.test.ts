// What happens beside a prompt while it goes on by itself: decisions, choices and notes that are made meanwhile last,
// whatever becomes of the reply behind which they were written.

import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../test/kit/temporary-directory.js";
import { silentLog } from "../base/log.js";
import { Settings } from "../config/settings/settings.js";
import { foldPending } from "../pending/pending-entries.js";
import { openRecord } from "../record/open-record.js";
import type { SessionRecord } from "../record/record.js";
import { sessionStats } from "../record/session-stats.js";
import { type OpenSession, openSession } from "../testing/open-session.js";
import { call, calls, fail, type ScriptStep, say, textBlock, usageOf } from "../testing/scripted-model.js";
import { parseRule } from "./rules/rule.js";

let folder = "";
beforeEach(() => {
  folder = temporaryDirectory();
});

const preview = call("ast_edit", { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: ["a.ts"] }, "edit_1");
const overloaded = fail("overloaded", { failure: { kind: "overloaded" } });
const tooLong = fail("prompt is too long", { failure: { kind: "overflow" } });
const refused = fail("no", { failure: { kind: "auth" } });
/** More than is kept of a conversation. */
const long = "four".repeat(25_000);

const withSettings = (values: Record<string, unknown>) =>
  new Settings({ overrides: new Map(Object.entries(values)) as never });

/** A preview waits, and only a person may decide it. */
async function staged(steps: readonly ScriptStep[]): Promise<OpenSession> {
  const settings = withSettings({ "resolve.decider": "user" });
  const open = await openSession({
    files: { "a.ts": "old(1);\n" },
    model: [preview, say("It waits."), ...steps],
    session: { persist: true, sessionDir: folder, agentDir: folder, settings },
  });
  await open.session.prompt("go");
  expect(open.session.pendingActionCount).toBe(1);
  return open;
}

const reached = ({ events }: OpenSession, type: string) =>
  expect.poll(() => events.some((event) => event.type === type)).toBe(true);

/** What a restart finds: the same conversation, and what else is on its path. */
async function reopened({ session }: OpenSession) {
  const live = structuredClone(session.messages);
  const path = session.sessionFile as string;
  await session.dispose();
  const record = await openRecord(path, { cwd: "/project", agentDir: folder });
  expect(record.context.messages).toEqual(live);
  await record.close();
  return record;
}
const pendingIn = (record: SessionRecord) => foldPending(record.tree.pathTo(), record.sessionId).open;
const notesIn = (record: SessionRecord) =>
  record.tree.pathTo().flatMap((entry) => (entry.type === "custom" && entry.customType === "note" ? [entry.data] : []));

describe("while a retry waits", () => {
  it.each(["apply", "discard"] as const)("a decision to %s lasts, and so does a module's entry", async (action) => {
    const open = await staged([overloaded, say("Done.")]);
    const running = open.session.prompt("go on");
    await reached(open, "auto_retry_start");
    await open.session.resolvePendingAction({ pendingId: "pa_1", by: "user", action, reason: "the person says so" });
    open.session.sessionManager.append({ type: "custom", customType: "note", data: 1 });
    open.clock.advance(2000);
    await running;
    open.model.verify();
    expect(open.session.messages.some((message) => "errorMessage" in message)).toBe(false);
    const record = await reopened(open);
    expect(pendingIn(record)).toEqual([]);
    expect(notesIn(record)).toEqual([1]);
  });

  it("the results of the calls that the failed reply had go with it", async () => {
    const begun = calls({ name: "read", args: { path: "a.ts" }, id: "c9" }).slice(0, -1);
    const open = await staged([[...begun, ...overloaded.slice(-1)], say("Done.")]);
    const running = open.session.prompt("go on");
    await reached(open, "auto_retry_start");
    const isResult = (message: { role: string; toolCallId?: string }) => message.toolCallId === "c9";
    expect(open.session.messages.some(isResult)).toBe(true);
    open.clock.advance(2000);
    await running;
    expect(open.session.messages.some(isResult)).toBe(false);
    await reopened(open);
  });
});

describe("while a conversation that is too long is summarised", () => {
  it("a decision and a choice last though no summary comes of it, and nothing is paid for twice", async () => {
    const half: ScriptStep = [
      () => reached(opened, "auto_compaction_start"),
      () => {
        opened.session.setModel("galley", "planner");
      },
      async () => {
        await opened.session.resolvePendingAction({ pendingId: "pa_1", by: "user", action: "discard", reason: "no" });
      },
      { type: "start" },
      ...textBlock(0, ["half"]),
      { type: "error", reason: "error", errorMessage: "no", failure: { kind: "auth" }, usage: usageOf(70, 7) },
    ];
    const opened: OpenSession = await staged([say("one"), say("two"), tooLong, half, refused]);
    await opened.session.prompt(long);
    await opened.session.prompt(long);
    await opened.session.prompt("three");
    expect(opened.events.find(({ type }) => type === "auto_compaction_end")).toMatchObject({ willRetry: false });
    expect(opened.session.messages.at(-1)).toMatchObject({ errorMessage: "prompt is too long" });
    const record = await reopened(opened);
    expect(record.context.models.get("default")).toBe("galley/planner");
    expect(pendingIn(record)).toEqual([]);
    const { entries } = record.tree;
    expect(sessionStats({ sessionId: "s", entries, messages: [] }).tokens).toMatchObject({ input: 70, output: 7 });
  });
});

describe("a series of retries", () => {
  it("is closed with the prompt, also when a stream rule cut the repeated reply and the run is stopped there", async () => {
    const file = { path: "/rules/no-any.md", text: "---\ncondition: ': any'\nscope: text\n---\nDo not use any." };
    const parsed = await parseRule(file, silentLog);
    const rules = parsed?.kind === "stream" ? [parsed.rule] : [];
    const { session, events, clock, model } = await openSession({
      model: [overloaded, say("let x: any"), overloaded, say("fine")],
      session: { loadRules: async () => rules },
    });
    session.subscribe((event) => {
      if (event.type === "auto_retry_start") queueMicrotask(() => clock.advance(2000));
      if (event.type === "agent_end" && !event.isTerminal && event.continueReason === "ttsr") void session.abort();
    });
    await session.prompt("one");
    expect(session.isRetrying).toBe(false);
    await session.prompt("two");
    model.verify();
    expect(events.filter(({ type }) => /^auto_retry/.test(type))).toMatchObject([
      { type: "auto_retry_start", attempt: 1 },
      { type: "auto_retry_end", attempt: 1, success: false, finalError: "Retry cancelled" },
      { type: "auto_retry_start", attempt: 1 },
      { type: "auto_retry_end", attempt: 1, success: true },
    ]);
  });
});

describe("a full conversation without automatic continuation", () => {
  const counted = (step: ScriptStep): ScriptStep =>
    step.map((event) => ("type" in event && event.type === "done" ? { ...event, usage: usageOf(80_000, 10) } : event));
  async function play(steps: ScriptStep[], prepare: (open: OpenSession) => void) {
    const settings = withSettings({ "compaction.thresholdTokens": 70_000, "compaction.autoContinue": false });
    const open = await openSession({ model: [say("one"), ...steps], session: { settings } });
    await open.session.prompt(long);
    prepare(open);
    open.events.length = 0;
    await open.session.prompt(long);
    open.model.verify();
    return open.events.flatMap((event) => {
      if (event.type === "agent_end") return [event.isTerminal ? "terminal" : event.continueReason];
      return event.type.startsWith("auto_compaction") || event.type === "todo_reminder" ? [event.type] : [];
    });
  }
  const summarised = ["auto_compaction_start", "auto_compaction_end"];

  it("is summarised behind the last run", async () => {
    expect(await play([counted(say("two")), say("A summary.")], () => {})).toEqual(["terminal", ...summarised]);
  });

  it("is summarised, and then the model is reminded of what is left to do", async () => {
    const told = await play([counted(say("two")), say("A summary."), say("Shall I?")], ({ session }) => {
      session.setTodoPhases([{ name: "Plan", tasks: [{ content: "test it" }] }]);
    });
    expect(told).toEqual(["todo", ...summarised, "todo_reminder", "terminal"]);
  });

  it("is summarised, and then the model hears what was queued", async () => {
    const told = await play([counted(say("two")), say("A summary."), say("three")], ({ session }) => {
      const stop = session.subscribe(({ type }) => {
        if (type !== "turn_end") return;
        stop();
        queueMicrotask(() => session.followUp("and then")); // the run has just looked for the last time
      });
    });
    expect(told).toEqual(["queued", ...summarised, "terminal"]);
  });
});

describe("the todo list", () => {
  const list = (content: string) => ({ ops: [{ op: "replace", phases: [{ name: "Plan", tasks: [{ content }] }] }] });
  const contents = ({ session }: OpenSession) =>
    session.getTodoPhases().flatMap(({ tasks }) => tasks.map(({ content }) => content));

  it("is the model's own again after a compaction", async () => {
    const open = await openSession({
      model: [call("todo_write", list("the model's")), say("Shall I?"), say("Shall I?"), say("A summary.")],
    });
    await open.session.prompt(long);
    await open.session.prompt(long);
    open.session.setTodoPhases([{ name: "Plan", tasks: [{ content: "the host's" }] }]);
    await open.session.compact();
    expect(contents(open)).toEqual(["the model's"]);
  });

  it("stays the host's where the model never had one", async () => {
    const open = await openSession({ model: [say("Shall I?"), say("Shall I?"), say("A summary.")] });
    await open.session.prompt(long);
    await open.session.prompt(long);
    open.session.setTodoPhases([{ name: "Plan", tasks: [{ content: "the host's" }] }]);
    await open.session.compact();
    expect(contents(open)).toEqual(["the host's"]);
  });
});
