import { describe, expect, it, vi } from "vitest";
import { GalleyError } from "../../base/errors.js";
import { withoutSession } from "../../plans/change-writer.js";
import { type Plan, stampOf } from "../../plans/plan.js";
import type { NewAction } from "../../plans/stored-action.js";
import type { ToolResult } from "../../protocol/events.js";
import { manualClock } from "../../testing/manual-clock.js";
import { PendingActionStore, type PendingChange } from "../store/pending-action-store.js";
import { decideList, decideOne, decideSome } from "./decided.test-kit.js";
import type { DecideContext, Decision } from "./decision.js";
import { missingText } from "./words.js";

const text = (value: string, details?: unknown): ToolResult => ({
  content: [{ type: "text", text: value }],
  ...(details === undefined ? {} : { details }),
});
const texts = ({ content }: ToolResult) => content.map((block) => (block.type === "text" ? block.text : "[image]"));

function setUp(settings: Partial<ReturnType<DecideContext["settings"]>> = {}, order: "lifo" | "fifo" = "lifo") {
  const clock = manualClock();
  const store = new PendingActionStore({ clock, order: () => order });
  const changes: PendingChange[] = [];
  store.on("change", (change) => changes.push(change));
  const applyPlan = vi.fn<DecideContext["changes"]["apply"]>(async () => ({ changeId: "ch_1" }));
  const context: DecideContext = {
    store,
    settings: () => ({ maxAttempts: 5, decider: "model", requireUser: false, ...settings }),
    changes: { apply: applyPlan },
    session: withoutSession,
  };
  return { clock, store, context, applyPlan, changes };
}

function closure(label: string, apply = vi.fn(() => text(`${label} done`)), reject?: () => undefined): NewAction {
  return { label, sourceToolName: "tool", work: { kind: "closure", apply, ...(reject ? { reject } : {}) } };
}

function plan(path: string, before: string, after: string): Plan {
  const bytes = Buffer.from(before);
  return {
    changes: [
      {
        kind: "modify",
        path: `/p/${path}`,
        stamp: stampOf(path, { bytes, mode: 0o644 }),
        before: bytes,
        after: Buffer.from(after),
      },
    ],
    applied: { text: `Wrote ${path}.`, details: { applied: true } },
  };
}

function both(before: string, after: string): Plan {
  const changes = ["a.ts", "b.ts"].flatMap((path) => plan(path, before, after).changes);
  return { ...plan("a.ts", before, after), changes };
}

function planned(label: string, work: Plan, more: Partial<NewAction> = {}): NewAction {
  return { label, sourceToolName: "ast_edit", work: { kind: "plan", plan: work }, ...more };
}

const apply: Decision = { action: "apply", reason: "looks right", by: "model" };
const together: Decision = { ...apply, withDeps: true };
const discard: Decision = { action: "discard", reason: "wrong file", by: "model" };

describe("settling one action", () => {
  it("applies a closure with reason, extra and who decided, and keeps its blocks and details", async () => {
    const { store, context, changes } = setUp();
    const work = vi.fn(() => text("renamed", { files: 2 }));
    const id = store.push({ ...closure("Batch rename: 2 files", work), details: { from: "a" } });
    const { kind: outcome, result } = await decideOne(context, id, { ...apply, extra: { force: true } });
    expect(outcome).toBe("applied");
    expect(work).toHaveBeenCalledWith("looks right", { force: true }, { id, by: "model", signal: undefined });
    expect(result).toEqual({
      content: [{ type: "text", text: "renamed" }],
      details: {
        action: "apply",
        reason: "looks right",
        sourceToolName: "tool",
        label: "Batch rename: 2 files",
        id: "pa_1",
        remaining: 0,
        extra: { force: true },
        sourceDetails: { from: "a" },
        sourceResultDetails: { files: 2 },
      },
    });
    expect(changes.map((change) => change.type)).toEqual(["pending_action_added", "pending_action_resolved"]);
    expect(changes[1]).toMatchObject({ id, outcome: "applied", by: "model", reason: "looks right" });
  });

  it("takes a plain text of a callback for its result", async () => {
    const { store, context } = setUp();
    const said = (() => "plain text") as never;
    const applied = await decideOne(context, store.push(closure("A", said)), apply);
    expect(texts(applied.result)).toEqual(["plain text"]);
    const discarded = await decideOne(context, store.push(closure("B", undefined, said)), discard);
    expect(texts(discarded.result)).toEqual(["plain text"]);
    const silent = await decideOne(context, store.push(closure("C", (() => undefined) as never)), apply);
    expect(texts(silent.result)).toEqual([]);
  });

  it.each([
    [{ files: 2 }, { files: 2, changeId: "ch_1", applied: true }],
    ["two files", { details: "two files", changeId: "ch_1", applied: true }],
    [[1, 2], { details: [1, 2], changeId: "ch_1", applied: true }],
    [undefined, { changeId: "ch_1", applied: true }],
  ])("keeps what follows a plan says in its details: %j", async (details, kept) => {
    const { store, context } = setUp();
    const work = { kind: "plan" as const, plan: plan("a.ts", "0", "1"), afterApply: () => text("own", details) };
    const { result } = await decideOne(context, store.push({ label: "P", sourceToolName: "t", work }), apply);
    expect(texts(result)).toEqual(["own"]);
    expect(result.details).toMatchObject({ sourceResultDetails: kept });
    expect(Object.keys((result.details as { sourceResultDetails: object }).sourceResultDetails)).toHaveLength(
      Object.keys(kept).length,
    );
  });

  it("discards with its own words, or with the callback's", async () => {
    const { store, context } = setUp();
    const plain = await decideOne(context, store.push(closure("A")), discard);
    expect(texts(plain.result)).toEqual(["Discarded: A. Reason: wrong file"]);
    expect(plain.result.details).not.toHaveProperty("sourceResultDetails");
    const silent = await decideOne(context, store.push(closure("B", undefined, () => undefined)), discard);
    expect(texts(silent.result)).toEqual(["Discarded: B. Reason: wrong file"]);
    const work = { kind: "closure", apply: () => text(""), reject: () => text("cleaned up") } as const;
    const spoken = await decideOne(context, store.push({ label: "C", sourceToolName: "t", work }), discard);
    expect(texts(spoken.result)).toEqual(["cleaned up"]);
  });

  it("ends a discard whose clean-up throws, and says so", async () => {
    const { store, context } = setUp();
    const failing = () => {
      throw new Error("disk gone");
    };
    const { result } = await decideOne(context, store.push(closure("A", undefined, failing)), discard);
    expect(texts(result)).toEqual(["Discarded: A, but cleanup failed: disk gone"]);
    expect(result.isError).toBe(true);
    expect(store.hasPending).toBe(false);
  });

  it("keeps an action whose apply throws, up to a limit", async () => {
    const { store, context, changes } = setUp({ maxAttempts: 2 });
    const work = vi.fn(() => {
      throw new Error("b.md is locked");
    });
    const id = store.push(closure("A", work));
    const first = await decideOne(context, id, apply);
    expect(texts(first.result)).toEqual(["Apply failed: b.md is locked"]);
    expect(first.result).toMatchObject({
      isError: true,
      details: { error: "Apply failed: b.md is locked", attempt: 1 },
    });
    expect(store.peek()).toMatchObject({ id, status: "pending", attempts: 1 });
    await decideOne(context, id, apply);
    const third = await decideOne(context, id, apply);
    expect(texts(third.result)).toEqual([
      "Pending action pa_1 failed 2 times; discard it and preview again. Last error: Apply failed: b.md is locked",
    ]);
    expect(work).toHaveBeenCalledTimes(2);
    expect(changes.filter((change) => change.type === "pending_action_resolved")).toMatchObject([
      { outcome: "failed" },
      { outcome: "failed" },
    ]);
    expect((await decideOne(context, id, discard)).kind).toBe("discarded");
  });

  it("passes on the words of an error that was made for the model", async () => {
    const { store, context } = setUp();
    const own = () => {
      throw Object.assign(new Error("Ask for the key first."), { name: "ToolError" });
    };
    const { result } = await decideOne(context, store.push(closure("A", own as never)), apply);
    expect(texts(result)).toEqual(["Ask for the key first."]);
  });

  it("consumes an action whose callback ended with an error result", async () => {
    const { store, context } = setUp();
    const work = vi.fn(() => ({ ...text("half done"), isError: true }));
    const { result } = await decideOne(context, store.push(closure("A", work)), apply);
    expect(result.isError).toBe(true);
    expect(store.hasPending).toBe(false);
  });

  it("lists what is still pending in a block of its own, five at most", async () => {
    const { store, context } = setUp();
    for (let index = 1; index <= 8; index++) store.push(closure(`L${index}`));
    const { result } = await decideOne(context, "pa_8", apply);
    expect(texts(result)).toEqual(["L8 done", "Still pending: pa_7 L7; pa_6 L6; pa_5 L5; pa_4 L4; pa_3 L3; +2 more"]);
    expect(result.details).toMatchObject({ remaining: 7 });
  });

  it("lets two decisions at once work on it only once", async () => {
    const { store, context } = setUp();
    let finish = () => {};
    const work = vi.fn(
      () =>
        new Promise<ToolResult>((resolve) => {
          finish = () => resolve(text("once"));
        }),
    );
    const id = store.push(closure("A", work as never));
    const first = decideOne(context, id, apply);
    await expect(decideOne(context, id, apply)).rejects.toThrow("Pending action pa_1 is being applied.");
    expect(store.peek()).toBeUndefined();
    finish();
    await first;
    await expect(decideOne(context, id, apply)).rejects.toThrow("Pending action pa_1 was already applied.");
    expect(work).toHaveBeenCalledTimes(1);
  });

  it("survives callbacks that return rubbish", async () => {
    const { store, context } = setUp();
    for (const rubbish of [{}, { content: "plain" }, { content: undefined }] as never[]) {
      const { kind: outcome } = await decideOne(context, store.push(closure("A", (() => rubbish) as never)), apply);
      expect(outcome).toBe("applied");
    }
  });
});

describe("settling a plan", () => {
  it("hands over the exact bytes and answers with the plan's own text", async () => {
    const { store, context, applyPlan } = setUp();
    const id = store.push(planned("AST Edit", plan("a.ts", "old()", "new()")));
    const { result } = await decideOne(context, id, apply);
    expect(applyPlan.mock.calls[0]?.[0].map(({ after }) => Buffer.from(after).toString())).toEqual(["new()"]);
    expect(applyPlan.mock.calls[0]?.[1]).toEqual({
      pendingId: id,
      label: "AST Edit",
      sourceToolName: "ast_edit",
      by: "model",
      reason: "looks right",
    });
    expect(texts(result)).toEqual(["Wrote a.ts."]);
    expect(result.details).toMatchObject({ sourceResultDetails: { applied: true, changeId: "ch_1" } });
  });

  it("calls the tool's afterApply or reject, and stays applied when afterApply fails", async () => {
    const { store, context } = setUp();
    const stage = (more: object) =>
      store.push({ ...planned("P", plan("a", "1", "2")), work: { kind: "plan", plan: plan("a", "1", "2"), ...more } });
    const first = await decideOne(context, stage({ afterApply: (reason: string) => text(reason, { n: 1 }) }), apply);
    expect(first.kind).toBe("applied");
    expect(texts(first.result)[0]).toBe("looks right");
    expect(first.result.details).toMatchObject({ sourceResultDetails: { n: 1, changeId: "ch_1" } });
    const failing = () => Promise.reject(new Error("no post"));
    const second = await decideOne(context, stage({ afterApply: failing }), apply);
    expect([second.kind, texts(second.result).slice(0, 2)]).toEqual([
      "applied",
      ["Wrote a.", "Applied, but the follow-up step failed: no post"],
    ]);
    const third = await decideOne(context, stage({ reject: () => text("Left alone.") }), discard);
    expect([third.kind, texts(third.result)[0]]).toEqual(["discarded", "Left alone."]);
  });

  it("keeps a stale plan pending, names the files, and applies it once they are back", async () => {
    const { store, context, applyPlan, changes } = setUp();
    const id = store.push(planned("AST Edit", plan("a.ts", "old()", "new()")));
    applyPlan.mockRejectedValueOnce(new GalleyError("stale_preview", "", { details: { files: ["a.ts"], total: 2 } }));
    const { kind: outcome, result } = await decideOne(context, id, apply);
    expect(outcome).toBe("stale");
    expect(texts(result)).toEqual([
      "Preview is stale: 1 of 2 files changed since the preview (a.ts). Nothing was written. Run ast_edit again or discard.",
    ]);
    expect(changes.at(-2)).toMatchObject({
      type: "pending_action_changed",
      status: "stale",
      files: [{ path: "a.ts" }],
    });
    expect(store.peek()).toMatchObject({ status: "stale", attempts: 0 });
    expect((await decideOne(context, id, apply)).kind).toBe("applied");
  });

  it("makes a stale plan anew when asked, under the same id, and writes nothing", async () => {
    const { store, context, applyPlan } = setUp();
    const refresh = vi.fn(async () => ({
      plan: plan("a.ts", "older()", "newer()"),
      label: "AST Edit: again",
      result: text("the new preview", { totalReplacements: 1 }),
    }));
    const id = store.push({
      label: "AST Edit",
      sourceToolName: "ast_edit",
      work: { kind: "plan", plan: plan("a.ts", "old()", "new()"), refresh },
    });
    applyPlan.mockRejectedValueOnce(new GalleyError("stale_preview", "", { details: { files: ["a.ts"] } }));
    const { result } = await decideOne(context, id, { ...apply, extra: { refresh: true } });
    expect(result).toEqual(text("the new preview", { totalReplacements: 1, refreshed: true }));
    expect(store.peek()).toMatchObject({ id, label: "AST Edit: again", status: "pending" });
    await decideOne(context, id, apply);
    expect(Buffer.from(applyPlan.mock.calls[1]?.[0][0]?.after ?? []).toString()).toBe("newer()");
    // A search that fails leaves the old plan.
    const again = store.push({
      label: "AST Edit",
      sourceToolName: "ast_edit",
      work: {
        kind: "plan",
        plan: plan("a.ts", "old()", "new()"),
        refresh: () => Promise.reject(new Error("no match")),
      },
    });
    applyPlan.mockRejectedValueOnce(new GalleyError("stale_preview", "", { details: { files: ["a.ts"] } }));
    const failed = await decideOne(context, again, { ...apply, extra: { refresh: true } });
    expect(texts(failed.result)).toEqual(["Apply failed: no match"]);
    expect(store.get(again)?.action.status).toBe("pending");
  });

  it("stops at what was made anew, and says so", async () => {
    const { store, context, applyPlan } = setUp({}, "fifo");
    const refresh = async () => ({ plan: plan("a.ts", "older()", "newer()"), label: "again", result: text("new") });
    store.push({
      label: "AST Edit",
      sourceToolName: "ast_edit",
      work: { kind: "plan", plan: plan("a.ts", "old()", "new()"), refresh },
    });
    store.push(planned("write b", plan("b.ts", "0", "1")));
    applyPlan.mockRejectedValueOnce(new GalleyError("stale_preview", "", { details: { files: ["a.ts"] } }));
    const result = await decideList(context, ["pa_1", "pa_2"], { ...apply, extra: { refresh: true } });
    expect(texts(result)).toEqual(["pa_1 failed: AST Edit – A new preview was made. Nothing was written."]);
    expect([result.isError, store.size, applyPlan.mock.calls.length]).toEqual([true, 2, 1]);
  });

  it("tells of a part what its change is called and which names kept the old bytes, and what it takes back", async () => {
    const { store, context, applyPlan } = setUp();
    const changes = [plan("a.ts", "0", "1"), plan("b.ts", "0", "1")].flatMap((each) => each.changes);
    const id = store.push(planned("Undo: both", { ...plan("a.ts", "0", "1"), changes, undoes: ["7f"] }));
    applyPlan.mockResolvedValueOnce({ changeId: "ch_9", hardlinkBroken: ["a.ts"] });
    const part = await decideSome(context, id, { decision: apply, subset: { files: ["a.ts"] } });
    expect(part.result.details).toMatchObject({
      partial: true,
      sourceResultDetails: { changeId: "ch_9", hardlinkBroken: ["a.ts"] },
    });
    expect((await decideOne(context, id, apply)).kind).toBe("applied");
    expect(applyPlan.mock.calls.map(([, { isPart, undoes }]) => [isPart, undoes])).toEqual([
      [true, ["7f"]],
      [undefined, ["7f"]],
    ]);
    const other = store.push(planned("both", { ...plan("a.ts", "0", "1"), changes }));
    const dropped = await decideSome(context, other, { decision: discard, subset: { files: ["a.ts"] } });
    expect(dropped.result.details).not.toHaveProperty("sourceResultDetails");
  });

  it("does not try a part of what failed too often", async () => {
    const { store, context, applyPlan } = setUp({ maxAttempts: 1 });
    const two = {
      ...plan("a.ts", "0", "1"),
      changes: [plan("a.ts", "0", "1"), plan("b.ts", "0", "1")].flatMap((each) => each.changes),
    };
    const id = store.push(planned("both", two));
    applyPlan.mockRejectedValueOnce(new GalleyError("apply_failed", "No space."));
    const part = (decision: Decision) => decideSome(context, id, { decision, subset: { files: ["a.ts"] } });
    expect(texts((await part(apply)).result)).toEqual(["No space."]);
    expect(texts((await part(apply)).result)).toEqual([
      "Pending action pa_1 failed 1 times; discard it and preview again. Last error: No space.",
    ]);
    expect(applyPlan).toHaveBeenCalledTimes(1);
    expect((await part(discard)).result.isError).toBeUndefined();
  });

  it.each([
    [[null, { type: "text", text: "did it" }, 3, {}, { type: "text" }, { type: "image", data: 1 }], ["did it"]],
    [
      ["a word", [], { type: "image", data: "AA==", mimeType: "image/png" }],
      ["a word", "[image]"],
    ],
  ])("takes of what a callback says only what can be told: %j", async (content, told) => {
    const { store, context } = setUp();
    const id = store.push(
      closure(
        "A",
        vi.fn(() => ({ content }) as never),
      ),
    );
    const { kind: outcome, result } = await decideOne(context, id, apply);
    expect([outcome, texts(result)]).toEqual(["applied", told]);
  });

  it("writes nothing of an action that was not named, and says what would be written with it", async () => {
    const { store, context, applyPlan } = setUp();
    const low = store.push(planned("write both", both("0", "1")));
    const top = store.push(planned("edit a", plan("a.ts", "1", "2"), { dependsOn: [low] }));
    const refusal = {
      code: "depends",
      message:
        "Pending action pa_2 rests on pa_1 for a.ts. Nothing was written. To apply them together, name pa_1 too or use withDeps.",
      details: { actions: [{ id: "pa_1", label: "write both", files: ["a.ts"] }] },
    };
    await expect(decideOne(context, top, apply)).rejects.toMatchObject(refusal);
    await expect(decideList(context, [top], apply)).rejects.toMatchObject(refusal);
    expect(applyPlan).not.toHaveBeenCalled();
    expect(store.list().map(({ action }) => [action.status, action.attempts])).toEqual([
      ["pending", 0],
      ["pending", 0],
    ]);
    expect(texts(await decideList(context, [top, low], apply))).toEqual([
      "pa_2 applied: edit a\npa_1 applied: write both (1 hunk in 1 file)",
    ]);
  });

  it("takes of a lower plan only the files that are applied; the rest of it stays pending", async () => {
    const { store, context, applyPlan } = setUp();
    const low = store.push(planned("write both", both("0", "1")));
    const top = store.push(planned("edit a", plan("a.ts", "1", "2"), { dependsOn: [low] }));
    const { result } = await decideOne(context, top, together);
    expect(texts(result)[1]).toBe("Applied with it: pa_1 write both (a.ts)");
    expect(applyPlan.mock.calls[0]?.[0].map(({ path }) => path)).toEqual(["/p/a.ts"]);
    expect(applyPlan.mock.calls[0]?.[1]).toMatchObject({
      pendingId: "pa_2",
      parts: [{ id: "pa_1", revision: 2, reason: "Needed by pa_2.", settled: [{ path: "a.ts" }] }],
    });
    expect(store.list().map(({ action }) => action)).toMatchObject([
      { id: "pa_1", label: "write both (1 hunk in 1 file)", status: "pending", revision: 2, files: [{ path: "b.ts" }] },
    ]);
  });

  it("applies what a plan was staged on in one change set, and discards what was staged on it", async () => {
    const { store, context, applyPlan } = setUp();
    const low = store.push(planned("write a", plan("a.ts", "0", "1")));
    const top = store.push(planned("edit a", plan("a.ts", "1", "2"), { dependsOn: [low] }));
    const { result } = await decideOne(context, top, together);
    const [change] = applyPlan.mock.calls[0]?.[0] ?? [];
    expect([change?.before, change?.after].map((bytes) => Buffer.from(bytes ?? []).toString())).toEqual(["0", "2"]);
    expect(texts(result)).toEqual(["Wrote a.ts.", "Applied with it: pa_1 write a"]);
    expect(store.hasPending).toBe(false);

    const under = store.push(planned("write b", plan("b.ts", "0", "1")));
    const over = store.push(planned("edit b", plan("b.ts", "1", "2"), { dependsOn: [under] }));
    const dropped = await decideOne(context, under, discard);
    expect(texts(dropped.result)).toEqual(["Discarded: write b. Reason: wrong file", "Discarded with it: pa_4 edit b"]);
    expect(store.endOf(over)).toBe("discarded");
  });

  it("never writes over a lower plan: one that was not made for what it leaves is stale", async () => {
    const { store, context, applyPlan } = setUp();
    const low = store.push(planned("write a", plan("a.ts", "0", "1")));
    const top = store.push(planned("edit a", plan("a.ts", "0", "2"), { dependsOn: [low] }));
    const { kind: outcome, result } = await decideOne(context, top, together);
    expect(outcome).toBe("stale");
    expect(texts(result)).toEqual([
      "Preview is stale: 1 of 1 files changed since the preview (a.ts). Nothing was written. Run ast_edit again or discard.",
    ]);
    expect(applyPlan).not.toHaveBeenCalled();
    expect(store.list().map(({ action }) => [action.id, action.status])).toEqual([
      [top, "stale"],
      [low, "pending"],
    ]);
  });

  it("refuses at once while a lower plan is being applied", async () => {
    const { store, context, applyPlan } = setUp();
    const low = store.push(planned("write a", plan("a.ts", "0", "1")));
    const top = store.push(planned("edit a", plan("a.ts", "1", "2"), { dependsOn: [low] }));
    store.take(low);
    const { result } = await decideOne(context, top, together);
    expect(texts(result)).toEqual(["Pending action pa_1 is being applied."]);
    expect(applyPlan).not.toHaveBeenCalled();
    expect(store.get(low)?.action.status).toBe("applying");
  });

  it("leaves what it rests on pending when it fails", async () => {
    const { store, context, applyPlan } = setUp();
    const low = store.push(planned("write a", plan("a.ts", "0", "1")));
    const top = store.push(planned("edit a", plan("a.ts", "1", "2"), { dependsOn: [low] }));
    applyPlan.mockRejectedValueOnce(
      new GalleyError("apply_failed", "Apply failed: a.ts: ENOSPC. All files were restored."),
    );
    const { result } = await decideOne(context, top, together);
    expect(texts(result)).toEqual(["Apply failed: a.ts: ENOSPC. All files were restored."]);
    expect(store.list().map(({ action }) => [action.id, action.status, action.attempts])).toEqual([
      [top, "pending", 1],
      [low, "pending", 0],
    ]);
  });
});

describe("who decides", () => {
  it("leaves what is staged for review to the user and the host; the model may discard", async () => {
    const { store, context } = setUp();
    const id = store.push(planned("write a", plan("a.ts", "0", "1"), { isForReview: true }));
    const { kind: outcome, result } = await decideOne(context, id, apply);
    expect([outcome, texts(result)]).toEqual(["refused", ["Staged for review: the user decides."]]);
    expect(store.peek()).toMatchObject({ status: "pending", attempts: 0 });
    expect((await decideOne(context, id, { ...apply, by: "host" })).kind).toBe("applied");
    const other = store.push(planned("write a", plan("a.ts", "0", "1"), { isForReview: true }));
    expect((await decideOne(context, other, discard)).kind).toBe("discarded");
  });

  it.each([
    ["agrees", async () => true, "applied"],
    ["declines", async () => false, "discarded"],
    ["breaks", async () => Promise.reject(new Error("lost")), "discarded"],
    ["is not there", async () => undefined, "applied"],
  ])("asks the person too with `both`, who %s", async (_, confirm, outcome) => {
    const { store, context } = setUp({ decider: "both" });
    const settled = await decideOne({ ...context, confirm }, store.push(closure("A")), apply);
    expect(settled.kind).toBe(outcome);
    if (outcome === "discarded")
      expect(texts(settled.result)).toEqual(["Discarded: A. Reason: User declined: looks right"]);
  });

  it("is a discard of the user's when the person declines", async () => {
    const { store, context, changes } = setUp({ decider: "both" });
    await decideOne({ ...context, confirm: async () => false }, store.push(closure("A")), apply);
    expect(changes.at(-1)).toMatchObject({ outcome: "discarded", by: "user", reason: "User declined: looks right" });
  });

  it("refuses and stays pending where a user is required and cannot be asked", async () => {
    const { store, context } = setUp({ decider: "both", requireUser: true });
    const work = vi.fn(() => text("done"));
    const id = store.push(closure("A", work));
    for (const confirm of [undefined, async () => undefined]) {
      const { kind: outcome, result } = await decideOne({ ...context, ...(confirm ? { confirm } : {}) }, id, apply);
      expect(outcome).toBe("refused");
      expect(texts(result)).toEqual([
        "The user has to agree, but cannot be asked here. Nothing was written; the action stays pending.",
      ]);
      expect(store.get(id)?.action).toMatchObject({ status: "pending", attempts: 0 });
    }
    expect(work).not.toHaveBeenCalled();
    expect((await decideOne(context, id, discard)).kind).toBe("discarded");
  });

  it("stays as it was when the run is stopped while the person is asked", async () => {
    const { store, context } = setUp({ decider: "both" });
    const stop = new AbortController();
    const work = vi.fn(() => text("done"));
    const id = store.push(closure("A", work));
    const confirm = async () => {
      stop.abort();
      return false; // as a dialog ends that is taken away
    };
    const asked = decideOne({ ...context, confirm }, id, { ...apply, signal: stop.signal });
    await expect(asked).rejects.toMatchObject({ code: "aborted" });
    expect(store.get(id)?.action.status).toBe("pending");
    expect(work).not.toHaveBeenCalled();
  });
});

describe("settling all", () => {
  it("goes through them in order and stops an apply at the first failure", async () => {
    const { store, context } = setUp();
    store.push(closure("A"));
    store.push(
      closure("B", (() => {
        throw new Error("locked");
      }) as never),
    );
    store.push(closure("C"));
    const ids = store.list().map(({ action }) => action.id);
    const result = await decideList(context, ids, apply);
    expect(texts(result)).toEqual(["pa_3 applied: C\npa_2 failed: B – Apply failed: locked"]);
    expect(result).toMatchObject({ isError: true, details: { results: [{ id: "pa_3" }, { id: "pa_2" }] } });
    const rest = await decideList(
      context,
      store.list().map(({ action }) => action.id),
      discard,
    );
    expect(texts(rest)).toEqual(["pa_2 discarded: B\npa_1 discarded: A"]);
  });

  const results = ({ details }: ToolResult) =>
    (details as { results: { id: string; outcome: string }[] }).results.map(({ id, outcome }) => `${id} ${outcome}`);

  it("tells of what an apply took along, also where it was not asked for, and where the next one stops it", async () => {
    const { store, context, applyPlan } = setUp();
    store.push(planned("A", plan("a.ts", "0", "1")));
    store.push(planned("B", plan("b.ts", "0", "1")));
    store.push(planned("C", plan("a.ts", "1", "2"), { dependsOn: ["pa_1"] }));
    applyPlan.mockResolvedValueOnce({ changeId: "ch_1" }).mockRejectedValueOnce(new Error("locked"));
    const all = await decideList(context, ["pa_3", "pa_2", "pa_1"], apply);
    expect(texts(all)).toEqual(["pa_3 applied: C\npa_1 applied: A\npa_2 failed: B – Apply failed: locked"]);
    expect(results(all)).toEqual(["pa_3 applied", "pa_1 applied", "pa_2 failed"]);
    store.push(planned("D", plan("b.ts", "1", "2"), { dependsOn: ["pa_2"] }));
    expect(results(await decideList(context, ["pa_4"], together))).toEqual(["pa_4 applied", "pa_2 applied"]);
  });

  it("tells of what a discard took along", async () => {
    const { store, context } = setUp({}, "fifo");
    store.push(planned("A", plan("a.ts", "0", "1")));
    store.push(planned("B", plan("a.ts", "1", "2"), { dependsOn: ["pa_1"] }));
    const all = await decideList(context, ["pa_1", "pa_2"], discard);
    expect(texts(all)).toEqual(["pa_1 discarded: A\npa_2 discarded: B"]);
    expect(results(all)).toEqual(["pa_1 discarded", "pa_2 discarded"]);
  });
});

describe("settling all while the run is stopped", () => {
  it("tells what was settled before, and leaves the rest", async () => {
    const { store, context } = setUp({ decider: "both" });
    for (const label of ["A", "B"]) store.push(closure(label));
    const stop = new AbortController();
    let asked = 0;
    const confirm = async () => {
      if (++asked === 2) stop.abort();
      return asked === 1;
    };
    const ids = store.list().map(({ action }) => action.id);
    const result = await decideList({ ...context, confirm }, ids, { ...apply, signal: stop.signal });
    expect(texts(result)[0]).toMatch(/^pa_2 applied: B\npa_1 failed: A – /);
    expect(store.list().map(({ action }) => [action.id, action.status])).toEqual([["pa_1", "pending"]]);
  });
});

describe("the store", () => {
  it("is a stack with the four words, or a queue", () => {
    for (const [order, ids] of [
      ["lifo", ["pa_3", "pa_2", "pa_1"]],
      ["fifo", ["pa_1", "pa_2", "pa_3"]],
    ] as const) {
      const { store } = setUp({}, order);
      expect([store.hasPending, store.peek(), store.pop()]).toEqual([false, undefined, undefined]);
      for (const label of ["A", "B", "C"]) store.push(closure(label));
      expect([store.peek()?.id, store.pop()?.id, store.pop()?.id, store.pop()?.id, store.size]).toEqual([
        ids[0],
        ...ids,
        0,
      ]);
    }
  });

  it("ends an action when its time is up, and remembers how the last fifty ended", async () => {
    const { store, clock, changes } = setUp();
    const reject = vi.fn(() => undefined);
    const id = store.push({ ...closure("A", undefined, reject), expiresInMs: 60_000 });
    clock.advance(59_999);
    expect(store.hasPending).toBe(true);
    clock.advance(1);
    await vi.waitFor(() => expect(changes.at(-1)).toMatchObject({ outcome: "expired", by: "runtime" }));
    expect(reject).toHaveBeenCalledWith("Expired after 60s.", undefined, { id, by: "runtime" });
    expect(missingText(store, id)).toBe("Pending action pa_1 expired. Preview again.");
    for (let index = 0; index < 50; index++)
      store.remove(store.push(closure("B")), { outcome: "applied", by: "user", reason: "" });
    expect(missingText(store, id)).toBe('No pending action with id "pa_1". Pending: none.');
    expect(missingText(store, "pa_2")).toBe("Pending action pa_2 was already applied.");
  });

  it("never uses an id again, also after a restart", () => {
    const { store } = setUp();
    store.reserve("pa_7");
    store.reserve("elsewhere");
    expect(store.push(closure("A"))).toBe("pa_8");
  });

  it("keeps of a producer's details what JSON can say", () => {
    const { store } = setUp();
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    store.push({ ...closure("A"), details: { when: new Date(0), run: () => 1 } });
    store.push({ ...closure("B"), details: cycle });
    expect(store.list().map(({ action }) => action.details)).toEqual([undefined, { when: "1970-01-01T00:00:00.000Z" }]);
  });
});
