// Previews and what becomes of them, through a whole session: a scripted model, an in-memory disk.

import { describe, expect, it, vi } from "vitest";
import { Settings } from "../../../src/config/settings/settings.js";
import type { NewAction } from "../../../src/plans/stored-action.js";
import type { ToolResult } from "../../../src/protocol/events.js";
import type { ProviderModel } from "../../../src/provider/provider.js";
import { type OpenSessionOptions, openSession, scriptedProviderModel } from "../../../src/testing/open-session.js";
import { call, calls, fail, type ScriptStep, say } from "../../../src/testing/scripted-model.js";
import type { AnyTool } from "../../../src/tools/tool.js";

const files = { "src/a.ts": "old(1);\n", "src/b.ts": "old(2);\nold(3);\n" };
const preview = call("ast_edit", { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: ["src"] }, "edit_1");
const resolve = (action: "apply" | "discard", more: object = {}, id = "resolve_1") =>
  call("resolve", { action, reason: "names agreed", ...more }, id);
const applied = { "src/a.ts": "fresh(1);\n", "src/b.ts": "fresh(2);\nfresh(3);\n" };
const named = { type: "tool", name: "resolve" };
const reminder =
  "<system-reminder>\nThis is a preview. Call the `resolve` tool to apply or discard these changes.\n</system-reminder>";

async function play(model: readonly ScriptStep[], options: Partial<OpenSessionOptions> = {}) {
  const open = await openSession({ files, model, ...options });
  await open.session.prompt("go");
  return open;
}

type Open = Awaited<ReturnType<typeof play>>;

const results = ({ session }: Open, name: string): ToolResult[] =>
  session.messages.filter((message) => message.role === "toolResult" && message.toolName === name) as never;
const texts = (result: ToolResult | undefined) =>
  result?.content.map((block) => (block.type === "text" ? block.text : "[image]"));
const forced = ({ model }: Open) => model.requests.map(({ options }) => options.toolChoice);
const reminders = ({ session }: Open) =>
  session.messages.flatMap((message) =>
    message.role === "custom" && message.customType === "resolve-reminder" ? [message.content] : [],
  );
const resolved = ({ events }: Open) =>
  events.flatMap((event) =>
    event.type === "pending_action_resolved" ? [`${event.id} ${event.outcome} by ${event.by}`] : [],
  );

/** A tool of somebody else's that stages a closure. */
function stager(stage: (action: NewAction) => string, name = "batch_rename_preview"): AnyTool {
  return {
    name,
    label: name,
    description: "",
    parameters: { type: "object" },
    deferrable: true,
    async execute() {
      return { content: [{ type: "text", text: `staged ${stage(closures.shift() as NewAction)}` }] };
    },
  };
}
let closures: NewAction[] = [];

function withSettings(values: Record<string, unknown>): Settings {
  return new Settings({ overrides: new Map(Object.entries(values)) as never });
}

describe("a preview of ast_edit", () => {
  it("is forced to be resolved by the next request, with one reminder, and applied as it was shown", async () => {
    const open = await play([preview, resolve("apply"), say("Done.")]);
    expect(open.workspace.files).toEqual(applied);
    expect(texts(results(open, "ast_edit")[0])?.[0]).toMatch(
      /^Staged as pa_1 – files NOT modified\. Call resolve to apply or discard\.\n\n# src\n## └─ a\.ts \(1 replacement\)\n/,
    );
    expect(texts(results(open, "resolve")[0])).toEqual(["Applied 3 replacements in 2 files."]);
    expect(results(open, "resolve")[0]?.details).toMatchObject({
      action: "apply",
      reason: "names agreed",
      sourceToolName: "ast_edit",
      label: "AST Edit: 3 replacements in 2 files",
      id: "pa_1",
      remaining: 0,
      sourceResultDetails: { applied: true, totalReplacements: 3 },
    });
    expect(forced(open)).toEqual([undefined, named, undefined]);
    expect(reminders(open)).toEqual([reminder]);
    expect(open.session.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "custom",
      "assistant",
      "toolResult",
      "assistant",
    ]);
    expect(resolved(open)).toEqual(["pa_1 applied by model"]);
    open.model.verify();
  });

  it("refuses when a file changed, and touches none of them", async () => {
    const change: ScriptStep = [
      async () => {
        const target = await open.workspace.resolve("src/b.ts", "write");
        await open.workspace.writeFile(target, { bytes: Buffer.from("other();\n") });
      },
      ...resolve("apply"),
    ];
    const open: Open = await openSession({ files, model: [preview, change, resolve("discard"), say("Gone.")] });
    await open.session.prompt("go");
    expect(texts(results(open, "resolve")[0])).toEqual([
      "Preview is stale: 1 of 2 files changed since the preview (src/b.ts). Nothing was written. Run ast_edit again or discard.",
    ]);
    expect(open.workspace.files).toEqual({ "src/a.ts": "old(1);\n", "src/b.ts": "other();\n" });
    expect(resolved(open)).toEqual(["pa_1 stale by model", "pa_1 discarded by model"]);
    expect(forced(open)).toEqual([undefined, named, named, undefined]);
  });

  it("can be made anew on a stale plan, which writes nothing", async () => {
    const change: ScriptStep = [
      async () => {
        const target = await open.workspace.resolve("src/b.ts", "write");
        await open.workspace.writeFile(target, { bytes: Buffer.from("old(9);\n") });
      },
      ...resolve("apply", { extra: { refresh: true } }),
    ];
    const open: Open = await openSession({ files, model: [preview, change, resolve("apply"), say("ok")] });
    await open.session.prompt("go");
    expect(results(open, "resolve")[0]?.details).toMatchObject({ refreshed: true, totalReplacements: 2 });
    expect(open.workspace.files).toEqual({ "src/a.ts": "fresh(1);\n", "src/b.ts": "fresh(9);\n" });
  });

  it("is still pending when the model answers with text, and the next prompt is forced again", async () => {
    const open = await play([preview, say("I would rather not."), resolve("discard"), say("Fine.")]);
    expect(open.session.pendingActionCount).toBe(1);
    expect(open.events.at(-2)).toEqual({ type: "pending_action_stalled", ids: ["pa_1"] });
    expect(forced(open)).toEqual([undefined, named]);
    await open.session.prompt("and now?");
    expect(forced(open)).toEqual([undefined, named, named, undefined]);
    expect(reminders(open)).toHaveLength(1);
    expect(texts(results(open, "resolve")[0])).toEqual([
      "Discarded: AST Edit: 3 replacements in 2 files. Reason: names agreed",
    ]);
    expect(open.workspace.files).toEqual(files);
  });

  it("survives an abort of the forced turn", async () => {
    const stop: ScriptStep = [{ type: "start" }, () => open.session.abort()];
    const open: Open = await openSession({ files, model: [preview, stop, resolve("apply"), say("ok")] });
    await open.session.prompt("go");
    await open.session.waitForIdle();
    expect(open.session.pendingActionCount).toBe(1);
    await open.session.prompt("again");
    expect(forced(open)).toEqual([undefined, named, named, undefined]);
    expect(open.workspace.files).toEqual(applied);
  });

  it("of two decisions in one message one works and the other finds nothing", async () => {
    const twice = calls(
      { name: "resolve", args: { action: "apply", reason: "a" }, id: "r1" },
      { name: "resolve", args: { action: "apply", reason: "b" }, id: "r2" },
    );
    const open = await play([preview, twice, say("ok")]);
    expect(results(open, "resolve").map(texts)).toEqual([
      ["Applied 3 replacements in 2 files."],
      ["No pending action to resolve. Nothing to apply or discard."],
    ]);
  });

  it("is applied at once where staging is off", async () => {
    const open = await play([preview, say("ok")], { session: { settings: withSettings({ staging: "off" }) } });
    expect(open.workspace.files).toEqual(applied);
    expect(results(open, "ast_edit")[0]?.details).toMatchObject({ applied: true });
    expect(open.session.pendingActionCount).toBe(0);
  });
});

describe("resolve", () => {
  it("has nothing to do without a preview", async () => {
    const open = await play([resolve("apply"), say("ok")]);
    const [result] = results(open, "resolve");
    expect(texts(result)).toEqual(["No pending action to resolve. Nothing to apply or discard."]);
    expect(result?.isError).toBe(true);
  });

  it("takes previews in reverse order, a named one, or all; id and all together are refused", async () => {
    const run = async (decisions: ScriptStep[]) => {
      closures = ["A", "B", "C"].map((label) => ({
        label,
        sourceToolName: "t",
        work: { kind: "closure", apply: () => ({ content: [{ type: "text", text: `${label}!` }] }) },
      }));
      const three = calls(...["1", "2", "3"].map((id) => ({ name: "batch_rename_preview", args: {}, id })));
      const open: Open = await openSession({
        model: [three, ...decisions, say("ok")],
        session: { customTools: [stager((action) => open.session.stagePendingAction(action))] },
      });
      await open.session.prompt("go");
      return open;
    };
    const stacked = await run([resolve("apply"), resolve("apply", {}, "r2"), resolve("apply", {}, "r3")]);
    expect(results(stacked, "resolve").map((result) => texts(result)?.[0])).toEqual(["C!", "B!", "A!"]);
    expect(reminders(stacked)).toEqual([reminder.replace("</", "- pa_3 C (t)\n- pa_2 B (t)\n- pa_1 A (t)\n</")]);
    expect(texts(results(stacked, "resolve")[0])?.[1]).toBe("Still pending: pa_2 B; pa_1 A");
    const picked = await run([resolve("apply", { id: "pa_1" }), resolve("discard", { all: true }, "r2")]);
    expect(results(picked, "resolve").map((result) => texts(result)?.[0])).toEqual([
      "A!",
      "pa_3 discarded: C\npa_2 discarded: B",
    ]);
    const both = await run([resolve("apply", { id: "pa_1", all: true }), resolve("discard", { all: true }, "r2")]);
    expect(texts(results(both, "resolve")[0])).toEqual(["Use either id or all, not both."]);
  });

  it("tries again after an apply that threw, with the reminder again", async () => {
    let attempts = 0;
    closures = [
      {
        label: "Batch rename: 2 files",
        sourceToolName: "batch_rename_preview",
        work: {
          kind: "closure",
          apply() {
            if (++attempts === 1) throw new Error("b.md is locked");
            return { content: [{ type: "text", text: "Renamed." }] };
          },
        },
      },
    ];
    const open: Open = await openSession({
      model: [call("batch_rename_preview", {}), resolve("apply"), resolve("apply", {}, "r2"), say("ok")],
      session: { customTools: [stager((action) => open.session.stagePendingAction(action))] },
    });
    await open.session.prompt("go");
    expect(results(open, "resolve").map(texts)).toEqual([["Apply failed: b.md is locked"], ["Renamed."]]);
    expect(reminders(open)).toHaveLength(2);
    expect(forced(open)).toEqual([undefined, named, named, undefined]);
    expect(attempts).toBe(2);
  });

  it("asks the standing handler only when nothing is pending, and again and again", async () => {
    const open: Open = await openSession({
      files,
      model: [preview, resolve("discard"), resolve("apply", {}, "r2"), resolve("apply", {}, "r3"), say("ok")],
    });
    open.session.setStandingResolveHandler({
      label: "Plan",
      sourceToolName: "plan",
      apply: async () => ({ content: [{ type: "text", text: "standing" }] }),
    });
    await open.session.prompt("go");
    expect(results(open, "resolve").map((result) => texts(result)?.[0])).toEqual([
      "Discarded: AST Edit: 3 replacements in 2 files. Reason: names agreed",
      "standing",
      "standing",
    ]);
  });
});

it("all of nothing is nothing: the standing handler is not asked", async () => {
  const open: Open = await openSession({ files, model: [resolve("apply", { all: true }), say("ok")] });
  const apply = vi.fn();
  open.session.setStandingResolveHandler({ label: "Plan", sourceToolName: "plan", apply });
  await open.session.prompt("go");
  const [result] = results(open, "resolve");
  expect(texts(result)).toEqual(["No pending action to resolve. Nothing to apply or discard."]);
  expect(result?.isError).toBe(true);
  expect(apply).not.toHaveBeenCalled();
});

describe("a model that cannot be forced", () => {
  const withCompat = (compat: NonNullable<ProviderModel["compat"]>): Partial<OpenSessionOptions> => ({
    session: { model: { ...scriptedProviderModel, compat } },
  });

  it("by name gets only the tool and has to use it", async () => {
    const open = await play([preview, resolve("apply"), say("ok")], withCompat({ supportsNamedToolChoice: false }));
    expect(forced(open)).toEqual([undefined, "required", undefined]);
    expect(open.model.requests[1]?.context.tools.map(({ name }) => name)).toEqual(["resolve"]);
    expect(open.workspace.files).toEqual(applied);
  });

  it("at all is reminded, and its preview can be applied all the same", async () => {
    const open = await play([preview, resolve("apply"), say("ok")], withCompat({ supportsToolChoice: false }));
    expect(forced(open)).toEqual([undefined, undefined, undefined]);
    expect(reminders(open)).toHaveLength(1);
    expect(open.workspace.files).toEqual(applied);
  });

  it("as its service turns out, is not asked that way again", async () => {
    const refused = fail("tool_choice is not supported", { failure: { kind: "invalid_request", status: 400 } });
    const open = await play([preview, refused, resolve("apply"), say("ok")]);
    expect(open.session.pendingActionCount).toBe(1);
    await open.session.prompt("again");
    expect(forced(open)).toEqual([undefined, named, undefined, undefined]);
    expect(open.workspace.files).toEqual(applied);
  });
});

describe("how hard the model is pressed", () => {
  it("`remind` forces only after a turn that did not decide", async () => {
    const look = call("read", { path: "src/a.ts" }, "read_1");
    const open = await play([preview, look, resolve("apply"), say("ok")], {
      session: { settings: withSettings({ "resolve.forcing": "remind" }) },
    });
    expect(forced(open)).toEqual([undefined, undefined, named, undefined]);
    expect(open.workspace.files).toEqual(applied);
  });

  it("`off` says nothing: the host decides, and the model is told with its next request", async () => {
    const open = await play([preview, say("Waiting."), say("Good.")], {
      session: { settings: withSettings({ "resolve.forcing": "off" }) },
    });
    expect([forced(open), reminders(open)]).toEqual([[undefined, undefined], []]);
    const decided = await open.session.resolvePendingAction({ action: "apply", reason: "looks right", by: "host" });
    expect(decided.text).toBe("Applied 3 replacements in 2 files.");
    expect(open.workspace.files).toEqual(applied);
    await open.session.prompt("go on");
    const told = open.model.requests.at(-1)?.context.messages.map(({ content }) => JSON.stringify(content)) ?? [];
    expect(told.filter((text) => text.includes("was applied by the host: Applied 3"))).toHaveLength(1);
  });

  it("goes quiet about a preview that is ignored again and again", async () => {
    const open = await play([preview, ...Array.from({ length: 8 }, () => say("no"))]);
    for (let turn = 0; turn < 7; turn++) await open.session.prompt("and?");
    expect(forced(open).filter((choice) => choice !== undefined)).toHaveLength(5);
    expect(open.session.pendingActionCount).toBe(1);
  });
});

describe("a host", () => {
  it("sees diffs and decides about a part; the model hears the truth", async () => {
    const long = Array.from({ length: 30 }, (_, index) => (index % 20 === 0 ? `old(${index});` : `line${index};`));
    const open = await play([preview, say("Waiting."), say("ok")], {
      files: { "src/a.ts": `${long.join("\n")}\n` },
      session: { settings: withSettings({ "resolve.forcing": "off" }) },
    });
    const [action] = await open.session.getPendingActions({ diff: true });
    expect(action?.files?.[0]).toMatchObject({ path: "src/a.ts", kind: "modify", added: 2, removed: 2, hunks: 2 });
    expect(action?.files?.[0]?.diff).toContain("-old(0);\n+fresh(0);");
    const part = await open.session.resolvePendingAction({
      action: "apply",
      reason: "first only",
      by: "host",
      pendingId: "pa_1",
      hunks: { "src/a.ts": [1] },
    });
    expect(part.text).toBe("Applied 1 of 2 hunks in 1 of 1 files (src/a.ts).");
    expect(part.details).toMatchObject({ partial: true, settled: [{ path: "src/a.ts", hunks: [1] }] });
    expect(open.workspace.files["src/a.ts"]).toBe(`${long.with(0, "fresh(0);").join("\n")}\n`);
    expect(open.session.pendingActionCount).toBe(1);
    await open.session.resolvePendingAction({ action: "apply", reason: "rest", by: "host" });
    expect(open.workspace.files["src/a.ts"]).toBe(`${long.with(0, "fresh(0);").with(20, "fresh(20);").join("\n")}\n`);
    await expect(
      open.session.resolvePendingAction({ action: "apply", reason: "", by: "host", pendingId: "pa_1" }),
    ).rejects.toThrow("Pending action pa_1 was already applied.");
    await expect(open.session.resolvePendingAction({ action: "apply", reason: "", by: "host" })).rejects.toThrow(
      "No pending action to resolve. Nothing to apply or discard.",
    );
  });

  it("undoes and redoes what was applied", async () => {
    const open = await play([preview, resolve("apply"), say("ok")]);
    const [change] = await open.session.getChanges();
    expect(change).toMatchObject({ label: "AST Edit: 3 replacements in 2 files", state: "applied", by: "model" });
    const staged = await open.session.undo();
    expect(staged.action).toMatchObject({ label: "Undo: AST Edit: 3 replacements in 2 files", sourceToolName: "undo" });
    expect(open.workspace.files).toEqual(applied);
    await open.session.resolvePendingAction({ action: "apply", reason: "back", by: "user" });
    expect(open.workspace.files).toEqual(files);
    await expect(open.session.undo()).rejects.toThrow("Nothing to undo.");
    expect((await open.session.getChanges()).map(({ state }) => state)).toEqual(["applied", "undone"]);
    const redone = await open.session.redo({ apply: { by: "user", reason: "after all" } });
    expect(redone.answer?.text).toBe("Redone: AST Edit: 3 replacements in 2 files.");
    expect(open.workspace.files).toEqual(applied);
    await expect(open.session.redo()).rejects.toThrow("Nothing to redo.");
    await expect(open.session.undo({ changeId: "ch_ffffffff" })).rejects.toThrow(
      "Change ch_ffffffff can no longer be undone.",
    );
  });
});

describe("with every change staged", () => {
  const staged = (more: object = {}) => ({ session: { settings: withSettings({ staging: "all" }), ...more } });
  const script = [
    call("write", { path: "new.txt", content: "one\n" }, "w1"),
    call("edit", { edits: [{ path: "new.txt", old_text: "one", new_text: "two" }] }, "e1"),
    call("read", { path: "new.txt" }, "r1"),
    call("bash", { command: "echo three > new.txt" }, "b1"),
    resolve("apply"),
    say("Staged."),
  ];

  it("the disk stays as it was, tools see what is staged, and the user decides", async () => {
    const open = await play(script, staged());
    expect(open.workspace.files).toEqual(files);
    expect(texts(results(open, "write")[0])).toEqual(["Staged as pa_1 – not written yet: new.txt"]);
    expect(texts(results(open, "edit")[0])).toEqual(["Staged as pa_2 – not written yet: new.txt"]);
    expect(texts(results(open, "read")[0])).toEqual(["two"]);
    expect(texts(results(open, "bash")[0])).toEqual([
      "Refused: commands bypass staging. Use --allow-exec to permit them. Staging commands is not possible here: The host provides what this session's commands run with.",
    ]);
    expect(texts(results(open, "resolve")[0])).toEqual(["Staged for review: the user decides."]);
    expect(forced(open).every((choice) => choice === undefined)).toBe(true);
    const { text } = await open.session.resolvePendingAction({
      action: "apply",
      reason: "ok",
      by: "user",
      pendingId: "pa_2",
      withDeps: true,
    });
    expect(text).toBe("Wrote new.txt.\nApplied with it: pa_1 Write: new.txt");
    expect(open.workspace.files).toEqual({ ...files, "new.txt": "two\n" });
    expect(open.session.pendingActionCount).toBe(0);
  });

  it("discarding the lower one takes the upper one along", async () => {
    const open = await play(script, staged());
    const decision = { action: "discard", reason: "no", by: "user", pendingId: "pa_1" } as const;
    expect((await open.session.resolvePendingAction(decision)).text).toBe(
      "Discarded: Write: new.txt. Reason: no\nDiscarded with it: pa_2 Edit: new.txt",
    );
    expect(open.session.pendingActionCount).toBe(0);
  });

  it("searches and rewrites see it too", async () => {
    const open = await play(
      [
        call("write", { path: "src/c.ts", content: "old(7);\n" }, "w1"),
        call("grep", { pattern: "old\\(7" }, "g1"),
        call("find", { pattern: "**/c.ts" }, "f1"),
        call("ls", { path: "src" }, "l1"),
        call("ast_edit", { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: ["src"] }, "a1"),
        say("ok"),
      ],
      staged(),
    );
    expect(texts(results(open, "grep")[0])?.[0]).toContain("1:old(7);");
    expect(texts(results(open, "find")[0])?.[0]).toContain("src/c.ts");
    expect(texts(results(open, "ls")[0])?.[0]).toContain("c.ts");
    expect(results(open, "ast_edit")[0]?.details).toMatchObject({ totalReplacements: 4, pendingId: "pa_2" });
    const decided = await open.session.resolvePendingAction({ action: "apply", reason: "", by: "user", all: true });
    const applies = ["pa_2", "pa_1"].map((id) => ({ id, outcome: "applied" }));
    expect(decided.details).toMatchObject({ results: applies });
    expect(open.workspace.files).toEqual({ ...applied, "src/c.ts": "fresh(7);\n" });
  });

  it("a direct write can be undone where nothing is staged", async () => {
    const open = await play([call("write", { path: "src/a.ts", content: "other;\n" }, "w1"), say("ok")]);
    expect(open.workspace.files["src/a.ts"]).toBe("other;\n");
    const { answer } = await open.session.undo({ apply: { by: "user", reason: "no" } });
    expect(answer?.text).toBe("Undone: Write: src/a.ts.");
    expect(open.workspace.files).toEqual(files);
  });

  it("an edit that was not written leaves nothing to undo", async () => {
    const open: Open = await openSession({
      files: { b: "1" },
      model: [call("edit", { edits: [{ path: "b", old_text: "1", new_text: "2" }] }, "e1"), say("ok")],
    });
    open.workspace.writeFile = () => Promise.reject(new Error("No space left."));
    await open.session.prompt("go");
    expect(open.workspace.files).toEqual({ b: "1" });
    expect(await open.session.getChanges()).toEqual([]);
  });
});
