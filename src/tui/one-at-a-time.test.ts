import { expect, it } from "vitest";
import { oneAtATime } from "./one-at-a-time.js";

it("looks once more after all that was asked meanwhile, and never twice at a time", async () => {
  const ends: (() => void)[] = [];
  const ask = oneAtATime(() => new Promise((resolve) => ends.push(resolve)));
  const end = async () => {
    ends.at(-1)?.();
    await Promise.resolve();
    await Promise.resolve();
  };
  ask();
  ask();
  ask();
  expect(ends).toHaveLength(1);
  await end();
  expect(ends).toHaveLength(2);
  await end();
  expect(ends).toHaveLength(2);
  ask();
  expect(ends).toHaveLength(3);
});
