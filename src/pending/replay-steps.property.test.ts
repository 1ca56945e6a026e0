// Whatever is decided in parts, edited, rebased and interrupted: the disk holds what a list of lines predicts.

import fc from "fast-check";
import { it } from "vitest";
import { runs } from "../../test/kit/runs.js";
import { Review, type Step } from "./review.test-kit.js";

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(
    "apply",
    "apply",
    "discard",
    "revise",
    "revise",
    "outside",
    "hit",
    "rebase",
    "rebase",
    "resume",
  ),
  picks: fc.array(fc.nat(20), { minLength: 4, maxLength: 4 }),
  crash: fc.constantFrom("none", "none", "none", "before", "files", "record"),
});

it("J-18: ends with the bytes that a model of the plan predicts", async () => {
  const shape = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 });
  // `npm run fault:review` gives more.
  const { REVIEW_RUNS: count = runs(1000), REVIEW_SEED: seed = "" } = process.env;
  await fc.assert(
    fc.asyncProperty(shape, fc.array(step, { maxLength: 14 }), async (files, steps) => {
      const review = await Review.open(files);
      for (const each of steps) await review.run(each);
      await review.finish();
    }),
    { numRuns: Number(count), ...(seed === "" ? {} : { seed: Number(seed) }) },
  );
}, 600_000);
