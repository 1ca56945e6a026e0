import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type PlannedChange, stampOf } from "./plan.js";
import { rebaseChange } from "./rebase-change.js";

const pad = (from: number) => Array.from({ length: 10 }, (_, index) => `${from + index}\n`).join("");

function change(before: string, after: string, more: Partial<PlannedChange> = {}): PlannedChange {
  const bytes = Buffer.from(before);
  const stamp = stampOf("a.txt", { bytes, mode: 0o644 });
  return { kind: "modify", path: "/p/a.txt", stamp, before: bytes, after: Buffer.from(after), ...more };
}

const now = (text: string) => ({ bytes: Buffer.from(text), mode: 0o755 });
const textOf = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString();

async function rebased(from: PlannedChange, text: string | undefined) {
  const { change: made, left } = await rebaseChange(from, text === undefined ? undefined : now(text));
  return { text: textOf(made?.after), left, made };
}

describe("a change on other bytes", () => {
  const from = change(`a\n${pad(0)}b\n${pad(20)}c\n`, `A\n${pad(0)}B\n${pad(20)}C\n`, { units: 3 });

  it("is the same where its lines moved", async () => {
    const { text, left, made } = await rebased(from, `new\na\n${pad(0)}b\n${pad(20)}c\nend\n`);
    expect([text, left]).toEqual([`new\nA\n${pad(0)}B\n${pad(20)}C\nend\n`, []]);
    const bytes = Buffer.from(`new\na\n${pad(0)}b\n${pad(20)}c\nend\n`);
    expect(made).toMatchObject({ stamp: stampOf("a.txt", { bytes, mode: 0o755 }), units: 3 });
    expect(textOf(made?.before)).toBe(bytes.toString());
  });

  it("leaves out a hunk whose lines or context are others", async () => {
    expect(await rebased(from, `a\n${pad(0)}b, but not ours\n${pad(20)}c\n`)).toMatchObject({
      text: `A\n${pad(0)}b, but not ours\n${pad(20)}C\n`,
      left: [2],
      made: { units: 2 },
    });
    expect(await rebased(from, `a\n${pad(0)}b\n${pad(20).replace("29", "x")}c\n`)).toMatchObject({ left: [3] });
    expect(await rebased(from, "other\n")).toEqual({ text: undefined, left: [1, 2, 3], made: undefined });
    expect(await rebased(from, undefined)).toMatchObject({ left: [1, 2, 3] });
    expect(await rebased(from, `A\n${pad(0)}B\n${pad(20)}C\n`)).toMatchObject({ left: [1, 2, 3] }); // done by hand
  });

  it("finds lines that stand there several times only if they are as many as before", async () => {
    const block = `${pad(0)}x\n${pad(10)}`;
    const twice = change(block + block, block + block.replace("x\n", "y\n"));
    expect(await rebased(twice, `new\n${block}${block}`)).toMatchObject({
      text: `new\n${block}${block.replace("x\n", "y\n")}`,
      left: [],
    });
    expect(await rebased(twice, block + block + block)).toMatchObject({ left: [1] });
    expect(await rebased(twice, block)).toMatchObject({ left: [1] });
  });

  it("does not take back what another program wrote, and deletes and makes nothing that was changed", async () => {
    const stale = change("a\n", "b\n");
    const stamp = { ...stale.stamp, sha256: "0".repeat(64) }; // as an undo of a file that was edited since
    expect(await rebased({ ...stale, stamp }, "a\n")).toMatchObject({ left: [1] });
    expect(await rebased({ ...stale, kind: "delete" }, "a\n")).toMatchObject({ left: [1] });
    expect(await rebased({ ...stale, kind: "create" }, "a\n")).toMatchObject({ left: [1] });
    expect(await rebased({ ...stale, kind: "create" }, undefined)).toMatchObject({ left: [], text: "b\n" });
  });

  it("sets permissions where it changes no line", async () => {
    expect(await rebased(change("a\n", "a\n", { mode: 0o700 }), "b\n")).toMatchObject({
      text: "b\n",
      left: [],
      made: { mode: 0o700 },
    });
  });

  it("fits everywhere where only lines around it were added, for any texts", async () => {
    const lines = fc.array(fc.constantFrom("a\n", "b\n", "c\n", "\n"), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(lines, lines, async (old, fresh) => {
        const top = "not in it\n";
        const made = await rebased(change(old.join(""), fresh.join("")), top + old.join(""));
        if (old.length > 0) expect([made.text, made.left]).toEqual([top + fresh.join(""), []]);
      }),
    );
  });
});
