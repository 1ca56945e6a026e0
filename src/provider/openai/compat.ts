// How services that speak "OpenAI chat completions" differ. Guessed from the provider's name and address; what the
// model's `compat` says explicitly wins.

import { isObject, type JsonObject } from "../../base/json.js";
import type { ProviderModel } from "../provider.js";
import type { IdRule } from "../replay.js";

const thinkingFormats = ["openai", "openrouter", "zai", "qwen", "qwen-chat-template"] as const;
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
  thinkingFormat: (typeof thinkingFormats)[number];
  supportsToolChoice: boolean;
  supportsStrictMode: boolean;
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
  const is = (provider: string, ...hosts: string[]) =>
    model.provider === provider || hosts.some((host) => hasHost(model.baseUrl, host));
  const isOpenAi = is("openai", "api.openai.com");
  const isOpenRouter = is("openrouter", "openrouter.ai");
  const isMistral = is("mistral", "api.mistral.ai");
  const isZai = is("zai", "api.z.ai", "open.bigmodel.cn");
  const isQwen = is("qwen", "aliyuncs.com");
  const isXai = is("xai", "api.x.ai");

  const flag = (name: string, guess: boolean) => (typeof told[name] === "boolean" ? told[name] : guess);
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
    thinkingFormat:
      oneOf(thinkingFormats, told.thinkingFormat) ??
      (isZai ? "zai" : isQwen ? "qwen" : isOpenRouter ? "openrouter" : "openai"),
    supportsToolChoice: flag("supportsToolChoice", true),
    supportsStrictMode: flag("supportsStrictMode", isOpenAi || isOpenRouter),
    extraBody: object("extraBody") ?? {},
    openRouterRouting: object("openRouterRouting"),
    vercelGatewayRouting: object("vercelGatewayRouting"),
    toolCallIds: isMistral ? mistralIds : openAiIds,
  };
}

function oneOf<Value extends string>(values: readonly Value[], told: unknown): Value | undefined {
  return values.find((value) => value === told);
}

function hasHost(url: string, host: string): boolean {
  const name = /^[a-z]+:\/\/([^/:?#]+)/i.exec(url)?.[1]?.toLowerCase();
  return name === host || name?.endsWith(`.${host}`) === true;
}
