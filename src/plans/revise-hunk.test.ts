import { describe, expect, it } from "vitest";
import { createMask } from "../base/secret-mask.js";
import { type PlannedChange, stampOf } from "./plan.js";
import { reviseHunk } from "./revise-hunk.js";

function change(before: string | undefined, after: string | Buffer, more: Partial<PlannedChange> = {}): PlannedChange {
  const bytes = Buffer.from(before ?? "");
  const stamp = stampOf("a.txt", before === undefined ? undefined : { bytes, mode: 0o644 });
  const kind = before === undefined ? "create" : "modify";
  return { kind, path: "/p/a.txt", stamp, before: bytes, after: Buffer.from(after), ...more };
}

const revised = async (from: PlannedChange, hunk: number, text: string) =>
  Buffer.from((await reviseHunk(from, hunk, text)).after).toString();

const pad = Array.from({ length: 12 }, (_, index) => `${index}\n`).join("");

describe("an edited hunk", () => {
  it("takes the place of all that its diff shows as new, and of nothing else", async () => {
    const from = change(`a\n${pad}b\n`, `A\n${pad}B\n`);
    expect(await revised(from, 1, "one\n0\n1\n2\n")).toBe(`one\n${pad}B\n`);
    expect(await revised(from, 2, "9\n10\n11\n")).toBe(`A\n${pad}`);
    expect(await revised(from, 2, "9\n10\n11\nx\ny")).toBe(`A\n${pad}x\ny\n`);
  });

  it.each([
    ["line n keeps the end of line n", "a\r\nb\nc\r\n", "1\n2\n3\n", "1\r\n2\n3\r\n"],
    ["a further line gets the most frequent end", "a\r\nb\nc\r\n", "1\n2\n3\n4\n5", "1\r\n2\n3\r\n4\r\n5\r\n"],
    ["a missing last end stays missing", "a\nb", "1\n2\n3\n", "1\n2\n3"],
    ["also of fewer lines", "a\r\nb\r\nc", "1\n2", "1\r\n2"],
    ["ends in the text do not count", "a\nb\n", "1\r\n2\r\n", "1\n2\n"],
    ["an empty line is a line", "a\nb\n", "1\n\n", "1\n\n"],
    ["no text is no line", "a\nb\n", "", ""],
    ["a byte order mark stays", "\uFEFFa\n", "1\n", "\uFEFF1\n"],
  ])("%s", async (_name, after, text, expected) => {
    expect(await revised(change(undefined, after), 1, text)).toBe(expected);
  });

  it("was not counted by the tool", async () => {
    expect(await reviseHunk(change("a\n", "b\n", { units: 1 }), 1, "c\n")).not.toHaveProperty("units");
  });

  it.each([
    [change("a\n", "b\n", { kind: "delete" }), 1, "x", "a.txt cannot be edited: it is a delete."],
    [change("a\n", Buffer.from([0xff, 0x0a])), 1, "x", "a.txt cannot be edited: it is not UTF-8 text."],
    [change("a\n", "b\0\n"), 1, "x", "a.txt cannot be edited: it is not UTF-8 text."],
    [change("a\n", "b\n"), 2, "x", "a.txt has no hunk 2; it has 1."],
    [change(undefined, "b\n"), 2, "x", "a.txt has no hunk 2; it has 1."],
    [change("a\n", "b\n"), 1, "\ud800", "The new text is not valid Unicode."],
    [change("a\n", "b\n"), 1, "a\n", "The new text leaves a.txt as it is. Discard the hunk instead."],
    [change("a\n", "b\n"), 1, "x".repeat(2 ** 24), "a.txt cannot be edited: it would be larger than 16 MiB."],
  ])("is refused where it cannot be: %#", async (from, hunk, text, message) => {
    await expect(reviseHunk(from, hunk, text)).rejects.toMatchObject({ code: "invalid_argument", message });
  });

  it("is refused where a secret is masked on either side, since the mask would be written", async () => {
    const mask = createMask([{ value: "hunter2-hunter2", name: "PASSWORD" }]);
    const message = "This hunk of a.txt cannot be edited: a secret in it is masked. Apply or discard it as it is.";
    const secret = "p=hunter2-hunter2\n";
    for (const from of [change("a\n", secret), change(secret, "a\n"), change(undefined, secret)])
      await expect(reviseHunk(from, 1, "b\n", mask)).rejects.toMatchObject({ code: "invalid_argument", message });
    const other = change(`a\n${pad}${secret}`, `A\n${pad}${secret}`);
    await expect(reviseHunk(other, 1, "b\n0\n1\n2\n", mask)).resolves.toBeDefined();
  });
});
