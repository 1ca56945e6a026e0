import { expect, it } from "vitest";
import { stripInvisible } from "./invisible-text.js";

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
