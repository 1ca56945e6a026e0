import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { combinePlans, decodePlan, encodePlan, isOnlySeen, type Plan, type PlannedChange, stampOf } from "./plan.js";
import { diffOf, splitPlan } from "./plan-diff.js";

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
    expect(split.restIfApplied?.changes.map(({ before, after }) => [text(before), text(after)])).toEqual([
      [partly, fresh],
      ["1\n", "one\n"],
    ]);
    expect(split.restIfApplied?.changes[0]?.stamp).toEqual(
      stampOf("a.txt", { bytes: Buffer.from(partly), mode: 0o644 }),
    );
    expect(text(split.restIfDiscarded?.changes[0]?.after)).toBe(old.with(19, "twenty\n").join(""));
    expect(split).toMatchObject({ settled: [{ path: "a.txt", hunks: [1, 3] }], chosenHunks: 2, totalHunks: 4 });
  });

  it("is chosen by file", async () => {
    const split = await splitPlan(plan, { files: ["b.txt"] });
    expect(split.chosen).toEqual([plan.changes[1]]);
    expect(split.restIfApplied?.changes).toEqual([plan.changes[0]]);
    expect((await splitPlan(plan, { files: ["a.txt", "b.txt"] })).restIfApplied).toBeUndefined();
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
    expect(split.restIfApplied?.changes).toEqual([named.changes[0]]);
  });

  it("together with the rest gives the whole, for any texts and any choice", async () => {
    const anyLines = fc.array(fc.constantFrom("a\n", "b\n", "c\r\n", "\n", "d"), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(anyLines, anyLines, fc.infiniteStream(fc.boolean()), async (before, after, coin) => {
        const whole = change("a", before.join(""), after.join(""));
        const { hunks: count } = await diffOf(whole);
        const chosen = Array.from({ length: count }, (_, index) => index + 1).filter(() => coin.next().value);
        if (chosen.length === 0) return;
        const { chosen: part, restIfApplied } = await splitPlan(planOf(whole), { hunks: { a: chosen } });
        const ends = [...part, ...(restIfApplied?.changes ?? [])].at(-1);
        expect(text(ends?.after)).toBe(after.join(""));
        expect(text(part[0]?.before)).toBe(before.join(""));
      }),
      { numRuns: 300 },
    );
  });
});

describe("plans", () => {
  it("come back from their text as they were", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), fc.option(fc.nat(0o7777)), (before, after, mode) => {
        const extra = mode === null ? {} : { mode, mtimeMs: 1.5 };
        const plan = planOf({
          ...change("a", "", ""),
          before: Buffer.from(before),
          after: Buffer.from(after),
          ...extra,
        });
        expect(decodePlan(encodePlan(plan))).toEqual(plan);
      }),
    );
  });

  it("are kept as plain JSON", () => {
    const { before, after, ...rest } = change('d\u00e9"\n', "a\n", "b\n");
    const applied = { text: 'Done "\u2028".', details: { files: [] } };
    const kept = { ...rest, before: "YQo=", after: "Ygo=" };
    const texts = (changes: readonly object[], undoes?: string[]) =>
      JSON.stringify({ version: 1, applied, undoes, changes });
    const both = [
      { ...rest, before, after },
      { ...rest, before, after },
    ];
    expect(encodePlan({ changes: both, applied })).toBe(texts([kept, kept]));
    expect(encodePlan({ changes: [], applied, undoes: ["c1"] })).toBe(texts([], ["c1"]));
  });

  it.each([
    "",
    "{",
    "null",
    "{}",
    '{"version":2,"changes":[],"applied":{"text":""}}',
    '{"version":1,"changes":[{}],"applied":{"text":""}}',
  ])("refuse the text %j", (broken) => {
    expect(() => decodePlan(broken)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });

  it("made on top of each other become one", () => {
    const absent = stampOf("new", undefined);
    const create = {
      kind: "create",
      path: "/p/new",
      stamp: absent,
      before: Buffer.alloc(0),
      after: Buffer.from("1"),
    } as const;
    const modify = { ...change("new", "1", "2") };
    const remove = { ...change("new", "2", ""), kind: "delete" } as const;
    expect(combinePlans([planOf(create), planOf(modify)])).toEqual([{ ...create, after: Buffer.from("2") }]);
    const gone = combinePlans([planOf(create), planOf(modify), planOf(remove)]);
    expect(gone).toMatchObject([{ kind: "delete", stamp: { exists: false } }]);
    expect(gone.map(isOnlySeen)).toEqual([true]);
    expect(combinePlans([planOf(modify), planOf(remove)])).toMatchObject([
      { kind: "delete", before: Buffer.from("1") },
    ]);
    expect(combinePlans([planOf(remove), planOf({ ...create, path: "/p/new" })])).toMatchObject([{ kind: "modify" }]);
  });
});

describe("the diff of a planned change", () => {
  const shown = async (planned: PlannedChange) => (await diffOf(planned)).diff(1000);

  it("tells a file that comes or goes from one that is empty", async () => {
    expect(await shown({ ...change("a", "x\n", ""), kind: "delete" })).toBe(
      "--- a/a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n",
    );
    expect(await shown({ ...change("a", "", "x\n"), kind: "create" })).toBe(
      "--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n+x\n",
    );
    expect(await shown(change("a", "x\n", ""))).toContain("+++ b/a\n");
  });

  it("tells other permissions, with and without other bytes", async () => {
    const modes = "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n";
    expect(await shown({ ...change("a", "x\n", "x\n"), mode: 0o755 })).toBe(modes);
    expect(await shown({ ...change("a", "x\n", "y\n"), mode: 0o755 })).toBe(
      `${modes}--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-x\n+y\n`,
    );
    expect(await shown({ ...change("a", "x\n", "y\n"), mode: 0o644 })).not.toContain("mode");
  });
});
