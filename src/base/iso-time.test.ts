import fc from "fast-check";
import { expect, it } from "vitest";
import { isoTime } from "./iso-time.js";

const dayMs = 86_400_000;

it("writes what Date writes, at any moment", () => {
  const moment = fc.oneof(fc.integer({ min: 0, max: 4_102_444_800_000 }), fc.integer({ min: -8.64e15, max: 8.64e15 }));
  fc.assert(
    fc.property(moment, fc.constantFrom(0, 0.25, 0.999), (ms, part) => {
      fc.pre(Math.abs(ms + part) <= 8.64e15);
      expect(isoTime(ms + part)).toBe(new Date(ms + part).toISOString());
    }),
    { numRuns: 2000 },
  );
});

it("knows every day of four hundred years, and the borders", () => {
  for (let day = 0; day < 146_097; day++)
    if (isoTime(day * dayMs) !== new Date(day * dayMs).toISOString()) expect(day).toBe("right");
  for (const ms of [-1, 0, 253_402_300_799_999, 253_402_300_800_000])
    expect(isoTime(ms)).toBe(new Date(ms).toISOString());
  expect(() => isoTime(Number.NaN)).toThrow(RangeError);
});
