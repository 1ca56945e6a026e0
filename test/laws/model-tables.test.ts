// How a row of the source becomes a row of galley's table; the same input gives the same bytes.

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
// @ts-expect-error: plain JavaScript
import { rowOf as untypedRowOf } from "../../scripts/model-rows.mjs";
import { knownProviders } from "../../src/provider/provider-list.js";
import { projectRoot } from "../kit/run-galley.js";
import { temporaryDirectory } from "../kit/temporary-directory.js";

const rowOf = untypedRowOf as (source: object, provider: object) => Record<string, unknown> | undefined;
const provider = (id: string) => knownProviders.find((known) => known.id === id) ?? {};
const cost = { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 0 };
const source = { id: "m", name: "M", input: ["text"], cost, contextWindow: 1000, maxTokens: 100 };

/** As the source has it, for a service. */
function thinking(id: string, map: object | undefined, compat: object = {}): unknown {
  const { api } = provider(id) as { api: string };
  const row = rowOf({ ...source, api, reasoning: true, thinkingLevelMap: map, compat }, provider(id));
  return row?.thinking;
}

describe("a row", () => {
  it("is a model without what its service and the defaults say", () => {
    const more = { reasoning: false, api: "openai-completions", baseUrl: "https://x", provider: "groq", type: "chat" };
    expect(rowOf({ ...source, ...more, promptCache: {} }, provider("groq"))).toEqual({
      id: "m",
      name: "M",
      cost,
      contextWindow: 1000,
      maxTokens: 100,
    });
  });

  it("fits its window, and keeps prices by size", () => {
    const tiers = [{ inputTokensAbove: 500, input: 2, output: 4, cacheRead: 0.2, cacheWrite: 0 }];
    const row = rowOf({ ...source, name: "m", maxTokens: 2000, cost: { ...cost, tiers } }, provider("groq"));
    expect(row).toMatchObject({ maxTokens: 1000, cost: { ...cost, tiers } });
    expect(row).not.toHaveProperty("name");
  });

  it("has no price where the source knows none: only what calls itself free is free", () => {
    const zero = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    expect(rowOf({ ...source, cost: zero }, provider("openrouter"))).not.toHaveProperty("cost");
    expect(rowOf({ ...source, id: "m:free", cost: zero }, provider("openrouter"))?.cost).toEqual(zero);
  });

  it.each([
    "a:batch",
    "a-batch",
    "gpt-audio",
    "x/gemini-3-pro-image",
    "deep-research-max",
    "gpt-realtime",
    "voxtral-1",
  ])("is none for %s", (id) => expect(rowOf({ ...source, id }, provider("openrouter"))).toBeUndefined());
});

describe("thinking", () => {
  const all = { off: "none", minimal: null, low: "low", medium: "medium", high: "high", xhigh: "xhigh", max: "max" };

  it("is left out where it is what galley assumes", () => {
    expect(thinking("anthropic", undefined)).toBeUndefined();
    expect(thinking("groq", undefined)).toBeUndefined();
    expect(thinking("google", undefined)).toBeUndefined();
  });

  it("has the levels that the service has, and only words that are not their own names", () => {
    expect(thinking("openai", all)).toEqual({ minLevel: "low", maxLevel: "xhigh", mode: "effort" });
    expect(thinking("openai", { ...all, off: null, xhigh: null })).toEqual({
      minLevel: "low",
      maxLevel: "xhigh",
      mode: "effort",
      levels: { off: null, xhigh: "max" },
    });
    expect(
      thinking("groq", { off: "none", minimal: null, low: null, medium: null, high: "default", xhigh: null }),
    ).toEqual({ minLevel: "high", maxLevel: "high", mode: "effort", levels: { off: "none", high: "default" } });
    expect(thinking("deepseek", { minimal: null, low: "low", medium: null, high: "high", max: "max" })).toEqual({
      minLevel: "low",
      maxLevel: "xhigh",
      mode: "effort",
      levels: { medium: null, xhigh: "max" },
    });
  });

  it("has the mode of the model", () => {
    const adaptive = { forceAdaptiveThinking: true };
    expect(thinking("anthropic", { off: null, xhigh: "xhigh", max: "max" }, adaptive)).toEqual({
      minLevel: "minimal",
      maxLevel: "xhigh",
      mode: "anthropic-adaptive",
      levels: { off: null },
    });
    expect(thinking("google", { off: null, minimal: "MINIMAL", low: null, medium: null, high: "HIGH" })).toEqual({
      minLevel: "minimal",
      maxLevel: "high",
      mode: "google-level",
      levels: { off: null, low: null, medium: null },
    });
  });
});

describe("compat", () => {
  const compatOf = (id: string, more: object) => rowOf({ ...source, ...more }, provider(id))?.compat;
  const api = "openai-completions";

  it("keeps what galley knows and would not guess", () => {
    const told = { thinkingFormat: "openrouter", supportsStrictMode: true, sendSessionAffinityHeaders: true };
    expect(compatOf("openrouter", { api, compat: told })).toEqual({ sessionHeader: "x-session-id" });
    const deep = { thinkingFormat: "deepseek", requiresReasoningContentOnAssistantMessages: true, zaiToolStream: true };
    expect(compatOf("deepseek", { api, compat: deep })).toEqual({
      thinkingFormat: "deepseek",
      requiresReasoningContent: true,
    });
    expect(compatOf("together", { api, compat: { thinkingFormat: "together" } })).toBeUndefined();
  });

  it("is that of chat completions where the source asks by another API", () => {
    const row = { api: "anthropic-messages", compat: { forceAdaptiveThinking: true, supportsTemperature: false } };
    expect(compatOf("openrouter", row)).toEqual({
      supportsTemperature: false,
      cacheControlFormat: "anthropic",
      sessionHeader: "x-session-id",
    });
    const mistral = { api: "mistral-conversations", reasoning: true, thinkingLevelMap: { off: "none", high: "high" } };
    expect(compatOf("mistral", mistral)).toEqual({ supportsReasoningEffort: true });
  });
});

it("the same input gives the same bytes", () => {
  const folder = temporaryDirectory();
  const data = join(folder, "dist/providers/data");
  mkdirSync(data, { recursive: true });
  const manifest = { name: "@earendil-works/pi-ai", version: "9.9.9", author: "A", license: "MIT" };
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ ...manifest, repository: { url: "git+https://example.com/a.git" } }),
  );
  writeFileSync(join(data, ".manifest.json"), JSON.stringify({ generatedAt: "2026-01-02T03:04:05Z" }));
  for (const { id, api } of knownProviders) {
    const rows = ["b", "a"].map((name) => [`chat:${name}`, { ...source, api, id: name }]);
    writeFileSync(join(data, `${id}.json`), JSON.stringify({ [api]: Object.fromEntries(rows) }));
  }
  const made = ["one", "two"].map((name) => {
    const out = join(folder, name);
    execFileSync(process.execPath, [join(projectRoot, "scripts/generate-models.mjs"), folder, out]);
    return Object.fromEntries(readdirSync(out).map((file) => [file, readFileSync(join(out, file), "utf8")]));
  });
  expect(made[0]).toEqual(made[1]);
  expect(Object.keys(made[0] ?? {})).toHaveLength(knownProviders.length + 1);
  const { models, ...head } = JSON.parse(made[0]?.["groq.json"] ?? "");
  expect(head).toMatchObject({ source: manifest.name, version: "9.9.9", date: "2026-01-02" });
  expect(models.map(({ id }: { id: string }) => id)).toEqual(["a", "b"]);
});
