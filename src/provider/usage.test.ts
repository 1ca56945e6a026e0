import { expect, it } from "vitest";
import { tokenCount, usageOf } from "./usage.js";

it("prices each kind of token per million", () => {
  const usage = usageOf(
    { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    { input: 1_000_000, output: 200_000, cacheRead: 500_000, cacheWrite: 100_000 },
  );
  expect(usage.totalTokens).toBe(1_800_000);
  expect(usage.cost.input).toBeCloseTo(3);
  expect(usage.cost.output).toBeCloseTo(3);
  expect(usage.cost.cacheRead).toBeCloseTo(0.15);
  expect(usage.cost.cacheWrite).toBeCloseTo(0.375);
  expect(usage.cost.total).toBeCloseTo(6.525);
});

it("prefers the service's total and reads nonsense as none", () => {
  const rates = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  expect(usageOf(rates, { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 9 }).totalTokens).toBe(9);
  expect(usageOf(rates, { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 0 }).totalTokens).toBe(2);
  expect([7, -1, Number.NaN, Number.POSITIVE_INFINITY, "7", null].map(tokenCount)).toEqual([7, 0, 0, 0, 0, 0]);
});
