import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { analyzeExpression } from "./analyze-expression.js";
import { compileExpression } from "./expression.js";
import { sources, texts } from "./rules.test-kit.js";

describe("compileExpression", () => {
  it.each([
    // A match stays one whatever follows: nothing is left for the end.
    ["foo", { early: "foo", final: undefined, overlap: 4, literals: ["foo"], isQuick: true }],
    ["console\\.(log|debug)", { overlap: 14, literals: ["console."], isQuick: true }],
    ["a{2,4}b?", { overlap: 6, literals: [], isQuick: true }],
    ["foo(?=.*bar)", { early: "foo(?=.*bar)", final: undefined, overlap: 4096, literals: ["foo"], isQuick: false }],
    ["(?<!un)safe", { early: "(?<!un)safe", final: undefined, overlap: 5, literals: ["safe"], isQuick: true }],
    // It depends on what follows: it counts once that has come, or at the end.
    ["\\bany\\b", { early: "(?:\\bany\\b)(?=[^]{1})", final: "\\bany\\b", overlap: 4, isQuick: true }],
    ["a|b$", { early: "(?:a|b$)(?=[^]{1})", final: "a|b$", overlap: 2, literals: [] }],
    ["foo(?!bar)", { early: "(?:foo(?!bar))(?=[^]{4})", final: "foo(?!bar)", overlap: 10, literals: ["foo"] }],
    // Only the end can tell.
    ["foo(?!.*bar)", { early: undefined, final: "foo(?!.*bar)", overlap: 4096, isQuick: false }],
    ["(?<=a(?!b))c", { early: undefined, final: "(?<=a(?!b))c" }],
    // What has no limit of its own goes as far back as is looked at all.
    ["import .* from", { overlap: 4096, literals: ["import ", " from"], isQuick: false }],
    ["(a)\\1", { overlap: 4096, isQuick: false }],
    // Quick to write and slow to run.
    ["(a+)+b", { isQuick: false }],
    ["(a|a)*b", { isQuick: false }],
    ["(?:a?){30}a{30}", { isQuick: false }],
    ["a*a*a*b", { isQuick: false }],
    // The odd corners of the grammar.
    ["[\\]a(]+?x{,3}{2}", { literals: ["x{,3"] }],
    ["\\x41\\u0042\\cA\\0\\/(?<n>q)\\k<n>r", { literals: ["/", "q", "r"] }],
    ["(?:ab)+c*(?:d|e)f", { literals: ["ab", "f"] }],
    ["a{0}b", { literals: ["b"], overlap: 2 }],
  ])("%s", (source, expected) => {
    const { early, final, ...rest } = compileExpression(source);
    expect({ early: early?.source, final: final?.source, ...rest }).toMatchObject(expected);
  });

  it("throws for what is no expression", () => {
    expect(() => compileExpression("a(")).toThrow(SyntaxError);
  });

  it.each([
    "(?:^|\\b)".repeat(100),
    "(?:\\b^)".repeat(100),
    "(?:a*|b*)".repeat(60),
    `${"(?:[ab]|".repeat(80)}a${"){3}".repeat(80)}`,
    "(?:a{1,3}|a|b){3,}".repeat(30),
    `(?:${"(?:|)".repeat(60)}x)?`,
  ])("throws for one that V8 would translate for ever: %.20s", (source) => {
    expect(() => compileExpression(source)).toThrow("too complex");
  });

  it("takes what people write", () => {
    const sources = [
      "^\\s*(?:export\\s+)?(?:async\\s+)?function\\s*\\*?\\s*\\w+\\s*\\(\\s*\\w+\\s*:\\s*any\\b",
      `\\b(?:${Array.from({ length: 100 }, (_, index) => `word${index}`).join("|")})\\b`,
      "(?:https?|ftp)://[^\\s/$.?#].[^\\s]*",
      "\\b[A-Z0-9._%+-]+@[A-Z0-9.-]+\\.[A-Z]{2,}\\b",
    ];
    for (const source of sources) expect(compileExpression(source).source).toBe(source);
    expect(() => compileExpression("x".repeat(1001))).toThrow("longer than 1000 characters");
  });
});

describe("analyzeExpression", () => {
  it("names only texts that every match holds, and a reach that no match passes", () => {
    fc.assert(
      fc.property(sources, texts, (source, text) => {
        const { literals, reach } = analyzeExpression(source, 100);
        const match = new RegExp(source).exec(text)?.[0];
        if (match === undefined) return;
        expect(match.length).toBeLessThanOrEqual(reach);
        for (const literal of literals) expect(match).toContain(literal);
      }),
      { numRuns: runs(3000) },
    );
  });
});
