import { beforeEach, describe, expect, it, vi } from "vitest";
import { GalleyError } from "../base/errors.js";
import { silentLog } from "../base/log.js";
import { MessageQueues } from "../loop/message-queues.js";
import { deferred, quiet } from "../loop/run.test-kit.js";
import { ToolChoiceQueue } from "../loop/tool-choice-queue.js";
import { type Plan, stampOf } from "../plans/plan.js";
import type { NewAction } from "../plans/stored-action.js";
import type { SessionEntry } from "../protocol/entries.js";
import type { AgentSessionEvent, ToolResult } from "../protocol/events.js";
import { EntryTree } from "../record/entry-tree.js";
import type { SessionRecord } from "../record/record.js";
import { createMemoryArtifacts } from "../record/store/artifacts.js";
import { manualClock } from "../testing/manual-clock.js";
import type { Decision } from "./decide/decision.js";
import { errorOf, forUser } from "./decide/words.js";
import { PendingActions, type PendingActionsDeps } from "./pending-actions.js";
import { defaultPendingSettings } from "./pending-settings.js";

let events: AgentSessionEvent[];
let record: SessionRecord;
let queues: MessageQueues;
beforeEach(() => {
  events = [];
  record = fakeRecord();
  queues = new MessageQueues();
});

/** A record of entries without a file; one process after the other may use it. */
function fakeRecord(): SessionRecord {
  const tree = new EntryTree();
  return {
    tree,
    sessionId: "session",
    artifacts: createMemoryArtifacts(),
    append(fields: object) {
      const id = `e${tree.entries.length + 1}`;
      const entry = { id, parentId: tree.leafId, timestamp: "", ...fields } as unknown as SessionEntry;
      tree.append(entry);
      return entry;
    },
    moveLeaf: (id: string) => tree.moveLeaf(id),
    wantFile() {},
    sync: async () => {},
  } as unknown as SessionRecord;
}

function openPending(deps: Partial<PendingActionsDeps> = {}): PendingActions {
  return new PendingActions({
    clock: manualClock(),
    log: silentLog,
    queues,
    toolChoice: new ToolChoiceQueue(),
    emit: (event) => void events.push(event),
    record: () => record,
    settings: () => defaultPendingSettings,
    model: () => undefined,
    forbidsForcedChoice: () => false,
    changes: { apply: async () => ({ changeId: "ch_1" }), staleFiles: async () => [] },
    owner: () => "session",
    signal: () => undefined,
    ...deps,
  });
}

const text = (value: string): ToolResult => ({ content: [{ type: "text", text: value }] });
/** The first block: what is still pending is told in another. */
const textOf = ({ content: [block] }: ToolResult) => (block?.type === "text" ? block.text : "");

function closure(label: string, more: Partial<Extract<NewAction["work"], { kind: "closure" }>> = {}): NewAction {
  return { label, sourceToolName: "tool", work: { kind: "closure", apply: () => text(`${label} done`), ...more } };
}

function planned(label: string, path = "a.ts"): NewAction {
  const before = Buffer.from("old\n");
  const stamp = stampOf(path, { bytes: before, mode: 0o644 });
  const change = { kind: "modify", path: `/p/${path}`, stamp, before, after: Buffer.from("new\n") } as const;
  const plan: Plan = { changes: [change], applied: { text: "Written." } };
  return { label, sourceToolName: "ast_edit", work: { kind: "plan", plan } };
}

const apply = { action: "apply", reason: "agreed" } as const;
const byHost: Decision = { ...apply, by: "host" };
const onRecord = () =>
  record.tree.entries.map((entry) => {
    const { event, id, outcome } = (entry as unknown as { data: Record<string, string> }).data;
    return [event, id, outcome].filter(Boolean).join(" ");
  });
const outcomes = () =>
  events.flatMap((event) => (event.type === "pending_action_resolved" ? [`${event.id} ${event.outcome}`] : []));

describe("staging", () => {
  it("announces the action, and it is on record with its plan when the promise resolves", async () => {
    const pending = openPending();
    const id = await pending.stage(planned("Rewrite"));
    expect(events).toMatchObject([{ type: "pending_action_added", action: { id, label: "Rewrite" } }]);
    expect(onRecord()).toEqual([`pushed ${id}`]);
    expect(await record.artifacts.readPlan(`${id}.plan`)).toContain('"text":"Written."');
    expect(pending.isResolvable).toBe(true);
  });

  it("stays pending where the record takes nothing, says so, and tries again with what follows", async () => {
    const pending = openPending();
    const savePlan = vi.spyOn(record.artifacts, "savePlan").mockRejectedValue(new Error("disk full"));
    await pending.stage(planned("Rewrite"));
    expect([pending.persistError, onRecord()]).toEqual(["disk full", []]);
    expect(pending.store.hasPending).toBe(true);
    savePlan.mockRestore();
    await pending.flush();
    expect([pending.persistError, onRecord()]).toEqual([undefined, ["pushed pa_1"]]);
  });
});

describe("resolve", () => {
  it("takes the named action, else the next one; the end is on record", async () => {
    const pending = openPending();
    for (const label of ["A", "B", "C"]) await pending.stage(closure(label));
    expect(textOf(await pending.resolve({ ...apply, id: "pa_1" }))).toBe("A done");
    expect(textOf(await pending.resolve(apply))).toBe("C done");
    expect(outcomes()).toEqual(["pa_1 applied", "pa_3 applied"]);
    expect(onRecord().slice(3)).toEqual(["settled pa_1 applied", "settled pa_3 applied"]);
  });

  it("takes all of them, and not a name at the same time", async () => {
    const pending = openPending();
    await pending.stage(closure("A"));
    await pending.stage(closure("B"));
    await expect(pending.resolve({ ...apply, id: "pa_1", all: true })).rejects.toThrow(
      "Use either id or all, not both.",
    );
    await pending.resolve({ ...apply, all: true });
    expect(pending.store.hasPending).toBe(false);
  });

  it("asks the standing handler only where nothing is pending, and for all of nothing never", async () => {
    const pending = openPending();
    const nothing = "No pending action to resolve. Nothing to apply or discard.";
    await expect(pending.resolve(apply)).rejects.toThrow(nothing);
    const handler = { label: "Approval", sourceToolName: "approve", apply: vi.fn(async () => text("by the handler")) };
    pending.setStandingHandler(handler);
    await pending.stage(closure("A"));
    expect(textOf(await pending.resolve(apply))).toBe("A done");
    expect(textOf(await pending.resolve(apply))).toBe("by the handler");
    await expect(pending.resolve({ ...apply, all: true })).rejects.toThrow(nothing);
    expect(handler.apply).toHaveBeenCalledTimes(1);
  });
});

describe("a decision of the host", () => {
  it("is told to the model with its next request, and only where the action ended", async () => {
    const pending = openPending();
    await pending.stage(closure("A"));
    await pending.stage(
      closure("B", {
        apply: () => {
          throw new GalleyError("tool_failed", "no luck");
        },
      }),
    );
    expect(errorOf(await pending.decide(["pa_2"], byHost))?.message).toBe("no luck");
    expect(queues.takeAsides()).toEqual([]);
    expect(forUser(await pending.decide(["pa_1"], byHost)).first).toBe("A done");
    expect(queues.takeAsides()).toHaveLength(1);
    expect(pending.store.list().map(({ action }) => action.id)).toEqual(["pa_2"]);
  });

  it("about what is not there is refused, and nothing is decided", async () => {
    const pending = openPending();
    await pending.stage(closure("A"));
    await expect(pending.decide(["pa_1", "pa_9"], byHost)).rejects.toMatchObject({ code: "not_found" });
    expect(pending.store.size).toBe(1);
  });
});

it("a file that was written makes stale what was made for it, and nothing else", async () => {
  const pending = openPending({
    changes: { apply: () => expect.fail(), staleFiles: async ([seen]) => [seen?.stamp.path ?? ""] },
  });
  await pending.stage(planned("A", "a.ts"));
  await pending.stage(planned("B", "b.ts"));
  await pending.filesWritten(["/p/b.ts"]);
  expect(pending.store.list().map(({ action }) => `${action.id} ${action.status}`)).toEqual([
    "pa_2 stale",
    "pa_1 pending",
  ]);
});

it("the end of a run tells what still waits for a decision", async () => {
  const pending = openPending();
  pending.runEnded();
  expect(events).toEqual([]);
  await pending.stage(closure("A"));
  pending.runEnded();
  expect(events.at(-1)).toEqual({ type: "pending_action_stalled", ids: ["pa_1"] });
});

describe("another process", () => {
  it("finds plans again under their ids, gives out new ones, and tells that closures are lost", async () => {
    const earlier = openPending();
    await earlier.stage(planned("Plan"));
    await earlier.stage(closure("Closure"));
    await earlier.stage(closure("Decided"));
    await earlier.resolve(apply);
    events = [];
    const pending = openPending();
    expect(pending.reserve()).toBe(true);
    await pending.restore();
    await pending.flush();
    expect(pending.store.list().map(({ action }) => `${action.id} ${action.label}`)).toEqual(["pa_1 Plan"]);
    expect(outcomes()).toEqual(["pa_2 orphaned"]);
    expect(pending.store.nextId()).toBe("pa_4");
    expect(onRecord().filter((line) => line.endsWith("pa_1"))).toEqual(["pushed pa_1"]); // not a second time
  });

  it("that applied a plan and died has its outcome put on record here", async () => {
    const pending = openPending();
    await pending.stage(planned("Plan"));
    await pending.recordApplied({ pendingId: "pa_1" }, { changeId: "ch_1", by: "model", reason: "agreed" });
    expect(pending.store.hasPending).toBe(false);
    expect(onRecord()).toEqual(["pushed pa_1", "settled pa_1 applied"]);
  });
});

describe("leaving the session", () => {
  it("ends closures and keeps plans with their record", async () => {
    const reject = vi.fn();
    const pending = openPending();
    await pending.stage(planned("Plan"));
    await pending.stage(closure("Closure", { reject }));
    await pending.leave("Session switched.");
    expect(reject).toHaveBeenCalledWith("Session switched.", undefined, { id: "pa_2", by: "runtime" });
    expect(outcomes()).toEqual(["pa_2 discarded"]);
    expect(pending.store.hasPending).toBe(false);
    expect(onRecord()).toEqual(["pushed pa_1", "pushed pa_2", "settled pa_2 discarded"]);
  });

  it("waits for a decision that is under way", async () => {
    const written = deferred<ToolResult>();
    const pending = openPending();
    await pending.stage(closure("A", { apply: () => written.promise }));
    const decided = pending.decide(["pa_1"], byHost);
    let hasLeft = false;
    const left = pending.leave("Session switched.").then(() => {
      hasLeft = true;
    });
    await quiet();
    expect([pending.isDeciding, hasLeft]).toEqual([true, false]);
    written.resolve(text("done"));
    await Promise.all([decided, left]);
    expect(outcomes()).toEqual(["pa_1 applied"]);
  });
});
