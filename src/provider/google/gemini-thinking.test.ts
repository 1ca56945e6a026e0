import { describe, expect, it } from "vitest";
import { google } from "../../testing/scripted-google.js";
import type { ModelThinking, ProviderModel, StreamOptions } from "../provider.js";
import { planThinking } from "./gemini-thinking.js";

const { signal } = new AbortController();

function plan(thinking: Partial<ModelThinking>, options: Partial<StreamOptions>, changes: Partial<ProviderModel> = {}) {
  const full: ModelThinking = { minLevel: "minimal", maxLevel: "xhigh", mode: "budget", ...thinking };
  const model = google.model("http://127.0.0.1:1", { reasoning: true, maxTokens: 65_536, thinking: full, ...changes });
  return planThinking(model, { signal, ...options });
}

describe("a budget", () => {
  it.each([
    ["minimal", 1024],
    ["low", 2048],
    ["medium", 8192],
    ["high", 16_384],
  ] as const)("for %s is %i, and its thoughts are shown", (reasoning, thinkingBudget) => {
    expect(plan({}, { reasoning })).toEqual({
      maxOutputTokens: 32_000,
      thinkingConfig: { thinkingBudget, includeThoughts: true },
    });
  });

  it("is 0 for off, or the least where the model cannot do without", () => {
    expect(plan({}, {}).thinkingConfig).toEqual({ thinkingBudget: 0 });
    expect(plan({ levels: { off: null } }, {}).thinkingConfig).toEqual({ thinkingBudget: 128 });
    expect(plan({ levels: { off: null } }, {}, { id: "gemini-2.5-flash-lite" }).thinkingConfig).toEqual({
      thinkingBudget: 512,
    });
    expect(plan({ levels: { off: "300" } }, {}).thinkingConfig).toEqual({ thinkingBudget: 300 });
  });

  it("comes from the table, then from the user, within what the model takes", () => {
    const thinkingBudgets = { high: 20_000, xhigh: 90_000, minimal: 1 };
    const budget = (reasoning: StreamOptions["reasoning"], id = "gemini-2.5-pro", thinking = {}) =>
      plan(thinking, { ...(reasoning ? { reasoning } : {}), thinkingBudgets }, { id }).thinkingConfig?.thinkingBudget;
    expect(budget("high")).toBe(20_000);
    expect(budget("high", "gemini-2.5-pro", { levels: { high: "5000" } })).toBe(5000);
    expect(budget("xhigh")).toBe(32_768);
    expect(budget("xhigh", "gemini-2.5-flash")).toBe(24_576);
    expect(budget("minimal")).toBe(128);
    expect(budget("minimal", "gemini-2.5-flash-lite")).toBe(512);
  });

  it("leaves room for the answer, within the caller's limit", () => {
    const pro = { id: "gemini-2.5-pro" };
    expect(plan({}, { reasoning: "xhigh" }, pro)).toMatchObject({
      maxOutputTokens: 33_792,
      thinkingConfig: { thinkingBudget: 32_768 },
    });
    expect(plan({}, { reasoning: "high", maxTokens: 3000 })).toMatchObject({
      maxOutputTokens: 3000,
      thinkingConfig: { thinkingBudget: 1976 },
    });
    expect(plan({}, { reasoning: "high", maxTokens: 300 })).toMatchObject({
      maxOutputTokens: 300,
      thinkingConfig: { thinkingBudget: 128 },
    });
    expect(plan({}, { reasoning: "high" }, { maxTokens: 8192 })).toMatchObject({
      maxOutputTokens: 8192,
      thinkingConfig: { thinkingBudget: 7168 },
    });
  });
});

describe("a level", () => {
  const level = (thinking: Partial<ModelThinking>, reasoning?: StreamOptions["reasoning"]) =>
    plan({ mode: "google-level", ...thinking }, reasoning ? { reasoning } : {}).thinkingConfig;

  it.each([
    ["minimal", "MINIMAL"],
    ["low", "LOW"],
    ["medium", "MEDIUM"],
    ["high", "HIGH"],
    ["xhigh", "HIGH"],
  ] as const)("%s is sent as %s, and its thoughts are shown", (reasoning, thinkingLevel) => {
    expect(level({}, reasoning)).toEqual({ thinkingLevel, includeThoughts: true });
  });

  it("is sent in the model's own word, or as the next lower one that it has", () => {
    const levels = { minimal: null, low: "LOW", medium: null, high: "DEEP" };
    expect(level({ levels }, "high")).toMatchObject({ thinkingLevel: "DEEP" });
    expect(level({ levels }, "medium")).toMatchObject({ thinkingLevel: "LOW" });
    expect(level({ levels }, "minimal")).toMatchObject({ thinkingLevel: "LOW" });
    expect(level({ maxLevel: "medium" }, "xhigh")).toMatchObject({ thinkingLevel: "MEDIUM" });
  });

  it("for off is the lowest that the model has, and shows no thoughts", () => {
    expect(level({})).toEqual({ thinkingLevel: "MINIMAL" });
    expect(level({ minLevel: "low" })).toEqual({ thinkingLevel: "LOW" });
    expect(level({ levels: { off: null, minimal: null } })).toEqual({ thinkingLevel: "LOW" });
    expect(level({ levels: { off: "NONE" } })).toEqual({ thinkingLevel: "NONE" });
  });
});

it("says nothing of thinking to a model that cannot", () => {
  expect(plan({}, { reasoning: "high" }, { reasoning: false })).toEqual({ maxOutputTokens: 32_000 });
});
