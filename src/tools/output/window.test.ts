import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../test/kit/runs.js";
import { RollingBytes } from "./window.js";

it("holds the last bytes, however they came", () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 40 });
  fc.assert(
    fc.property(chunks, fc.integer({ min: 1, max: 30 }), fc.nat(40), (all, size, asked) => {
      const window = new RollingBytes(size);
      for (const chunk of all) window.append(chunk);
      const whole = Buffer.concat(all);
      const expected = (count: number) => whole.subarray(Math.max(0, whole.length - count));
      expect(window.last()).toEqual(expected(size));
      expect(window.last(asked)).toEqual(expected(Math.min(asked, size)));
    }),
    { numRuns: runs(1000) },
  );
});
