import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { viewOf } from "./text-view.js";

const anyText = fc
  .array(fc.constantFrom("a", "é", "\n", "\r\n", "\r", "\ufeff"), { maxLength: 20 })
  .map((parts) => Buffer.from(parts.join("")));

it("leads every byte of the view back to the file, in order and without a gap", () => {
  fc.assert(
    fc.property(anyText, (file) => {
      const view = viewOf(file);
      const units = Array.from(view.bytes, (_, position) =>
        file.subarray(view.offsetOf(position), view.offsetOf(position + 1)).toString("latin1"),
      );
      const start = view.offsetOf(0);
      expect([0, 3]).toContain(start);
      expect(units.join("")).toBe(file.subarray(start).toString("latin1"));
      for (const [position, unit] of units.entries()) {
        const shown = String.fromCharCode(view.bytes[position] as number);
        expect(shown === "\n" ? ["\n", "\r\n", "\r"] : [shown]).toContain(unit);
      }
    }),
    { numRuns: runs(1000) },
  );
});

it("knows the nearest ending, in whatever order it is asked", () => {
  fc.assert(
    fc.property(anyText, fc.array(fc.nat(40), { maxLength: 6 }), (file, offsets) => {
      const { endingNear } = viewOf(file);
      const text = file.toString("latin1");
      const pattern = text.includes("\n") ? /\n/g : /\r/g;
      const all = [...text.matchAll(pattern)].map(({ index }) => index);
      for (const offset of offsets) {
        const at = all.find((index) => index >= offset) ?? all.at(-1);
        const ending = at === undefined ? undefined : text[at] === "\n" && text[at - 1] === "\r" ? "\r\n" : text[at];
        expect(endingNear(offset)).toBe(ending);
      }
    }),
    { numRuns: runs(1000) },
  );
});

it("takes a model's text in its own form", () => {
  expect(viewOf(Buffer.from("a\nb")).encode("\ufeffa\r\nb\rc").toString()).toBe("\ufeffa\nb\rc");
  expect(viewOf(Buffer.from("\ufeffa\rb")).encode("\ufeffa\r\nb\rc").toString()).toBe("a\nb\nc");
});
