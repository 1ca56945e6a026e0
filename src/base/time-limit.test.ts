import { expect, it } from "vitest";
import { runWithin } from "./time-limit.js";

it("runs the work and says that it ended", () => {
  let done = 0;
  expect(runWithin(1000, () => done++)).toBe(true);
  expect(done).toBe(1);
});

it("stops a loop and an expression that backtracks, and works again afterwards", () => {
  let rounds = 0;
  const endless = () => {
    for (;;) rounds++;
  };
  expect(runWithin(20, endless)).toBe(false);
  expect(rounds).toBeGreaterThan(0);
  const hopeless = `${"a".repeat(50)}!`;
  expect(runWithin(20, () => void /(a+)+b/.test(hopeless.replace("!", "!")))).toBe(false);
  expect(runWithin(1000, () => {})).toBe(true);
});

it("passes on what the work throws", () => {
  const error = new RangeError("mine");
  const fail = () => {
    throw error;
  };
  expect(() => runWithin(1000, fail)).toThrow(error);
});
