import { describe, expect, it } from "vitest";
import { scriptedProviderModel } from "../../testing/open-session.js";
import { streamRequest } from "../../testing/scripted-replies.js";
import { estimatePrompt, fitOutput, priceOf } from "./fit-request.js";

const cost = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 };
const request = streamRequest({ ...scriptedProviderModel, cost });

describe("fitOutput", () => {
  it("leaves a request alone that nothing limits", () => {
    expect(fitOutput(request, 1000, {})).toEqual({ isPossible: true, outputTokens: Infinity });
  });

  it("gives output what input leaves of the tokens, and no less than 256", () => {
    expect(fitOutput(request, 1000, { tokens: 1300 })).toEqual({ isPossible: true, outputTokens: 300 });
    expect(fitOutput(request, 1000, { tokens: 1256 })).toEqual({ isPossible: true, outputTokens: 256 });
    expect(fitOutput(request, 1000, { tokens: 1255 })).toEqual({ isPossible: false, kind: "tokens" });
  });

  it("the same in dollars, at the price of the prompt's size", () => {
    // 1000 tokens of input cost 0.002, 300 of output 0.003.
    expect(fitOutput(request, 1000, { cost: 0.005 })).toEqual({ isPossible: true, outputTokens: 300 });
    expect(fitOutput(request, 1000, { cost: 0.004 })).toEqual({ isPossible: false, kind: "cost" });
    expect(fitOutput(request, 1000, { cost: 0.001 })).toEqual({ isPossible: false, kind: "cost" });
    const tiers = [
      { inputTokensAbove: 5000, ...cost, input: 100 },
      { inputTokensAbove: 500, ...cost, input: 4, output: 20 },
    ];
    const tiered = streamRequest({ ...scriptedProviderModel, cost: { ...cost, tiers } });
    expect(fitOutput(tiered, 1000, { cost: 0.01 })).toEqual({ isPossible: true, outputTokens: 300 });
    expect(fitOutput(tiered, 500, { cost: 0.004 })).toEqual({ isPossible: true, outputTokens: 300 });
  });

  it("the tighter limit counts", () => {
    expect(fitOutput(request, 1000, { cost: 0.005, tokens: 1280 })).toEqual({ isPossible: true, outputTokens: 280 });
    expect(fitOutput(request, 1000, { cost: 1, tokens: 1 })).toEqual({ isPossible: false, kind: "tokens" });
  });

  it("a free model fits any amount of dollars", () => {
    const free = streamRequest(scriptedProviderModel);
    expect(fitOutput(free, 1e9, { cost: 0.0001 })).toEqual({ isPossible: true, outputTokens: Infinity });
  });

  it("a request for less than 256 tokens fits where it has its room", () => {
    const small = streamRequest({ ...scriptedProviderModel, cost }, { maxTokens: 100 });
    expect(fitOutput(small, 1000, { tokens: 1100 })).toEqual({ isPossible: true, outputTokens: 100 });
    expect(fitOutput(small, 1000, { tokens: 1099 })).toEqual({ isPossible: false, kind: "tokens" });
  });
});

it("estimatePrompt counts instructions, tools and messages", () => {
  const context = { systemPrompt: "x".repeat(398), messages: [], tools: [] };
  expect(estimatePrompt(streamRequest(scriptedProviderModel, {}, context))).toBe(100);
  const messages = [{ role: "user" as const, content: "y".repeat(40), timestamp: 1 }];
  expect(estimatePrompt(streamRequest(scriptedProviderModel, {}, { ...context, messages }))).toBe(110);
});

it("priceOf prices each kind of token, and nothing where prices are not known", () => {
  const tokens = { input: 1e6, output: 1e6, cacheRead: 1e6, cacheWrite: 1e6 };
  expect(priceOf(cost, tokens)).toBeCloseTo(14.7);
  expect(priceOf(undefined, tokens)).toBe(0);
});
