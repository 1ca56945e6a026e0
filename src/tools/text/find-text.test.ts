import { describe, expect, it } from "vitest";
import { findText } from "./find-text.js";
import { viewOf } from "./text-view.js";

function find(text: string, wanted: string, all = false): number[] {
  const view = viewOf(Buffer.from(text));
  return findText({ displayPath: "src/a.ts", view, wanted: view.encode(wanted), all });
}

const failure = (text: string, wanted: string): string => {
  try {
    find(text, wanted);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("found");
};

const missing =
  "Could not find the exact text in src/a.ts. The old text must match exactly including all whitespace and newlines.";

describe("a text that is not there", () => {
  it("is answered with the closest match", () => {
    const file = "import a\n\nfunction greet(name) {\n\treturn `Hello ${name}`;\n}\n\nfunction other() {}\n";
    expect(failure(file, "function greet(name) {\n  return `Hello ${name}`;\n}\n")).toBe(
      [
        missing,
        "",
        "Closest match (95% similar) at line 3:",
        "-   return `Hello ${name}`;",
        "+ \treturn `Hello ${name}`;",
      ].join("\n"),
    );
  });

  it("never calls it the same", () => {
    expect(failure("a line of text", "a line of text\n")).toBe(
      `${missing}\n\nClosest match (99% similar) at line 1:\nThe lines are the same; what follows them is not.`,
    );
  });

  it("is answered plainly where nothing is near", () => {
    expect(failure("completely different", "zzz qqq")).toBe(missing);
    expect(failure("", "a")).toBe(missing);
    expect(failure("\ufeffabc", "\ufeff")).toBe(missing);
  });

  it("shows ten lines that differ at most, without terminal escapes", () => {
    const lines = (word: string) =>
      Array.from({ length: 14 }, (_, index) => `const value${index} = ${word};`).join("\n");
    const text = failure(lines("\u001b[31mred"), lines("rad"));
    expect(text.split("\n").slice(2, 5)).toEqual([
      "Closest match (75% similar) at line 1:",
      "- const value0 = rad;",
      "+ const value0 = red;",
    ]);
    expect(text.endsWith("\n… 4 more lines differ")).toBe(true);
  });

  it("is looked for within a bound", () => {
    // Counted by what it costs to be wrong: without bounds this takes minutes.
    const file = `${"x".repeat(5_000_000)}\n`.repeat(2) + "const a = 1;\n".repeat(500_000);
    expect(failure(file, `const b = ${"2".repeat(100_000)};\n`.repeat(20)).startsWith(missing)).toBe(true);
  });
});

describe("a text that is there more than once", () => {
  it("is shown with the lines around it", () => {
    expect(failure("first\r\nfoo()\r\nsecond\r\nthird\r\nfoo() // again", "foo()")).toBe(
      [
        "Found 2 occurrences in src/a.ts:",
        "",
        "1-first",
        "2:foo()",
        "3-second",
        "--",
        "4-third",
        "5:foo() // again",
        "",
        "Add more context lines to disambiguate.",
      ].join("\n"),
    );
  });

  it("is shown five times at most", () => {
    const text = failure("foo\n".repeat(8), "foo");
    expect(text.startsWith("Found 8 occurrences in src/a.ts:\n\n1:foo\n2-foo\n--\n1-foo\n2:foo\n3-foo\n--")).toBe(true);
    expect(text).toContain("5:foo\n6-foo\n… 3 more\n\nAdd more context lines to disambiguate.");
  });

  it("counts when it overlaps itself", () => {
    expect(failure("aaa", "aa")).toContain("Found 2 occurrences in src/a.ts:\n\n1:aaa\n--\n1:aaa\n\n");
    expect(find("aaa", "aa", true)).toEqual([0]);
  });

  it("has a limit", () => {
    expect(() => find("a".repeat(1_000_001), "a", true)).toThrow(
      "Found more than 1000000 occurrences in src/a.ts. Give a longer old_text.",
    );
  });
});
