import { expect, it } from "vitest";
import { manualClock } from "../../testing/manual-clock.js";
import { compiled, withinBesideCompiling } from "./compile-time.js";

it("compiling counts against no limit, whichever module it is for", async () => {
  const clock = manualClock();
  let failure: unknown;
  withinBesideCompiling(clock, 10_000, new Promise(() => {})).catch((error: unknown) => {
    failure = error;
  });
  const { result, ms } = compiled(clock, () => {
    clock.advance(4000);
    return "body";
  });
  expect([result, ms]).toEqual(["body", 4000]);
  clock.advance(9999);
  await new Promise(setImmediate);
  expect(failure).toBeUndefined();
  clock.advance(1);
  await new Promise(setImmediate);
  expect(String(failure)).toContain("it did not finish within 10 s");
});

it("what was compiled before does not lengthen it", async () => {
  const clock = manualClock();
  compiled(clock, () => clock.advance(4000));
  const waiting = withinBesideCompiling(clock, 10_000, new Promise(() => {}));
  const failed = expect(waiting).rejects.toThrow("it did not finish within 10 s");
  clock.advance(10_000);
  await failed;
  expect(clock.pendingTimers).toBe(0);
});
