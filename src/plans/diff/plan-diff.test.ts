import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { combinePlans, decodePlan, encodePlan, isOnlySeen, type Plan, type PlannedChange, stampOf } from "../plan.js";
import { diffOf } from "./plan-diff.js";

function change(path: string, before: string, after: string): PlannedChange {
  const bytes = Buffer.from(before);
  const stamp = stampOf(path, { bytes, mode: 0o644 });
  return { kind: "modify", path: `/p/${path}`, stamp, before: bytes, after: Buffer.from(after) };
}

const textOf = (plan: Plan) => [...encodePlan(plan)].join("");
const planOf = (...changes: PlannedChange[]): Plan => ({ changes, applied: { text: "Done." } });

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
        expect(decodePlan(textOf(plan))).toEqual(plan);
      }),
    );
  });

  it("come in pieces when they are long", () => {
    const long = "x".repeat(300_000);
    const texts = [long, `${long}\n`, "", "y", long, ""];
    const plan = planOf(change("a", long, `${long}\n`), change("b", "", "y"), change("c", long, ""));
    expect(Math.max(...[...encodePlan(plan)].map(({ length }) => length))).toBeLessThan(600_000);
    const { changes } = decodePlan(textOf(plan));
    expect(changes.flatMap(({ before, after }) => [`${before}`, `${after}`])).toEqual(texts);
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
    expect(textOf({ changes: both, applied })).toBe(texts([kept, kept]));
    expect(textOf({ changes: [], applied, undoes: ["c1"] })).toBe(texts([], ["c1"]));
  });

  it.each([
    "",
    "{",
    "null",
    "{}",
    '{"version":3,"changes":[],"applied":{"text":""}}',
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
    expect(await shown({ ...change("a", "x\n", "x\n"), mode: 0o755 })).toBe(`${modes}\n`);
    expect(await shown({ ...change("a", "x\n", "y\n"), mode: 0o755 })).toBe(
      `${modes}--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-x\n+y\n`,
    );
    expect(await shown({ ...change("a", "x\n", "y\n"), mode: 0o644 })).not.toContain("mode");
  });
});
