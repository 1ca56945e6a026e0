import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sanitizeForTerminal } from "./sanitize.js";

describe("sanitizeForTerminal", () => {
  it.each([
    ["plain\ttext\n", "plain\ttext\n"],
    ["\u001b[31mred\u001b[0m", "red"],
    ["\u001b]0;title\u0007after", "after"],
    ["\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\", "link"],
    ["\u009b31mred", "red"],
    ["a\u202eb\u2066c", "abc"],
    ["a\rb\u0000c\u007fd\u0085e", "abcde"],
    ["\u001b\u001b[31m[31mx", "[31mx"],
    ["naïve 🙂 日本", "naïve 🙂 日本"],
  ])("%j becomes %j", (input, output) => {
    expect(sanitizeForTerminal(input)).toBe(output);
  });

  it.each(["\u009d", "\u0090", "\u001b]", "\u001b[", "\u009b0"])("is done quickly with a run of %j", (unit) => {
    // Quadratic, this would take minutes.
    expect(sanitizeForTerminal(`${unit.repeat(500_000)}end`)).toMatch(/(?:end|nd)$/);
  });

  it("leaves no control character and is idempotent", () => {
    const spiky = fc.string({
      unit: fc.constantFrom("\u001b", "[", "]", "\u009b", "3", "m", "\u0007", "\\", "\n", "a", "\u202e"),
    });
    fc.assert(
      fc.property(spiky, (text) => {
        const clean = sanitizeForTerminal(text);
        expect(clean).not.toMatch(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u);
        expect(sanitizeForTerminal(clean)).toBe(clean);
      }),
      { numRuns: 2000 },
    );
  });
});
