import fc from "fast-check";
import { expect, it } from "vitest";
import { stripEscapes } from "../../base/sanitize.js";
import { count, cutText, notice, sizeText } from "./text.js";

it.each([
  ["plain\ttext\r\n", "plain\ttext\r\n"],
  ["\u001b[31mred\u001b[0m", "red"],
  ["\u009b1;2Hx", "x"],
  ["a\u001b]0;title\u0007b", "ab"],
  ["a\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\b", "alinkb"],
  ["a\u001bPdata\u001b\\b", "ab"],
  // Unfinished: only the introducer goes, the text behind it stays visible.
  ["a\u001b]0;title\nhidden?", "a0;title\nhidden?"],
  ["a\u001b(Bb\u001bc", "ab"],
  ["a\u001b", "a"],
  ["a\u001b\u001b[1mb", "ab"],
])("strips %j to %j", (text, expected) => {
  expect(stripEscapes(text)).toBe(expected);
});

it("leaves no introducer and is done after one pass", () => {
  const pieces = fc.constantFrom(
    "\u001b",
    "\u009b",
    "\u009d",
    "[",
    "]",
    "31",
    "m",
    "\u0007",
    "\\",
    "\n",
    "x",
    "P",
    "é",
  );
  fc.assert(
    fc.property(fc.array(pieces), (parts) => {
      const stripped = stripEscapes(parts.join(""));
      for (const introducer of ["\u001b", "\u009b", "\u009d"]) expect(stripped).not.toContain(introducer);
      expect(stripEscapes(stripped)).toBe(stripped);
    }),
  );
});

it("is linear on text made to be slow", () => {
  const before = process.cpuUsage(); // not the time of day: the machine may be busy
  stripEscapes("\u001b]".repeat(200_000));
  stripEscapes(`\u001b[${"0".repeat(400_000)}`);
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
});

it("cuts between characters", () => {
  expect(cutText("abc", 3)).toBe("abc");
  expect(cutText("abcd", 3)).toBe("abc…");
  expect(cutText("ab😀d", 3)).toBe("ab…");
});

it("says sizes and counts", () => {
  expect([1, 340, 1536, 20 * 1024 ** 2, 25.04 * 1024 ** 2].map(sizeText)).toEqual([
    "1 byte",
    "340 bytes",
    "1.5KB",
    "20MB",
    "25MB",
  ]);
  expect([count(1, "file"), count(0, "file")]).toEqual(["1 file", "0 files"]);
});

it("joins remarks in one bracket", () => {
  expect(notice([])).toBe("");
  expect(notice(["One", "Two"])).toBe("\n\n[One. Two]");
});
