import { describe, expect, it, vi } from "vitest";
import { quiet } from "../../loop/run.test-kit.js";
import { type Plan, stampOf } from "../../plans/plan.js";
import type { NewAction } from "../../plans/stored-action.js";
import { manualClock } from "../../testing/manual-clock.js";
import { PendingActionStore, type PendingChange, type StoreOptions } from "./pending-action-store.js";

function setUp(options: Partial<StoreOptions> = {}) {
  const clock = manualClock();
  const store = new PendingActionStore({ clock, ...options });
  const told: PendingChange[] = [];
  store.on("change", (change) => told.push(change));
  return { clock, store, told, types: () => told.map(({ type }) => type) };
}

function closure(label: string, more: Partial<NewAction> = {}): NewAction {
  const work = { kind: "closure", apply: () => ({ content: [] }) } as const;
  return { label, sourceToolName: "tool", work, ...more };
}

function plan(path: string, after: string): Plan {
  const before = Buffer.from("old\n");
  const stamp = stampOf(path, { bytes: before, mode: 0o644 });
  const change = { kind: "modify", path: `/p/${path}`, stamp, before, after: Buffer.from(after) } as const;
  return { changes: [change], applied: { text: "Written." } };
}

const byModel = { by: "model", reason: "agreed" } as const;
const applied = { outcome: "applied", ...byModel } as const;

describe("what is staged", () => {
  it("has an id that counts, is announced, and stands there as hosts see it", () => {
    const { store, told, clock } = setUp();
    const work = { kind: "plan", plan: plan("a.ts", "new\n") } as const;
    expect(store.push({ ...closure("First", { work, toolCallId: "c1" }) })).toBe("pa_1");
    expect(store.push(closure("Second"))).toBe("pa_2");
    const action = {
      id: "pa_1",
      label: "First",
      sourceToolName: "tool",
      toolCallId: "c1",
      kind: "plan",
      files: [work.plan.changes[0]?.stamp],
      createdAt: clock.now(),
      status: "pending",
      revision: 1,
      attempts: 0,
    };
    expect(told[0]).toEqual({ type: "pending_action_added", action });
    expect(store.get("pa_1")?.action).toEqual(action);
    expect([store.size, store.hasPending]).toEqual([2, true]);
  });

  it("is resolved in reverse order, or in the order in which it came", () => {
    const ids = (order: "lifo" | "fifo") => {
      const { store } = setUp({ order: () => order });
      for (const label of ["A", "B", "C"]) store.push(closure(label));
      return store.list().map(({ action }) => action.label);
    };
    expect(ids("lifo")).toEqual(["C", "B", "A"]);
    expect(ids("fifo")).toEqual(["A", "B", "C"]);
  });

  it("has one line of bounded length for a name, and details that JSON can say", () => {
    const { store } = setUp();
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    store.push(closure(`two\nlines ${"x".repeat(500)}`, { details: { at: new Date(0) } }));
    store.push(closure(" \n", { details: cycle }));
    expect(store.get("pa_1")?.action.label).toBe(`two lines ${"x".repeat(190)}…`);
    expect(store.get("pa_1")?.action.details).toEqual({ at: "1970-01-01T00:00:00.000Z" });
    expect(store.get("pa_2")?.action.label).toBe("(unnamed)");
    expect(store.get("pa_2")?.action.details).toBeUndefined();
  });

  it("never takes the id of another: not one that is there, given out, restored or reserved", () => {
    const { store } = setUp();
    const early = store.nextId();
    expect(store.push(closure("B"))).toBe("pa_2");
    expect(store.push(closure("A", { id: early }))).toBe("pa_1");
    expect(() => store.push(closure("C", { id: "pa_2" }))).toThrow("Pending action pa_2 exists already.");
    const { work, isForReview, action } = store.get("pa_2") ?? expect.fail();
    store.restore({ work, isForReview, action: { ...action, id: "pa_7" } });
    expect(store.push(closure("D"))).toBe("pa_8");
    store.reserve("pa_20");
    store.reserve("anything");
    expect(store.push(closure("E"))).toBe("pa_21");
  });
});

describe("taking", () => {
  it("is one step: of two decisions one works, and the next action is another", () => {
    const { store } = setUp();
    store.push(closure("A"));
    store.push(closure("B"));
    expect(store.take("pa_2")?.action.status).toBe("applying");
    expect(store.take("pa_2")).toBeUndefined();
    expect(store.next()?.action.id).toBe("pa_1");
    store.putBack("pa_2");
    expect(store.take("pa_2")).toBeDefined();
    expect(store.take("pa_9")).toBeUndefined();
  });

  it("and releasing counts an attempt that failed, and tells which files are stale", () => {
    const { store, told } = setUp();
    store.push(closure("A"));
    const stored = store.take("pa_1") ?? expect.fail();
    store.release(stored, { outcome: "failed", ...byModel, error: "disk full" });
    expect(store.get("pa_1")?.action).toMatchObject({ status: "pending", attempts: 1, lastError: "disk full" });
    store.take("pa_1");
    const files = [stampOf("a.ts", undefined)];
    store.release(stored, { outcome: "stale", ...byModel, error: "changed", files });
    expect(store.get("pa_1")?.action).toMatchObject({ status: "stale", attempts: 1 });
    expect(told.slice(1)).toMatchObject([
      { type: "pending_action_resolved", outcome: "failed", error: "disk full" },
      { type: "pending_action_changed", status: "stale", files },
      { type: "pending_action_resolved", outcome: "stale" },
    ]);
  });
});

describe("the end of an action", () => {
  it("is told once, after it is true, and remembered", () => {
    const { store, told } = setUp();
    store.push(closure("A"));
    const sizes: number[] = [];
    store.on("change", () => sizes.push(store.size));
    expect(store.remove("pa_1", applied)).toBe(true);
    expect(store.remove("pa_1", applied)).toBe(false);
    expect(sizes).toEqual([0]);
    expect(told.at(-1)).toEqual({
      type: "pending_action_resolved",
      id: "pa_1",
      label: "A",
      sourceToolName: "tool",
      ...applied,
    });
    expect(store.endOf("pa_1")).toBe("applied");
  });

  it("is not that of another action that has its id by now", () => {
    const { store } = setUp();
    store.push(closure("A"));
    const { work } = store.get("pa_1") ?? expect.fail();
    store.clear();
    store.push(closure("another", { id: "pa_1" }));
    expect(store.remove("pa_1", applied, work)).toBe(false);
    expect(store.get("pa_1")?.action.label).toBe("another");
  });

  it("is not told where all of them are only forgotten, or popped", () => {
    const { store, types } = setUp();
    store.push(closure("A"));
    store.push(closure("B"));
    expect(store.pop()?.label).toBe("B");
    store.clear();
    expect(store.hasPending).toBe(false);
    expect(types()).toEqual(["pending_action_added", "pending_action_added"]);
  });
});

describe("a plan", () => {
  it("that was made anew can be made anew again; one that shrank cannot", () => {
    const { store, types } = setUp();
    const refresh = async () => expect.fail();
    store.push(closure("A", { work: { kind: "plan", plan: plan("a.ts", "new\n"), refresh } }));
    const first = store.get("pa_1") ?? expect.fail();
    store.markStale("pa_1", []);
    const renew = (revision: number) => ({ event: "renewed", id: "pa_1", revision }) as const;
    store.changePlan(first, { plan: plan("b.ts", "newer\n"), label: "A again", step: renew(2) });
    const renewed = store.get("pa_1") ?? expect.fail();
    expect(renewed.action).toMatchObject({
      label: "A again",
      status: "pending",
      revision: 2,
      files: [{ path: "b.ts" }],
    });
    expect(renewed.work).toHaveProperty("refresh");
    store.changePlan(first, { plan: plan("c.ts", "late\n"), step: renew(3) }); // by a decision that was given up
    expect(store.get("pa_1")).toBe(renewed);
    const rest = { files: 1, hunks: 1, label: "A", sha256: "" };
    const part = {
      event: "part",
      id: "pa_1",
      revision: store.nextRevision("pa_1"),
      action: "discard",
      by: "user",
    } as const;
    store.changePlan(renewed, { plan: plan("b.ts", "part\n"), step: { ...part, reason: "", settled: [], rest } });
    expect(store.get("pa_1")?.action.revision).toBe(3);
    expect(store.get("pa_1")?.work).not.toHaveProperty("refresh");
    expect(types()).toEqual(["pending_action_added", ...Array(3).fill("pending_action_changed")]);
  });
});

describe("expiry", () => {
  it("ends an action after its time, or the usual one, and its owner cleans up first", async () => {
    const expiring = vi.fn();
    const { store, clock, told } = setUp({ ttlMs: () => 60_000, expiring });
    const reject = vi.fn();
    store.push(closure("A", { work: { kind: "closure", apply: () => ({ content: [] }), reject } }));
    store.push(closure("B", { expiresInMs: 1000 }));
    clock.advance(1000);
    await quiet();
    expect(store.list().map(({ action }) => action.label)).toEqual(["A"]);
    clock.advance(59_000);
    await quiet();
    expect(reject).toHaveBeenCalledWith("Expired after 60s.", undefined, { id: "pa_1", by: "runtime" });
    expect(told.at(-1)).toMatchObject({ outcome: "expired", by: "runtime", reason: "Expired after 60s." });
    expect([store.size, expiring.mock.calls.length]).toEqual([0, 2]);
  });

  it("waits for a decision that is under way, and for nothing after dispose", async () => {
    const { store, clock } = setUp();
    store.push(closure("A", { expiresInMs: 1000 }));
    store.take("pa_1");
    clock.advance(1000);
    await quiet();
    expect(store.size).toBe(1);
    store.putBack("pa_1");
    clock.advance(1000);
    await quiet();
    expect(store.size).toBe(0);
    store.push(closure("B", { expiresInMs: 1000 }));
    store.dispose();
    expect(clock.pendingTimers).toBe(0);
  });
});
