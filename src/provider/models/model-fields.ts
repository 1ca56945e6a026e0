// The fields of one model in a models file: how they are checked and how they merge.

import { isObject, type JsonObject } from "../../base/json.js";
import type { ModelThinking, ProviderModel } from "../provider.js";
import { supportedEfforts } from "../thinking-levels.js";
import {
  array,
  boolean,
  type Check,
  mismatch,
  object,
  oneOf,
  optional,
  step,
  text,
  tokenCount,
  withoutMissing,
} from "./config-checks.js";
import { type PricePatch, readPrices } from "./price-fields.js";

/** What `modelOverrides` may say of a built-in model. */
export interface ModelPatch {
  readonly fields: Partial<Omit<ProviderModel, "id" | "provider" | "baseUrl" | "api" | "cost" | "compat" | "headers">>;
  readonly cost?: PricePatch;
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
  const cost = optional(entry, "cost", { path, check: readPrices });
  return {
    fields: withoutMissing(fields),
    ...(cost === undefined ? {} : { cost }),
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

const readInput: Check<ProviderModel["input"]> = (value, path) => {
  const kinds = array(value, path).map((kind, index) => oneOf(["text", "image"])(kind, step(path, index)));
  return kinds.length > 0 ? [...new Set(kinds)] : mismatch(path, "expected at least one of text, image");
};

const readThinking: Check<ModelThinking> = (value, path) => {
  const thinking = object(value, path);
  const minLevel = oneOf(efforts)(thinking.minLevel, step(path, "minLevel"));
  const maxLevel = oneOf(efforts)(thinking.maxLevel, step(path, "maxLevel"));
  if (efforts.indexOf(minLevel) > efforts.indexOf(maxLevel))
    mismatch(step(path, "minLevel"), "expected a level not above maxLevel");
  const levels = optional(thinking, "levels", { path, check: readLevels });
  const read = { minLevel, maxLevel, mode: oneOf(thinkingModes)(thinking.mode, step(path, "mode")) };
  if (levels === undefined) return read;
  if (supportedEfforts({ ...read, levels }).length === 0)
    mismatch(step(path, "levels"), "expected at least one level from minLevel to maxLevel that is not null");
  return { ...read, levels };
};

/** Here null has a meaning: the level is not supported. */
const readLevels: Check<NonNullable<ModelThinking["levels"]>> = (value, path) => {
  const names = ["off", ...efforts] as const;
  const levels = Object.entries(object(value, path)).map(([name, word]): [string, string | null] => {
    if (!names.some((known) => known === name)) mismatch(step(path, name), `is not a level: ${names.join(", ")}`);
    return [name, word === null ? null : text(word, step(path, name))];
  });
  return Object.fromEntries(levels);
};

export const readHeaders: Check<Headers> = (value, path) => {
  const headers = Object.entries(object(value, path)).map(([name, content]): [string, string] => {
    const at = step(path, name);
    return [headerName(name, at), text(content, at)];
  });
  return Object.fromEntries(headers);
};

/** Only letters at the start: `__proto__` would be a legal header name. */
export const headerName: Check<string> = (value, path) =>
  typeof value === "string" && /^[A-Za-z][\w!#$%&'*+.^`|~-]*$/.test(value)
    ? value
    : mismatch(path, "expected a header name");

/** Known names must have the right type; others are kept, since each service family reads its own. */
export const readCompat: Check<Compat> = (value, path) => {
  const compat = object(value, path);
  for (const [name, content] of Object.entries(compat)) {
    if (name === "__proto__") mismatch(step(path, name), "is not a usable name");
    compatChecks.get(name)?.(content, step(path, name));
  }
  return compat;
};

/** The names that some dialect reads. */
export const compatNames = (): string[] => [...compatChecks.keys()];

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
  ["requiresReasoningContent", boolean],
  ["thinkingFormat", oneOf(["openai", "openrouter", "zai", "qwen", "qwen-chat-template", "deepseek"])],
  ["supportsToolChoice", boolean],
  ["supportsNamedToolChoice", boolean],
  ["supportsStrictMode", boolean],
  ["supportsTemperature", boolean],
  ["supportsLongCacheRetention", boolean],
  ["supportsEncryptedReasoning", boolean],
  ["cacheControlFormat", oneOf(["anthropic"])],
  ["sessionHeader", headerName],
  ["extraBody", object],
  ["openRouterRouting", object],
  ["vercelGatewayRouting", object],
]);
