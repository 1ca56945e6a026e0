// Previews of one file beside and on top of each other: none is written over, none is written that was refused, and what
// is told as applied is on the disk.

import { describe, expect, it } from "vitest";
import { Settings } from "../../../src/config/settings/settings.js";
import type { PendingDecision } from "../../../src/pending/decide-pending.js";
import { stampOf } from "../../../src/plans/plan.js";
import type { AgentSessionEvent, ToolResult } from "../../../src/protocol/events.js";
import { openSession } from "../../../src/testing/open-session.js";
import { call, calls, type ScriptStep, say } from "../../../src/testing/scripted-model.js";
import type { AnyTool } from "../../../src/tools/tool.js";

const numbered = Array.from({ length: 40 }, (_, index) => `line ${index}`);
const withLines = (changes: Record<number, string>) =>
  `${numbered.map((line, index) => changes[index] ?? line).join("\n")}\n`;
const rewrite = (pat: string, out: string, id: string) => ({
  name: "ast_edit",
  args: { ops: [{ pat, out }], paths: ["a.ts"] },
  id,
});

async function play(files: Record<string, string>, model: readonly ScriptStep[], values: Record<string, unknown> = {}) {
  const settings = new Settings({ overrides: new Map(Object.entries(values)) as never });
  const open = await openSession({ files, model, session: { settings } });
  await open.session.prompt("go");
  const decide = (action: "apply" | "discard", pendingId: string, more: Partial<PendingDecision> = {}) =>
    open.session.resolvePendingAction({ action, reason: "mine", by: "user", pendingId, ...more });
  const statuses = async () =>
    (await open.session.getPendingActions()).map(({ id, status, dependsOn }) => [id, status, ...(dependsOn ?? [])]);
  const results = (name: string) =>
    open.session.messages
      .filter((message) => message.role === "toolResult" && message.toolName === name)
      .map((message) => (message as ToolResult).content.map((block) => ("text" in block ? block.text : "")).join("|"));
  return { ...open, decide, statuses, results };
}

describe("previews of one file that were made for the file as it is", () => {
  const files = { "a.ts": "foo(1);\nbaz(2);\n" };
  const both = [rewrite("foo($A)", "bar($A)", "e1"), rewrite("baz($A)", "qux($A)", "e2")] as const;

  /** In two turns: side by side, either could be staged first. */
  const [first, second] = both.map((one) => calls(one)) as [ScriptStep, ScriptStep];

  it("do not rest on each other: one is applied, the other is stale, and neither is told as what it is not", async () => {
    const resolve = call("resolve", { action: "apply", reason: "agreed" }, "r1");
    const open = await play(files, [first, second, resolve, say("ok")], { "resolve.forcing": "off" });
    expect(open.results("resolve")).toEqual([
      "Applied 1 replacement in 1 file.|Still pending: pa_1 AST Edit: 1 replacement in 1 file",
    ]);
    expect(open.workspace.files).toEqual({ "a.ts": "foo(1);\nqux(2);\n" });
    const stale = { code: "stale_preview", details: { files: ["a.ts"] } };
    await expect(open.decide("apply", "pa_1")).rejects.toThrow("Preview is stale: 1 of 1 files changed");
    await expect(open.decide("apply", "pa_1")).rejects.toMatchObject(stale);
    const edit = { pendingId: "pa_1", revision: 1, path: "a.ts", hunk: 1, text: "x\n", by: "user" as const };
    await expect(open.session.revisePendingAction(edit)).rejects.toMatchObject(stale);
    expect(open.workspace.files).toEqual({ "a.ts": "foo(1);\nqux(2);\n" });
  });

  it("are not discarded with each other", async () => {
    const open = await play(files, [first, second, say("ok")], { "resolve.forcing": "off" });
    expect((await open.decide("discard", "pa_1")).text).toContain("Discarded: AST Edit: 1 replacement in 1 file.");
    await open.decide("apply", "pa_2");
    expect(open.workspace.files).toEqual({ "a.ts": "foo(1);\nqux(2);\n" });
  });

  it("a model's apply settles no undo that a person staged", async () => {
    const write = call("write", { path: "a.ts", content: "foo(2);\n" }, "w1");
    const resolve = call("resolve", { action: "apply", reason: "agreed", id: "pa_2" }, "r1");
    const model = [write, say("ok"), calls(rewrite("foo($A)", "bar($A)", "e1")), resolve, say("ok")];
    const open = await play(files, model, { "resolve.forcing": "off" });
    const { action } = await open.session.undo();
    await open.session.prompt("more");
    expect(open.workspace.files).toEqual({ "a.ts": "bar(2);\n" });
    expect(open.events.filter((event) => event.type === "pending_action_resolved").map(({ id }) => id)).toEqual([
      "pa_2",
    ]);
    await expect(open.decide("apply", action.id)).rejects.toThrow("Preview is stale");
  });
});

describe("with every change staged", () => {
  const staged = { staging: "all" };

  it("two rewrites of one turn are made on top of each other, whichever ends first", async () => {
    const files = { "a.ts": "foo(1);\nbaz(2);\n" };
    const turn = calls(rewrite("foo($A)", "bar($A)", "e1"), rewrite("baz($A)", "qux($A)", "e2"));
    const open = await play(files, [turn, say("ok")], staged);
    expect(await open.statuses()).toEqual([
      ["pa_2", "pending", "pa_1"],
      ["pa_1", "pending"],
    ]);
    await open.decide("apply", "pa_2", { withDeps: true });
    expect(open.workspace.files).toEqual({ "a.ts": "bar(1);\nqux(2);\n" });
  });

  const write = call("write", { path: "a.txt", content: withLines({ 1: "BAD", 30: "good" }) }, "w1");
  const edit = call("edit", { edits: [{ path: "a.txt", old_text: "line 15\n", new_text: "fifteen\n" }] }, "e1");
  const stack = [call("read", { path: "a.txt" }, "r1"), write, edit, say("ok")];

  it("a hunk that was discarded never reaches the disk, whatever was staged on top of it", async () => {
    const open = await play({ "a.txt": withLines({}) }, stack, staged);
    const { text } = await open.decide("discard", "pa_1", { hunks: { "a.txt": [1] } });
    expect(text).toBe("Discarded 1 of 2 hunks in 1 of 1 files (a.txt).\nDiscarded with it: pa_2 Edit: a.txt");
    expect(await open.statuses()).toEqual([["pa_1", "pending"]]);
    expect(open.events.findLast((event) => event.type === "pending_action_resolved")).toMatchObject({
      id: "pa_2",
      outcome: "discarded",
      reason: "Depends on pa_1.",
    });
    await expect(open.decide("apply", "pa_2")).rejects.toThrow("Pending action pa_2 was already discarded.");
    await open.decide("apply", "pa_1");
    expect(open.workspace.files).toEqual({ "a.txt": withLines({ 30: "good" }) });
  });

  it("two parts that are discarded at once are both gone", async () => {
    const open = await play({ "a.txt": withLines({}) }, stack, staged);
    const [first, second] = await Promise.allSettled([
      open.decide("discard", "pa_1", { hunks: { "a.txt": [1] } }),
      open.decide("discard", "pa_1", { hunks: { "a.txt": [2] } }),
    ]);
    expect(first.status).toBe("fulfilled");
    expect(second).toMatchObject({ reason: { message: "Pending action pa_1 is being applied." } });
    await open.decide("apply", "pa_1");
    expect(open.workspace.files).toEqual({ "a.txt": withLines({ 30: "good" }) });
  });

  it("a part of the lower one is applied, and the upper one still leads where it was shown to", async () => {
    const open = await play({ "a.txt": withLines({}) }, stack, staged);
    await open.decide("apply", "pa_1", { hunks: { "a.txt": [2] } });
    expect(open.workspace.files).toEqual({ "a.txt": withLines({ 30: "good" }) });
    expect((await open.decide("apply", "pa_2", { withDeps: true })).text).toContain(
      "Applied with it: pa_1 Write: a.txt",
    );
    expect(open.workspace.files).toEqual({ "a.txt": withLines({ 1: "BAD", 15: "fifteen", 30: "good" }) });
  });

  describe("a part of the upper one", () => {
    const model = [
      call("write", { path: "a.txt", content: "one\n" }, "w1"),
      call("edit", { edits: ["a.txt", "b.txt"].map((path) => ({ path, old_text: "one", new_text: "two" })) }, "e1"),
      say("ok"),
    ];

    it("is applied with what it rests on, in one change; the rest stays", async () => {
      const open = await play({ "b.txt": "one\n" }, model, staged);
      const { text, details } = await open.decide("apply", "pa_2", { files: ["a.txt"], withDeps: true });
      expect(text).toBe("Applied 1 of 2 hunks in 1 of 2 files (a.txt).\nApplied with it: pa_1 Write: a.txt");
      expect(details).toMatchObject({ partial: true, settled: [{ path: "a.txt" }] });
      expect(open.workspace.files).toEqual({ "a.txt": "two\n", "b.txt": "one\n" });
      expect(await open.session.getChanges()).toMatchObject([{ pendingId: "pa_2", files: [{ kind: "create" }] }]);
      expect(open.events.findLast((event) => event.type === "pending_action_resolved")).toMatchObject({
        id: "pa_1",
        outcome: "applied",
        reason: "Needed by pa_2.",
      });
      await open.decide("apply", "pa_2");
      expect(open.workspace.files).toEqual({ "a.txt": "two\n", "b.txt": "two\n" });
    });

    it("takes nothing along that it does not rest on", async () => {
      const open = await play({ "b.txt": "one\n" }, model, staged);
      expect((await open.decide("apply", "pa_2", { files: ["b.txt"] })).text).toBe(
        "Applied 1 of 2 hunks in 1 of 2 files (b.txt).",
      );
      expect(open.workspace.files).toEqual({ "b.txt": "two\n" });
      expect((await open.decide("apply", "pa_2", { withDeps: true })).text).toContain(
        "Applied with it: pa_1 Write: a.txt",
      );
      expect(open.workspace.files).toEqual({ "a.txt": "two\n", "b.txt": "two\n" });
    });
  });

  it("what came from elsewhere for the same file is not written over by what is staged next", async () => {
    const read = call("read", { path: "a.txt" }, "r2");
    const more = call("edit", { edits: [{ path: "a.txt", old_text: "module", new_text: "more" }] }, "e2");
    const open = await play({ "a.txt": "one\n" }, [write, say("ok"), read, more, say("ok")], staged);
    // Made for the disk, not for what is staged: as a module's plan, or an undo.
    const bytes = Buffer.from("one\n");
    const id = open.session.stagePendingAction({
      label: "Module",
      sourceToolName: "module",
      work: {
        kind: "plan",
        plan: {
          changes: [
            {
              kind: "modify",
              path: "/project/a.txt",
              stamp: stampOf("a.txt", { bytes, mode: 0o644 }),
              before: bytes,
              after: Buffer.from("module\n"),
            },
          ],
          applied: { text: "Done." },
        },
      },
    });
    await open.session.prompt("more");
    expect((await open.statuses())[0]).toEqual(["pa_3", "pending", id]);
    const together = await open.decide("apply", "pa_3", { withDeps: true });
    expect(together.text).toContain("Applied with it: pa_2 Module");
    expect(open.workspace.files).toEqual({ "a.txt": "more\n" });
    await expect(open.decide("apply", "pa_1")).rejects.toThrow("Preview is stale");
  });
});

describe("what galley itself writes", () => {
  const files = { "a.ts": "foo(1);\n", "b.ts": "foo(2);\n" };
  const preview = calls({ name: "ast_edit", args: { ops: [{ pat: "foo($A)", out: "bar($A)" }] }, id: "e1" });
  const unforced = { "resolve.forcing": "off" };
  const staleNews = ({ events }: { events: readonly AgentSessionEvent[] }) =>
    events.flatMap((event) =>
      event.type === "pending_action_changed"
        ? [[event.id, event.status, ...(event.files ?? []).map(({ path }) => path)]]
        : [],
    );

  it.each([
    ["write", { path: "a.ts", content: "foo(7);\n" }],
    ["edit", { edits: [{ path: "a.ts", old_text: "1", new_text: "7" }] }],
  ])("by %s makes a preview of that file stale at once, and hosts hear of it before the result", async (name, args) => {
    const open = await play(files, [preview, call(name, args, "w1"), say("ok")], unforced);
    expect(await open.statuses()).toEqual([["pa_1", "stale"]]);
    expect(staleNews(open)).toEqual([["pa_1", "stale", "a.ts"]]);
    const isEnd = (event: AgentSessionEvent) => event.type === "tool_execution_end" && event.toolName === name;
    const isNews = (event: AgentSessionEvent) => event.type === "pending_action_changed";
    expect(open.events.findIndex(isNews)).toBeLessThan(open.events.findIndex(isEnd));
  });

  it("leaves a preview alone whose files it did not touch", async () => {
    const write = call("write", { path: "c.ts", content: "foo(7);\n" }, "w1");
    const open = await play(files, [preview, write, say("ok")], unforced);
    expect(staleNews(open)).toEqual([]);
  });

  it("by a tool that may write anywhere, or by a preview that is applied, is seen too", async () => {
    const other = rewrite("foo($A)", "baz($A)", "e2");
    const open = await play(files, [calls(other), preview, say("ok")], unforced);
    await open.decide("apply", "pa_1");
    expect(staleNews(open)).toEqual([["pa_2", "stale", "a.ts"]]);

    const tool: AnyTool = {
      name: "sweep",
      label: "Sweep",
      description: "",
      parameters: { type: "object" },
      async execute() {
        swept.workspace.remove("/project/b.ts");
        return { content: [] };
      },
    };
    const settings = new Settings({ overrides: new Map(Object.entries(unforced)) as never });
    const swept = await openSession({
      files,
      model: [preview, call("sweep", {}, "s1"), say("ok")],
      session: { settings, customTools: [tool] },
    });
    await swept.session.prompt("go");
    expect(staleNews(swept)).toEqual([["pa_1", "stale", "b.ts"]]);
  });

  it("does not make stale what is staged on top of what was applied, and makes the whole stack stale otherwise", async () => {
    const steps = [
      call("write", { path: "c.txt", content: "one\n" }, "w1"),
      call("edit", { edits: [{ path: "c.txt", old_text: "one", new_text: "two" }] }, "e1"),
      say("ok"),
    ];
    const open = await play({}, steps, { staging: "all" });
    await open.decide("apply", "pa_1");
    expect(staleNews(open)).toEqual([]);
    expect((await open.decide("apply", "pa_2")).text).toBe("Wrote c.txt.");

    const stacked = await play({ "c.txt": "zero\n" }, [call("read", { path: "c.txt" }, "r0"), ...steps], {
      staging: "all",
    });
    await stacked.workspace.writeFile(await stacked.workspace.resolve("c.txt", "write"), {
      bytes: Buffer.from("me\n"),
    });
    await stacked.session.resolvePendingAction({ action: "apply", reason: "", by: "user", all: true });
    expect((await stacked.statuses()).map(([id, status]) => [id, status])).toEqual([
      ["pa_2", "stale"],
      ["pa_1", "stale"],
    ]);
  });
});
