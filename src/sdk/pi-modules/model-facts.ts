// What modules of pi ask about models and replies without a request: levels, prices, keys in the environment, overflow.

import type { Usage } from "../../protocol/messages.js";
import type { ProviderModel } from "../../provider/provider.js";
import { keyNames } from "../../provider/provider-list.js";
import { usageOf } from "../../provider/usage.js";
import { type FailedReply, isOverflowError } from "../../session/overflow.js";
import { piModel } from "./pi-model.js";

const levels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
type Level = (typeof levels)[number];

/** A model of ours, or one that a module made itself. */
type AnyModel = ProviderModel & { readonly thinkingLevelMap?: Readonly<Partial<Record<Level, string | null>>> };

export function getSupportedThinkingLevels(model: AnyModel): Level[] {
  if (!model.reasoning) return ["off"];
  const map: AnyModel["thinkingLevelMap"] = model.thinkingLevelMap ?? piModel(model).thinkingLevelMap;
  // The two highest exist where they are named, the others unless they are denied.
  return levels.filter((level) =>
    level === "xhigh" || level === "max" ? typeof map?.[level] === "string" : map?.[level] !== null,
  );
}

/** The level itself, else the next above that the model has, else the next below. */
export function clampThinkingLevel(model: AnyModel, level: Level): Level {
  const supported = getSupportedThinkingLevels(model);
  const at = levels.indexOf(level);
  const above = supported.find((one) => at >= 0 && levels.indexOf(one) >= at);
  return above ?? (at >= 0 ? supported.at(-1) : supported[0]) ?? "off";
}

/** Writes the dollars into the usage, and returns them. */
export function calculateCost(model: ProviderModel, usage: Usage & { cacheWrite1h?: number }): Usage["cost"] {
  return Object.assign(usage.cost, usageOf(model.cost, usage).cost);
}

export function hasApi(model: ProviderModel, api: string): boolean {
  return model.api === api;
}

export function modelsAreEqual(a: ProviderModel | null | undefined, b: ProviderModel | null | undefined): boolean {
  return Boolean(a && b) && a?.id === b?.id && a?.provider === b?.provider;
}

/** Names of variables that are set and hold a key of the service. */
export function findEnvKeys(provider: string, env: NodeJS.ProcessEnv = process.env): string[] | undefined {
  const found = (keyNames.get(provider) ?? []).filter((name) => env[name]);
  return found.length > 0 ? found : undefined;
}

export function getEnvApiKey(provider: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const [name] = findEnvKeys(provider, env) ?? [];
  return name === undefined ? undefined : env[name];
}

export function isContextOverflow(message: FailedReply & { usage?: Usage }, contextWindow = Infinity): boolean {
  const { input = 0, cacheRead = 0 } = message.usage ?? {};
  return isOverflowError(message) || (message.stopReason === "stop" && input + cacheRead > contextWindow);
}

export interface Content {
  readonly type: string;
  readonly text?: string;
}

export function contentText(content: string | readonly Content[], separator = ""): string {
  if (typeof content === "string") return content;
  return content.flatMap(({ type, text }) => (type === "text" && text !== undefined ? [text] : [])).join(separator);
}
