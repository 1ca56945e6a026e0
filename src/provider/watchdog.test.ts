import { expect, it } from "vitest";
import { manualClock } from "../testing/manual-clock.js";
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

it("does not count the time in which nobody reads", () => {
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
