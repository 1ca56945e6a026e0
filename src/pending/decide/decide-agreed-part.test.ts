// What the user answers when the model wants to apply an action: the model reads what was written and what was not.

import { describe, expect, it, vi } from "vitest";
import { withoutSession } from "../../plans/change-writer.js";
import { type Plan, type PlannedChange, stampOf } from "../../plans/plan.js";
import { manualClock } from "../../testing/manual-clock.js";
import { PendingActionStore } from "../store/pending-action-store.js";
import { decideList, decideOne } from "./decided.test-kit.js";
import type { ApplyAnswer, DecideContext, Decision } from "./decision.js";

const apply: Decision = { action: "apply", reason: "looks right", by: "model" };

function change(path: string): PlannedChange {
  const filler = Array.from({ length: 10 }, (_, index) => `line ${index}\n`).join("");
  const bytes = Buffer.from(`old\n${filler}old\n`);
  const after = Buffer.from(`new\n${filler}new\n`);
  return { kind: "modify", path: `/p/${path}`, stamp: stampOf(path, { bytes, mode: 0o644 }), before: bytes, after };
}

function setUp(answer: ApplyAnswer, fails = false) {
  const store = new PendingActionStore({ clock: manualClock() });
  const written: string[] = [];
  const context: DecideContext = {
    store,
    settings: () => ({ maxAttempts: 5, decider: "both", requireUser: false }),
    changes: {
      apply: vi.fn(async (changes: readonly PlannedChange[]) => {
        if (fails) throw new Error("disk full");
        written.push(
          ...changes.map(({ stamp, after }) => `${stamp.path} ${Buffer.from(after).toString().match(/new/g)?.length}`),
        );
        return { changeId: "ch_1" };
      }),
    },
    session: withoutSession,
    confirm: async () => answer,
  };
  const plan: Plan = { changes: [change("a.ts"), change("b.ts")], applied: { text: "Wrote both." } };
  const id = store.push({ label: "Rename", sourceToolName: "ast_edit", work: { kind: "plan", plan } });
  const settle = async () => {
    const { result, kind, outcome } = await decideOne(context, id, apply);
    return {
      kind,
      part: outcome.kind === "applied" ? outcome.part : undefined,
      isError: result.isError,
      text: result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n"),
    };
  };
  return { store, context, id, written, settle };
}

describe("the user's answer", () => {
  it("may be later: it stays pending, and the model is not asked again", async () => {
    const { store, id, written, settle, context } = setUp("postponed");
    expect((await settle()).text).toBe("The user postponed it: pa_1 stays pending.");
    expect([written, store.get(id)?.action.status, store.get(id)?.isForReview]).toEqual([[], "pending", true]);
    const again = await decideOne(context, id, apply);
    expect(again.result.content).toEqual([{ type: "text", text: "Staged for review: the user decides." }]);
  });

  it("may be a part, whose rest stays pending", async () => {
    const { store, id, written, settle } = setUp({ apply: { hunks: { "a.ts": [2] } }, rest: "keep" });
    const { text, part } = await settle();
    expect(text).toBe(
      "Applied 1 of 4 hunks in 1 of 2 files (a.ts).\nNot written: the rest stays pending as pa_1 for the user.",
    );
    expect([part?.rest, written, store.get(id)?.isForReview]).toEqual(["kept", ["a.ts 1"], true]);
    expect(store.get(id)?.action).toMatchObject({ status: "pending", revision: 2 });
  });

  it("may be a part, whose rest is discarded", async () => {
    const { store, id, written, settle } = setUp({ apply: { files: ["b.ts"] }, rest: "discard", reason: "only b" });
    const { text } = await settle();
    expect(text).toMatch(
      /^Applied 2 of 4 hunks in 1 of 2 files \(b\.ts\)\.\nNot written: the rest\. Discarded: .*User declined: only b$/,
    );
    expect([written, store.endOf(id)]).toEqual([["b.ts 2"], "discarded"]);
  });

  it("may be no, with a reason", async () => {
    const { store, id, written, settle } = setUp({ apply: {}, rest: "discard", reason: "wrong name" });
    expect((await settle()).text).toBe("Discarded: Rename. Reason: User declined: wrong name");
    expect([written, store.endOf(id)]).toEqual([[], "discarded"]);
  });

  it("keeps everything where the part cannot be written", async () => {
    const { store, id, written, settle } = setUp({ apply: { files: ["b.ts"] }, rest: "discard" }, true);
    const { isError, text } = await settle();
    expect([isError, text, written]).toEqual([true, expect.stringContaining("disk full"), []]);
    expect(store.get(id)?.action).toMatchObject({ status: "pending", revision: 1 });
  });

  it("is told for each of several", async () => {
    const { context, id } = setUp({ apply: { files: ["b.ts"] }, rest: "keep" });
    const result = await decideList(context, [id], apply);
    expect(result).toMatchObject({
      content: [{ text: expect.stringContaining("pa_1 applied: Applied 2 of 4 hunks in 1 of 2 files (b.ts).") }],
    });
  });

  it("that is of no known form is a no", async () => {
    const { written, settle } = setUp("yes" as unknown as ApplyAnswer);
    expect((await settle()).kind).toBe("discarded");
    expect(written).toEqual([]);
  });
});
