import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { OutputChunks } from "./output-chunks.js";
import { withoutControls } from "./plain.js";

const pieces = fc.constantFrom(
  "\u001b",
  "\u001b[",
  "\u009b",
  "\u009d",
  "\u009c",
  "]",
  "[",
  "(",
  "3",
  ";",
  "m",
  "\u0007",
  "\\",
  "\n",
  "\r",
  "é",
  "日",
  "🙂",
);

it("gives the same text, wherever the bytes are cut", () => {
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), fc.array(fc.integer({ min: 1, max: 5 })), (parts, cuts) => {
      const text = parts.join("");
      const bytes = Buffer.from(text);
      const chunks = new OutputChunks();
      let shown = "";
      let from = 0;
      for (const cut of [...cuts, bytes.length]) {
        shown += chunks.push(bytes.subarray(from, from + cut));
        from += cut;
      }
      expect(shown + chunks.end()).toBe(withoutControls(text));
    }),
    { numRuns: runs(3000) },
  );
});

it("holds an endless sequence back only so long", () => {
  const chunks = new OutputChunks();
  expect(chunks.push(Buffer.from("a\u001b]0;"))).toBe("a");
  expect(chunks.push(Buffer.from("x".repeat(5000)))).toBe(`0;${"x".repeat(5000)}`);
  expect(chunks.push(Buffer.from("b"))).toBe("b");
});

it("shows what does not end as it is", () => {
  const chunks = new OutputChunks();
  expect(chunks.push(Buffer.from([0x61, 0xe6, 0x97]))).toBe("a");
  expect(chunks.end()).toBe("\ufffd");
});
