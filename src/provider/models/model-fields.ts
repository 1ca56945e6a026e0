// The fields of one model in a models file: how they are checked and how they merge.

import { isObject, type JsonObject } from "../../base/json.js";
import type { ModelPrices, ProviderModel } from "../provider.js";
import {
  array,
  boolean,
  type Check,
  mismatch,
  object,
  oneOf,
  optional,
  price,
  step,
  text,
  tokenCount,
} from "./config-checks.js";

/** What `modelOverrides` may say of a built-in model. */
export interface ModelPatch {
  readonly fields: Partial<Omit<ProviderModel, "id" | "provider" | "baseUrl" | "api" | "cost" | "compat" | "headers">>;
  readonly cost: Partial<ModelPrices>;
  readonly compat: Compat;
  readonly headers: Headers;
}

export type Headers = Readonly<Record<string, string>>;
export type Compat = Readonly<JsonObject>;

export const patchFields = [
  "name",
  "reasoning",
  "thinking",
  "input",
  "cost",
  "contextWindow",
  "maxTokens",
  "headers",
  "compat",
];
const efforts = ["minimal", "low", "medium", "high", "xhigh"] as const;
const thinkingModes = ["effort", "budget", "google-level", "anthropic-adaptive", "anthropic-budget-effort"] as const;

export function readPatch(entry: JsonObject, path: string): ModelPatch {
  const fields = {
    name: optional(entry, "name", { path, check: text }),
    reasoning: optional(entry, "reasoning", { path, check: boolean }),
    thinking: optional(entry, "thinking", { path, check: readThinking }),
    input: optional(entry, "input", { path, check: readInput }),
    contextWindow: optional(entry, "contextWindow", { path, check: tokenCount }),
    maxTokens: optional(entry, "maxTokens", { path, check: tokenCount }),
  };
  return {
    fields: withoutMissing(fields),
    cost: optional(entry, "cost", { path, check: readCost }) ?? {},
    compat: optional(entry, "compat", { path, check: readCompat }) ?? {},
    headers: optional(entry, "headers", { path, check: readHeaders }) ?? {},
  };
}

/** The second wins; where both hold an object, their members merge. */
export function mergeCompat(base: Compat, over: Compat): Compat {
  const merged: JsonObject = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const before = merged[name];
    merged[name] = isObject(before) && isObject(value) ? { ...before, ...value } : value;
  }
  return merged;
}

/** The second wins, whatever the case of the names. */
export function mergeHeaders(base: Headers, over: Headers): Headers {
  const replaced = new Set(Object.keys(over).map((name) => name.toLowerCase()));
  const kept = Object.entries(base).filter(([name]) => !replaced.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...over };
}

const readCost: Check<Partial<ModelPrices>> = (value, path) => {
  const cost = object(value, path);
  const at = { path, check: price };
  return withoutMissing({
    input: optional(cost, "input", at),
    output: optional(cost, "output", at),
    cacheRead: optional(cost, "cacheRead", at),
    cacheWrite: optional(cost, "cacheWrite", at),
  });
};

const readInput: Check<ProviderModel["input"]> = (value, path) => {
  const kinds = array(value, path).map((kind, index) => oneOf(["text", "image"])(kind, step(path, index)));
  return kinds.length > 0 ? [...new Set(kinds)] : mismatch(path, "expected at least one of text, image");
};

const readThinking: Check<NonNullable<ProviderModel["thinking"]>> = (value, path) => {
  const thinking = object(value, path);
  const minLevel = oneOf(efforts)(thinking.minLevel, step(path, "minLevel"));
  const maxLevel = oneOf(efforts)(thinking.maxLevel, step(path, "maxLevel"));
  if (efforts.indexOf(minLevel) > efforts.indexOf(maxLevel))
    mismatch(step(path, "minLevel"), "expected a level not above maxLevel");
  return { minLevel, maxLevel, mode: oneOf(thinkingModes)(thinking.mode, step(path, "mode")) };
};

export const readHeaders: Check<Headers> = (value, path) => {
  const headers = Object.entries(object(value, path)).map(([name, content]): [string, string] => {
    // Only letters at the start: `__proto__` would be a legal header name.
    if (!/^[A-Za-z][\w!#$%&'*+.^`|~-]*$/.test(name)) mismatch(step(path, name), "expected a header name");
    return [name, text(content, step(path, name))];
  });
  return Object.fromEntries(headers);
};

/** Known names must have the right type; others are kept, since each service family reads its own. */
export const readCompat: Check<Compat> = (value, path) => {
  const compat = object(value, path);
  for (const [name, content] of Object.entries(compat)) {
    if (name === "__proto__") mismatch(step(path, name), "is not a usable name");
    compatChecks.get(name)?.(content, step(path, name));
  }
  return compat;
};

const compatChecks: ReadonlyMap<string, Check<unknown>> = new Map<string, Check<unknown>>([
  ["supportsStore", boolean],
  ["supportsDeveloperRole", boolean],
  ["supportsReasoningEffort", boolean],
  ["reasoningEffortMap", object],
  ["supportsUsageInStreaming", boolean],
  ["maxTokensField", oneOf(["max_tokens", "max_completion_tokens"])],
  ["requiresToolResultName", boolean],
  ["requiresAssistantAfterToolResult", boolean],
  ["requiresThinkingAsText", boolean],
  ["thinkingFormat", oneOf(["openai", "openrouter", "zai", "qwen", "qwen-chat-template", "deepseek"])],
  ["supportsToolChoice", boolean],
  ["supportsNamedToolChoice", boolean],
  ["supportsStrictMode", boolean],
  ["extraBody", object],
  ["openRouterRouting", object],
  ["vercelGatewayRouting", object],
]);

function withoutMissing<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
