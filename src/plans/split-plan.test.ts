import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/kit/runs.js";
import { diffOf, hunksIn } from "./diff/plan-diff.js";
import { type Plan, type PlannedChange, stampOf } from "./plan.js";
import { splitPlan } from "./split-plan.js";

function change(path: string, before: string, after: string): PlannedChange {
  const bytes = Buffer.from(before);
  const stamp = stampOf(path, { bytes, mode: 0o644 });
  return { kind: "modify", path: `/p/${path}`, stamp, before: bytes, after: Buffer.from(after) };
}

const planOf = (...changes: PlannedChange[]): Plan => ({ changes, applied: { text: "Done." } });
const lines = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}\n`);
const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();

describe("a part of a plan", () => {
  const old = lines(40);
  const fresh = old.with(1, "two\n").with(19, "twenty\n").with(38, "").join("");
  const plan = planOf(change("a.txt", old.join(""), fresh), change("b.txt", "1\n", "one\n"));

  it("is chosen by hunk, and the rest goes on from there", async () => {
    expect(await diffOf(plan.changes[0] as PlannedChange)).toMatchObject({ added: 2, removed: 3, hunks: 3 });
    const split = await splitPlan(plan, { hunks: { "a.txt": [3, 1] } });
    const partly = old.with(1, "two\n").with(38, "").join("");
    expect(split.chosen.map(({ after }) => text(after))).toEqual([partly]);
    expect(split.ifApplied.changes.map(({ before, after }) => [text(before), text(after)])).toEqual([
      [partly, fresh],
      ["1\n", "one\n"],
    ]);
    expect(split.ifApplied.changes[0]?.stamp).toEqual(stampOf("a.txt", { bytes: Buffer.from(partly), mode: 0o644 }));
    expect(text(split.ifDiscarded.changes[0]?.after)).toBe(old.with(19, "twenty\n").join(""));
    expect(split).toMatchObject({ settled: [{ path: "a.txt", hunks: [1, 3] }], chosenHunks: 2 });
    expect(await hunksIn(plan)).toBe(4);
  });

  it("is chosen by file", async () => {
    const split = await splitPlan(plan, { files: ["b.txt"] });
    expect(split.chosen).toEqual([plan.changes[1]]);
    expect(split.ifApplied.changes).toEqual([plan.changes[0]]);
    expect((await splitPlan(plan, { files: ["a.txt", "b.txt"] })).ifApplied.changes).toEqual([]);
  });

  it.each([
    [{ files: ["c.txt"] }, "c.txt is not part of this pending action."],
    [{ hunks: { "c.txt": [1] } }, "c.txt is not part of this pending action."],
    [{ hunks: { "a.txt": [4] } }, "a.txt has no hunk 4; it has 3."],
    [{ hunks: { "a.txt": [] } }, "No hunk of a.txt is named."],
    [{ files: [] }, "Neither a file nor a hunk is named."],
    [{ hunks: {} }, "Neither a file nor a hunk is named."],
  ])("is refused for %j", async (subset, message) => {
    await expect(splitPlan(plan, subset)).rejects.toMatchObject({ code: "invalid_argument", message });
  });

  it("leaves a file alone whose name is a word of the language", async () => {
    const named = planOf(change("constructor", "1\n", "one\n"), change("b.txt", "1\n", "one\n"));
    const split = await splitPlan(named, { files: ["b.txt"] });
    expect(split.ifApplied.changes).toEqual([named.changes[0]]);
  });

  it("together with the rest gives the whole, for any texts and any choice", async () => {
    const anyLines = fc.array(fc.constantFrom("a\n", "b\n", "c\r\n", "\n", "d"), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(anyLines, anyLines, fc.infiniteStream(fc.boolean()), async (before, after, coin) => {
        const whole = change("a", before.join(""), after.join(""));
        const { hunks: count } = await diffOf(whole);
        const chosen = Array.from({ length: count }, (_, index) => index + 1).filter(() => coin.next().value);
        if (chosen.length === 0) return;
        const { chosen: part, ifApplied } = await splitPlan(planOf(whole), { hunks: { a: chosen } });
        const ends = [...part, ...ifApplied.changes].at(-1);
        expect(text(ends?.after)).toBe(after.join(""));
        expect(text(part[0]?.before)).toBe(before.join(""));
      }),
      { numRuns: runs(300) },
    );
  });
});
