import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { oneLine, sanitizeForTerminal, stripInvisible } from "./sanitize.js";

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

describe("oneLine", () => {
  it.each([
    ["two\r\n  lines\t", "two lines"],
    ["a\u2028b\u0085c\u0000d", "a b c d"],
    ["\u001b]0;title\u0007\u001b[31mred\u202e", "red"],
    ["\u001b[31m\n", ""],
    ["0123456789", "0123456789"],
    ["0123456789a", "0123456789…"],
    ["012345678🙂", "012345678…"],
  ])("%j becomes %j", (input, output) => {
    expect(oneLine(input, 10)).toBe(output);
  });
});

describe("stripInvisible", () => {
  it.each([
    ["plain ünïcode 🙂\n", "plain ünïcode 🙂\n", ""],
    ["\ufeffstart", "start", ""],
    ["a\u200bb\u200dc\u2060d\ufeffe", "abcde", "4 zero-width characters"],
    ["a\u{e0041}\u{e0042}b", "ab", "2 tag characters"],
    ["a\u202eb\u2066c\u200fd", "abcd", "3 bidirectional controls"],
    // One selector belongs to an emoji; a long run hides a message.
    ["❤\ufe0f and ❤\ufe0f\ufe0f\ufe0f", "❤\ufe0f and ❤\ufe0f\ufe0f\ufe0f", ""],
    ["x\ufe00\ufe01\u{e0100}\u{e01ef}y", "xy", "4 variation selectors"],
    ["x\ufe00\ufe00\u200b\ufe00\ufe00y", "xy", "1 zero-width character, 4 variation selectors"],
  ])("%j becomes %j", (input, text, findings) => {
    expect(stripInvisible(input)).toEqual({ text, findings });
  });
});
