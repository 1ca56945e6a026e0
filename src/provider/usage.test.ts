import { describe, expect, it } from "vitest";
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

describe("to the cent, by hand", () => {
  // Dollars per million: 3 in, 15 out, 0.30 from the cache, 3.75 into it for 5 minutes, 6 for an hour (2 x input).
  const prices = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
  const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

  it("prices cache writes of 5 minutes and of an hour apart", () => {
    // 20,000 for 5 minutes: 7.5 cents; 10,000 for an hour: 6 cents.
    const { cost, cacheWrite } = usageOf(prices, { ...none, cacheWrite: 30_000, cacheWrite1h: 10_000 });
    expect(cacheWrite).toBe(30_000);
    expect(cost.total).toBeCloseTo(0.135, 12);
    expect(usageOf({ ...prices, cacheWrite1h: 5 }, { ...none, cacheWrite: 10_000, cacheWrite1h: 10_000 }).cost).toEqual(
      {
        input: 0,
        output: 0,
        cacheRead: 0,
        cacheWrite: 0.05,
        total: 0.05,
      },
    );
  });

  it("never prices more writes of an hour than there are writes", () => {
    expect(usageOf(prices, { ...none, cacheWrite: 10_000, cacheWrite1h: 99_000 }).cost.total).toBeCloseTo(0.06, 12);
  });

  it("lets the whole prompt choose the tier, for all of the request", () => {
    const tiers = [
      { inputTokensAbove: 400_000, input: 9, output: 45, cacheRead: 0.9, cacheWrite: 11.25 },
      { inputTokensAbove: 200_000, input: 6, output: 22.5, cacheRead: 0.6, cacheWrite: 7.5 },
    ];
    // 200,000 in the prompt is not above 200,000: 30 cents and 6 cents out of the cache, 1.5 cents out.
    const below = usageOf({ ...prices, tiers }, { ...none, input: 100_000, cacheRead: 100_000, output: 1000 });
    expect(below.cost.total).toBeCloseTo(0.3 + 0.03 + 0.015, 12);
    // One more: 60 cents, 6.00006 cents, 2.25 cents.
    const above = usageOf({ ...prices, tiers }, { ...none, input: 100_000, cacheRead: 100_001, output: 1000 });
    expect(above.cost.total).toBeCloseTo(0.6 + 0.0600006 + 0.0225, 12);
    // Cache writes count as prompt; an hour is twice the input of the tier: 100,000 at 18 dollars, 301,000 at 11.25.
    const top = usageOf({ ...prices, tiers }, { ...none, cacheWrite: 401_000, cacheWrite1h: 100_000 });
    expect(top.cost.total).toBeCloseTo(1.8 + 3.38625, 12);
  });

  it("prices reasoning once, as the output that it is", () => {
    const usage = usageOf(prices, { ...none, input: 1000, output: 3000, reasoning: 2000 });
    expect(usage).toMatchObject({ output: 3000, reasoning: 2000, totalTokens: 4000 });
    expect(usage.cost.total).toBeCloseTo(0.003 + 0.045, 12);
    expect(usageOf(prices, { ...none, output: 5, reasoning: 9 }).reasoning).toBe(5);
    expect(usageOf(prices, { ...none, output: 5, reasoning: 0 })).not.toHaveProperty("reasoning");
  });

  it("takes the bill of a router as it is, with a price or without", () => {
    const { cost } = usageOf(prices, { ...none, input: 1000, output: 200, billed: 0.002 });
    expect(cost).toEqual({ input: 0.001, output: 0.001, cacheRead: 0, cacheWrite: 0, total: 0.002 });
    expect(usageOf(undefined, { ...none, input: 1000, billed: 0.0021 }).cost.total).toBe(0.0021);
    expect(usageOf(prices, { ...none, input: 1000, billed: 0 }).cost).toMatchObject({ input: 0, total: 0 });
    expect(usageOf(undefined, { ...none, input: 1000 }).cost.total).toBe(0);
  });
});
