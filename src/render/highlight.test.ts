import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { highlight, languageOf } from "./highlight.js";

const source = 'const a = "x"; // done\nreturn 1;';

describe("highlight", () => {
  test("finds keywords, strings, comments and numbers", () => {
    const tokens = highlight(source, "typescript").map(({ start, end, kind }) => [kind, source.slice(start, end)]);
    expect(tokens).toEqual([
      ["keyword", "const"],
      ["string", '"x"'],
      ["comment", "// done"],
      ["keyword", "return"],
      ["number", "1"],
    ]);
  });

  test("knows languages by the names of files and of fences", () => {
    expect(["a/b.ts", "x.mts", "Makefile", "py", "a.toml"].map(languageOf)).toEqual(
      ["ts", "typescript", "makefile", "py", "ini"], // aliases are names too
    );
    expect(["a.unknown", "constructor", ""].map(languageOf)).toEqual([undefined, undefined, undefined]);
    expect(highlight("text", "nothing")).toEqual([]);
  });

  test("leaves very long texts plain", () => {
    expect(highlight("1;".repeat(150_000), "js")).toEqual([]);
  });

  test("ranges ascend and do not overlap, whatever the text", () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom("ts", "py", "xml", "bash", "markdown"), (text, language) => {
        let at = 0;
        for (const { start, end } of highlight(text, language)) {
          expect(start).toBeGreaterThanOrEqual(at);
          expect(end).toBeGreaterThan(start);
          at = end;
        }
        expect(at).toBeLessThanOrEqual(text.length);
      }),
    );
  });
});
