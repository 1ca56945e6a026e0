import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changedWords, type Range } from "./changed-words.js";

describe("changedWords", () => {
  test("marks the words that differ", () => {
    expect(changedWords("const total = a + b;", "const sum = a + b;")).toEqual({ old: [[6, 11]], new: [[6, 9]] });
    expect(changedWords("call(a, b)", "call(a, b, c)")).toEqual({ old: [], new: [[9, 12]] });
  });

  test("has nothing to say of equal lines and of lines without anything in common", () => {
    expect(changedWords("same", "same")).toBeUndefined();
    expect(changedWords("import fs from 'fs';", "}")).toBeUndefined();
  });

  test("compares very long lines by their ends", () => {
    const long = "x".repeat(5000);
    expect(changedWords(`${long}old${long}`, `${long}new${long}`)).toEqual({
      old: [[5000, 5003]],
      new: [[5000, 5003]],
    });
  });

  test("what is not marked is the same text on both sides", () => {
    const unmarked = (text: string, ranges: readonly Range[]) => {
      let [rest, at] = ["", 0];
      for (const [start, end] of ranges) {
        rest += text.slice(at, start);
        at = end;
      }
      return rest + text.slice(at);
    };
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (before, after) => {
        const words = changedWords(before, after);
        if (words) expect(unmarked(before, words.old)).toBe(unmarked(after, words.new));
      }),
    );
  });
});
