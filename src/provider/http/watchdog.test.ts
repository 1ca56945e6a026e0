import fc from "fast-check";
import { expect, it } from "vitest";
import { manualClock } from "../../testing/manual-clock.js";
import { createWatchdog } from "./watchdog.js";

function watch(firstEventTimeoutMs: number, idleTimeoutMs: number) {
  const clock = manualClock();
  const errors: string[] = [];
  const watchdog = createWatchdog({
    clock,
    firstEventTimeoutMs,
    idleTimeoutMs,
    onExpired: (error) => errors.push(error.message),
  });
  return { clock, errors, watchdog };
}

it("limits the wait for the first bytes", () => {
  const { clock, errors } = watch(120_000, 60_000);
  clock.advance(119_999);
  expect(errors).toEqual([]);
  clock.advance(1);
  expect(errors).toEqual(["The service timed out: no answer within 120 s."]);
});

it("limits each silence afterwards, from its own start", () => {
  const { clock, errors, watchdog } = watch(120_000, 60_000);
  clock.advance(100_000);
  watchdog.fed();
  watchdog.waiting();
  clock.advance(59_000);
  watchdog.fed();
  watchdog.waiting();
  clock.advance(59_999);
  expect(errors).toEqual([]);
  clock.advance(1);
  expect(errors).toEqual(["The service timed out: nothing more came for 60 s."]);
});

it("does not count time while the consumer is not reading", () => {
  const { clock, errors, watchdog } = watch(1000, 1000);
  watchdog.fed();
  clock.advance(3_600_000);
  watchdog.waiting();
  clock.advance(999);
  expect(errors).toEqual([]);
});

it("is off at 0 and quiet after stop", () => {
  const off = watch(0, 0);
  off.watchdog.fed();
  off.watchdog.waiting();
  expect(off.clock.pendingTimers).toBe(0);
  const stopped = watch(10, 10);
  stopped.watchdog.stop();
  expect(stopped.clock.pendingTimers).toBe(0);
});

it("expires at the very millisecond, whatever came when, and whichever limit is the longer one", () => {
  const limit = fc.constantFrom(0, 3, 5, 8);
  const step = fc.oneof(fc.constant("fed"), fc.constant("waiting"), fc.integer({ min: 1, max: 9 }));
  fc.assert(
    fc.property(limit, limit, fc.array(step, { maxLength: 20 }), (first, idle, steps) => {
      const { clock, errors, watchdog } = watch(first, idle);
      let [limitMs, waitedMs, isWaiting] = [first, 0, true];
      for (const next of steps) {
        if (next === "fed") [limitMs, waitedMs, isWaiting] = [idle, 0, false];
        else if (next === "waiting") isWaiting = true;
        if (typeof next === "string") watchdog[next as "fed" | "waiting"]();
        for (let passed = 0; typeof next === "number" && passed < next; passed++) {
          clock.advance(1);
          if (isWaiting) waitedMs++;
          const isDue = isWaiting && limitMs > 0 && waitedMs === limitMs;
          expect(errors.length).toBe(isDue ? 1 : 0);
          if (isDue) return;
        }
      }
    }),
  );
});
