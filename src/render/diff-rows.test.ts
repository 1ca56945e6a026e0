import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DiffHunk } from "../protocol/diff.js";
import { blocksOf, joinPages, pairsOf, rowsOf } from "./diff-rows.js";

const hunk: DiffHunk = {
  number: 1,
  oldStart: 4,
  oldLines: 3,
  newStart: 4,
  newLines: 4,
  lines: [" first", "-const total = a;", "+const sum = a;", "+", " last", "\\ No newline at end of file"],
};

describe("rowsOf", () => {
  test("numbers the lines of both sides", () => {
    expect(rowsOf(blocksOf(hunk))).toEqual([
      { sign: " ", old: 4, new: 4, text: "first" },
      { sign: "-", old: 5, text: "const total = a;" },
      { sign: "+", new: 5, text: "const sum = a;" },
      { sign: "+", new: 6, text: "" },
      { sign: " ", old: 6, new: 7, text: "last", endsFile: true },
    ]);
  });

  test("marks changed words where it is clear which line became which", () => {
    const lines = ["-const total = a;", "+const sum = a;"];
    expect(rowsOf(blocksOf({ ...hunk, lines }))).toEqual([
      { sign: "-", old: 4, text: "const total = a;", words: [[6, 11]] },
      { sign: "+", new: 4, text: "const sum = a;", words: [[6, 9]] },
    ]);
  });

  test("tells which side lacks the last newline", () => {
    const lines = ["-a", "\\ No newline at end of file", "+a", "+b"];
    const rows = rowsOf(blocksOf({ ...hunk, oldStart: 1, newStart: 1, lines }));
    expect(rows.map(({ sign, endsFile }) => `${sign}${endsFile ?? ""}`)).toEqual(["-true", "+", "+"]);
  });

  test("a created file begins with line 1", () => {
    const created = { ...hunk, oldStart: 0, oldLines: 0, newStart: 1, lines: ["+a"] };
    expect(rowsOf(blocksOf(created))).toEqual([{ sign: "+", new: 1, text: "a" }]);
  });
});

test("pairsOf puts what was and what will be beside each other", () => {
  expect(pairsOf(blocksOf(hunk)).map(({ old, new: fresh }) => [old?.text, fresh?.text])).toEqual([
    ["first", "first"],
    ["const total = a;", "const sum = a;"],
    [undefined, ""],
    ["last", "last"],
  ]);
});

test("no line of a hunk is lost or reordered, in one column or in two", () => {
  const line = fc.tuple(fc.constantFrom(" ", "-", "+"), fc.string()).map(([sign, text]) => sign + text);
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const blocks = blocksOf({ ...hunk, lines });
      const side = (sign: string) => lines.filter((each) => each[0] !== sign).map((each) => each.slice(1));
      const rows = rowsOf(blocks);
      expect(rows.filter((row) => row.old !== undefined).map((row) => row.text)).toEqual(side("+"));
      expect(rows.filter((row) => row.new !== undefined).map((row) => row.text)).toEqual(side("-"));
      const pairs = pairsOf(blocks);
      expect(pairs.flatMap(({ old }) => (old ? [old.text] : []))).toEqual(side("+"));
      expect(pairs.flatMap((pair) => (pair.new ? [pair.new.text] : []))).toEqual(side("-"));
    }),
  );
});

test("joinPages puts a hunk together that a page's end had cut", () => {
  const file = { path: "a", kind: "modify" as const };
  const cut = { ...hunk, lines: hunk.lines.slice(0, 2) };
  const rest = { ...hunk, lines: hunk.lines.slice(2), continued: true as const };
  const second = { ...hunk, number: 2 };
  const pages = [{ files: [{ ...file, hunks: [cut] }] }, { files: [{ ...file, hunks: [rest, second] }] }];
  expect(joinPages(pages)).toEqual([{ ...file, hunks: [hunk, second] }]);
});
