import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findJsonProblem } from "./json-place.js";

describe("findJsonProblem", () => {
  it.each([
    ["", 0, "a value"],
    ["{a: 1}", 1, 'a name in double quotes, or "}"'],
    ['{"a" 1}', 5, '":"'],
    ['{"a": tru}', 6, "a value"],
    ['{"a": 1,}', 8, "a name in double quotes"],
    ['{"a": 1', 7, '"," or "}"'],
    ["[1 2]", 3, '"," or "]"'],
    ["[1,]", 3, "a value"],
    ["{} x", 3, "the end of the text"],
    ["{'a': 1}", 1, 'a name in double quotes, or "}"'],
    ['{"a": "b\nc"}', 6, "a value"],
  ])("%j: at %i it expects %s", (text, offset, expected) => {
    expect(findJsonProblem(text)).toEqual({ offset, expected });
  });

  it("agrees with the engine about every text", () => {
    const valid = fc.json({ maxDepth: 3 });
    const broken = fc
      .tuple(valid, fc.nat(), fc.constantFrom("", ",", "}", '"', "x", "[", " ", ":", "1"))
      .map(([text, at, put]) => text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + 1));
    fc.assert(
      fc.property(fc.oneof(valid, broken), (text) => {
        expect(findJsonProblem(text) === undefined).toBe(parses(text));
      }),
      { numRuns: 2000 },
    );
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
