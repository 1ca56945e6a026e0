// How services that speak "OpenAI chat completions" differ. Guessed from the provider's name and address; what the
// model's `compat` says explicitly wins.

import { isObject, type JsonObject } from "../../base/json.js";
import type { ProviderModel } from "../provider.js";
import type { IdRule } from "../replay.js";
import { compatFlag, isService } from "../shared-compat.js";

export const thinkingFormats = ["openai", "openrouter", "zai", "qwen", "qwen-chat-template", "deepseek"] as const;
const maxTokensFields = ["max_completion_tokens", "max_tokens"] as const;

export interface CompletionsCompat {
  supportsStore: boolean;
  supportsDeveloperRole: boolean;
  supportsReasoningEffort: boolean;
  /** Thinking level to the word that the service uses. */
  reasoningEffortMap: JsonObject;
  supportsUsageInStreaming: boolean;
  maxTokensField: (typeof maxTokensFields)[number];
  requiresToolResultName: boolean;
  requiresAssistantAfterToolResult: boolean;
  requiresThinkingAsText: boolean;
  /** A reply with calls must come back with its thoughts, or with none, in this field. */
  requiresReasoningContent: boolean;
  thinkingFormat: (typeof thinkingFormats)[number];
  supportsToolChoice: boolean;
  supportsStrictMode: boolean;
  supportsTemperature: boolean;
  supportsLongCacheRetention: boolean;
  /** Whose marks say what to cache; without it the service decides alone. */
  cacheControlFormat: "anthropic" | undefined;
  /** Merged into the body last. */
  extraBody: JsonObject;
  openRouterRouting: JsonObject | undefined;
  vercelGatewayRouting: JsonObject | undefined;
  toolCallIds: IdRule;
}

const openAiIds: IdRule = { fits: /^[a-zA-Z0-9_-]{1,40}$/, make: (n) => `call_${n}` };
const mistralIds: IdRule = { fits: /^[a-zA-Z0-9]{9}$/, make: (n) => `c${String(n).padStart(8, "0")}` };

const known = new WeakMap<ProviderModel, CompletionsCompat>();

/** Computed once per model: it is needed for every request, and a changed model is another object. */
export function completionsCompat(model: ProviderModel): CompletionsCompat {
  const before = known.get(model);
  if (before) return before;
  const compat = findCompat(model);
  known.set(model, compat);
  return compat;
}

function findCompat(model: ProviderModel): CompletionsCompat {
  const told = model.compat ?? {};
  const is = (provider: string, ...hosts: string[]) => isService(model, provider, ...hosts);
  const isOpenAi = is("openai", "api.openai.com");
  const isOpenRouter = is("openrouter", "openrouter.ai");
  const isMistral = is("mistral", "api.mistral.ai");
  const isZai = is("zai", "api.z.ai", "open.bigmodel.cn");
  const isQwen = is("qwen", "aliyuncs.com");
  const isXai = is("xai", "api.x.ai");
  const isDeepSeek = is("deepseek", "api.deepseek.com");

  const flag = (name: string, guess: boolean) => compatFlag(model, name, guess);
  const object = (name: string) => (isObject(told[name]) ? told[name] : undefined);
  return {
    supportsStore: flag("supportsStore", isOpenAi),
    supportsDeveloperRole: flag("supportsDeveloperRole", isOpenAi),
    supportsReasoningEffort: flag("supportsReasoningEffort", !(isMistral || isZai || isXai)),
    reasoningEffortMap: object("reasoningEffortMap") ?? {},
    supportsUsageInStreaming: flag("supportsUsageInStreaming", true),
    // All other services understand the old name.
    maxTokensField: oneOf(maxTokensFields, told.maxTokensField) ?? (isOpenAi ? "max_completion_tokens" : "max_tokens"),
    requiresToolResultName: flag("requiresToolResultName", isMistral),
    requiresAssistantAfterToolResult: flag("requiresAssistantAfterToolResult", false),
    requiresThinkingAsText: flag("requiresThinkingAsText", isMistral),
    requiresReasoningContent: flag("requiresReasoningContent", isDeepSeek && model.reasoning),
    thinkingFormat:
      oneOf(thinkingFormats, told.thinkingFormat) ??
      (isZai ? "zai" : isQwen ? "qwen" : isOpenRouter ? "openrouter" : isDeepSeek ? "deepseek" : "openai"),
    supportsToolChoice: flag("supportsToolChoice", true),
    supportsStrictMode: flag("supportsStrictMode", isOpenAi || isOpenRouter),
    supportsTemperature: flag("supportsTemperature", true),
    supportsLongCacheRetention: flag("supportsLongCacheRetention", true),
    cacheControlFormat:
      oneOf(["anthropic"], told.cacheControlFormat) ??
      (isOpenRouter && model.id.startsWith("anthropic/") ? "anthropic" : undefined),
    extraBody: object("extraBody") ?? {},
    openRouterRouting: object("openRouterRouting"),
    vercelGatewayRouting: object("vercelGatewayRouting"),
    toolCallIds: isMistral ? mistralIds : openAiIds,
  };
}

function oneOf<Value extends string>(values: readonly Value[], told: unknown): Value | undefined {
  return values.find((value) => value === told);
}
