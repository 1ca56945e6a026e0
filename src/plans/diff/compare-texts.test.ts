import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { compareTexts } from "./compare-texts.js";

const compare = (before: string, after: string) => compareTexts(Buffer.from(before), Buffer.from(after));

it("finds what differs, and nothing else where lines stay between", async () => {
  expect(await compare("same", "same")).toEqual([]);
  expect(await compare("abc", "axc")).toEqual([{ start: 1, end: 2, newStart: 1, newEnd: 2 }]);
  expect(await compare("a\nkeep\nb\n", "x\nkeep\nyy\n")).toEqual([
    { start: 0, end: 2, newStart: 0, newEnd: 2 },
    { start: 7, end: 9, newStart: 7, newEnd: 10 },
  ]);
});

it("pairs a line that stays beside one that is added at the end", async () => {
  expect(await compare("one\ntwo\nthree\n", "one\n2\nthree\nfour\n")).toEqual([
    { start: 4, end: 8, newStart: 4, newEnd: 6 },
    { start: 14, end: 14, newStart: 12, newEnd: 17 },
  ]);
});

it("takes the whole middle where too much differs", async () => {
  const lines = (name: string) => Array.from({ length: 3000 }, (_, index) => `${name}${index}\n`).join("");
  const [before, after] = [lines("a"), lines("b")];
  const [first, ...others] = await compare(before, after);
  expect([first?.start, first?.newStart, others]).toEqual([0, 0, []]);
});

it("leaves equal bytes between its replacements", async () => {
  const text = fc.array(fc.constantFrom("a\n", "b\n", "\u00e9\n", "c"), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(text, text, async (oldLines, newLines) => {
      const [before, after] = [Buffer.from(oldLines.join("")), Buffer.from(newLines.join(""))];
      const pieces: Buffer[] = [];
      let position = 0;
      for (const { start, end, newStart, newEnd } of await compareTexts(before, after)) {
        expect(end > start || newEnd > newStart).toBe(true);
        pieces.push(before.subarray(position, start), after.subarray(newStart, newEnd));
        position = end;
      }
      expect(Buffer.concat([...pieces, before.subarray(position)])).toEqual(after);
    }),
    { numRuns: runs(1000) },
  );
});
