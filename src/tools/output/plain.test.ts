import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { plainOutput } from "./plain.js";

it.each([
  ["plain\ttext\n", "plain\ttext\n"],
  ["a\r\nb\r\n", "a\nb\n"],
  ["\u001b[31mred\u001b[0m\u001b]0;title\u0007", "red"],
  ["\u009b31mred\u009d0;title\u009c!", "red!"],
  ["10%\r20%\r100%\ndone", "100%\ndone"],
  ["10%\r100%\r\ndone", "100%\ndone"],
  ["\r\r\r", ""],
  ["\rx", "x"],
  ["a\u0000b\u0007\u0008\u007fc", "a␀bc"],
  ["naïve 🙂 日本\u202e", "naïve 🙂 日本\u202e"],
])("shows %j as %j", (raw, text) => {
  expect(plainOutput(raw).text).toBe(text);
});

it("says where something was written over", () => {
  expect(["10%\r20%", "a\r\nb\r\n", "x\r\r", "plain"].map((raw) => plainOutput(raw).isOverwritten)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

const hostile = fc.string({
  unit: fc.constantFrom(
    "\u001b",
    "[",
    "]",
    "\u009b",
    "\u009d",
    "\u009c",
    "3",
    "m",
    "\u0007",
    "\\",
    "\n",
    "\r",
    "\0",
    "a",
  ),
});

it("keeps the number of lines and leaves no control, whatever comes", () => {
  fc.assert(
    fc.property(hostile, (raw) => {
      const { text } = plainOutput(raw);
      expect(text.split("\n").length).toBe(raw.split("\n").length);
      expect(text).not.toMatch(/[^\P{Cc}\n\t]/u);
    }),
    { numRuns: runs(1000) },
  );
});

it.each(["\u009d", "\u001b]", "\u001b[0", "\r", "\u0090\u001b", "\n"])("takes %j a hundred thousand times", (piece) => {
  const before = process.cpuUsage(); // not the time of day: the machine may be busy
  plainOutput(piece.repeat(100_000));
  expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
});
