import { expect, it } from "vitest";
import { TimeSlices } from "./time-slices.js";

function setUp() {
  const clock = { ms: 0 };
  return { clock, slices: new TimeSlices({ sliceMs: 8, nowMs: () => clock.ms }) };
}

it("does not wait within a slice, and yields to the event loop after it", async () => {
  const { clock, slices } = setUp();
  await slices.turn();
  clock.ms = 7;
  expect(slices.turn()).toBeUndefined();
  clock.ms = 8;
  let hasTurned = false;
  setImmediate(() => {
    hasTurned = true;
  });
  await slices.turn();
  expect(hasTurned).toBe(true);
  expect(slices.turn()).toBeUndefined();
});

it("lets those who wait take turns", async () => {
  const { clock, slices } = setUp();
  const turns: string[] = [];
  const work = async (name: string) => {
    for (let step = 0; step < 3; step++) {
      await slices.turn();
      turns.push(name);
      clock.ms += 8; // all of the slice
    }
  };
  await Promise.all([work("a"), work("b"), work("c")]);
  expect(turns.join("")).toBe("abcabcabc");
});

it("is one slice for all who share it", async () => {
  const { clock, slices } = setUp();
  let turns = 0;
  const count = () => {
    turns++;
    if (turns < 100) setImmediate(count);
  };
  setImmediate(count);
  const stepsIn = new Map<number, number>();
  const work = async () => {
    for (let step = 0; step < 40; step++) {
      await slices.turn();
      clock.ms += 1;
      stepsIn.set(turns, (stepsIn.get(turns) ?? 0) + 1);
    }
  };
  await Promise.all([work(), work(), work()]);
  // Eight steps fill it; each of the three may have been let in a moment before that.
  expect(Math.max(...stepsIn.values())).toBeLessThanOrEqual(8 + 3);
});
