// The services that galley knows by name, as data: how they are asked, where their key is found, which model is the usual
// one. Everything else of a service is in its file of the model table.

export interface KnownProvider {
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** Every model of the service is asked through this one, so that a base URL means one thing. */
  readonly api: "anthropic-messages" | "openai-completions" | "openai-responses" | "google-generative-ai";
  readonly baseUrl: string;
  /** Environment names of the key, first one first. */
  readonly keyNames: readonly string[];
  /** Those of them whose key goes out as a bearer token, whatever the API's own header is. */
  readonly bearerNames?: readonly string[];
  /** Environment names of another base URL, first one first. */
  readonly baseUrlNames: readonly string[];
  /** Usual models, the first that the table has; absent: its first row. */
  readonly defaults?: readonly string[];
  /** For small work beside the conversation. */
  readonly small?: string;
  /** Where a user creates a key. */
  readonly keyPage: string;
  /** What to ask, behind the base URL, to learn whether a key works; absent: the list of models. */
  readonly keyCheck?: string;
}

/** In the order of preference: the first with a key has the usual model. */
export const knownProviders: readonly KnownProvider[] = [
  {
    id: "anthropic",
    name: "Anthropic",
    api: "anthropic-messages",
    baseUrl: "https://api.anthropic.com",
    keyNames: ["ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"],
    bearerNames: ["ANTHROPIC_AUTH_TOKEN"],
    baseUrlNames: ["ANTHROPIC_BASE_URL"],
    defaults: ["claude-sonnet-5", "claude-sonnet-4-6"],
    small: "claude-haiku-4-5",
    keyPage: "https://platform.claude.com/settings/keys",
  },
  {
    id: "openai",
    name: "OpenAI",
    api: "openai-responses",
    baseUrl: "https://api.openai.com/v1",
    keyNames: ["OPENAI_API_KEY"],
    baseUrlNames: ["OPENAI_BASE_URL"],
    defaults: ["gpt-6-sol", "gpt-5.5"],
    small: "gpt-6-luna",
    keyPage: "https://platform.openai.com/api-keys",
  },
  {
    id: "google",
    name: "Google Gemini",
    api: "google-generative-ai",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    keyNames: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
    baseUrlNames: ["GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"],
    defaults: ["gemini-3.8-flash", "gemini-2.5-pro"],
    small: "gemini-3.5-flash-lite",
    keyPage: "https://aistudio.google.com/apikey",
  },
  {
    id: "openrouter",
    name: "OpenRouter",
    api: "openai-completions",
    baseUrl: "https://openrouter.ai/api/v1",
    keyNames: ["OPENROUTER_API_KEY"],
    baseUrlNames: ["OPENROUTER_BASE_URL"],
    defaults: ["anthropic/claude-sonnet-5", "openai/gpt-6-sol"],
    keyPage: "https://openrouter.ai/settings/keys",
    keyCheck: "/key", // its list of models needs no key
  },
  {
    id: "xai",
    name: "xAI",
    api: "openai-responses",
    baseUrl: "https://api.x.ai/v1",
    keyNames: ["XAI_API_KEY"],
    baseUrlNames: ["XAI_BASE_URL"],
    defaults: ["grok-4.7"],
    keyPage: "https://console.x.ai",
  },
  {
    id: "deepseek",
    name: "DeepSeek",
    api: "openai-completions",
    baseUrl: "https://api.deepseek.com",
    keyNames: ["DEEPSEEK_API_KEY"],
    baseUrlNames: ["DEEPSEEK_BASE_URL"],
    defaults: ["deepseek-v4-pro"],
    keyPage: "https://platform.deepseek.com/api_keys",
  },
  {
    id: "mistral",
    name: "Mistral",
    api: "openai-completions",
    baseUrl: "https://api.mistral.ai/v1",
    keyNames: ["MISTRAL_API_KEY"],
    baseUrlNames: ["MISTRAL_BASE_URL"],
    defaults: ["devstral-medium-latest"],
    keyPage: "https://console.mistral.ai/api-keys",
  },
  {
    id: "groq",
    name: "Groq",
    api: "openai-completions",
    baseUrl: "https://api.groq.com/openai/v1",
    keyNames: ["GROQ_API_KEY"],
    baseUrlNames: ["GROQ_BASE_URL"],
    defaults: ["openai/gpt-oss-120b"],
    keyPage: "https://console.groq.com/keys",
  },
  {
    id: "cerebras",
    name: "Cerebras",
    api: "openai-completions",
    baseUrl: "https://api.cerebras.ai/v1",
    keyNames: ["CEREBRAS_API_KEY"],
    baseUrlNames: ["CEREBRAS_BASE_URL"],
    defaults: ["gpt-oss-120b"],
    keyPage: "https://cloud.cerebras.ai",
  },
  {
    id: "zai",
    name: "Z.ai",
    api: "openai-completions",
    baseUrl: "https://api.z.ai/api/coding/paas/v4",
    keyNames: ["ZAI_API_KEY"],
    baseUrlNames: ["ZAI_BASE_URL"],
    defaults: ["glm-5.3"],
    keyPage: "https://z.ai/manage-apikey/apikey-list",
  },
  {
    id: "fireworks",
    name: "Fireworks",
    api: "openai-completions",
    baseUrl: "https://api.fireworks.ai/inference/v1",
    keyNames: ["FIREWORKS_API_KEY"],
    baseUrlNames: ["FIREWORKS_BASE_URL"],
    keyPage: "https://fireworks.ai/account/api-keys",
  },
  {
    id: "huggingface",
    name: "Hugging Face",
    api: "openai-completions",
    baseUrl: "https://router.huggingface.co/v1",
    keyNames: ["HUGGINGFACE_HUB_TOKEN", "HF_TOKEN"],
    baseUrlNames: ["HUGGINGFACE_BASE_URL"],
    defaults: ["deepseek-ai/DeepSeek-V4-Pro"],
    keyPage: "https://huggingface.co/settings/tokens",
  },
  {
    id: "minimax",
    name: "MiniMax",
    api: "anthropic-messages",
    baseUrl: "https://api.minimax.io/anthropic",
    keyNames: ["MINIMAX_API_KEY"],
    baseUrlNames: ["MINIMAX_BASE_URL"],
    defaults: ["MiniMax-M3"],
    keyPage: "https://platform.minimax.io/user-center/basic-information/interface-key",
  },
  {
    id: "moonshotai",
    name: "Moonshot AI",
    api: "openai-completions",
    baseUrl: "https://api.moonshot.ai/v1",
    keyNames: ["MOONSHOT_API_KEY"],
    baseUrlNames: ["MOONSHOT_BASE_URL"],
    defaults: ["kimi-k2.7-code"],
    keyPage: "https://platform.moonshot.ai/console/api-keys",
  },
  {
    id: "together",
    name: "Together AI",
    api: "openai-completions",
    baseUrl: "https://api.together.ai/v1",
    keyNames: ["TOGETHER_API_KEY"],
    baseUrlNames: ["TOGETHER_BASE_URL"],
    keyPage: "https://api.together.ai/settings/api-keys",
  },
  {
    id: "vercel-ai-gateway",
    name: "Vercel AI Gateway",
    api: "anthropic-messages",
    baseUrl: "https://ai-gateway.vercel.sh",
    keyNames: ["AI_GATEWAY_API_KEY"],
    baseUrlNames: ["AI_GATEWAY_BASE_URL"],
    defaults: ["anthropic/claude-sonnet-5"],
    keyPage: "https://vercel.com/docs/ai-gateway",
    keyCheck: "/v1/credits", // its list of models needs no key
  },
];

/** A service that usually runs on this machine and wants no key there. */
export interface LocalServer {
  readonly id: "ollama" | "lm-studio" | "llama.cpp" | "vllm";
  /** For people. */
  readonly name: string;
  readonly port: number;
  readonly baseUrlNames: readonly string[];
  readonly keyName: string;
  /** How the user gives a model of it a larger context. */
  readonly contextHint: string;
}

export const localServers: readonly LocalServer[] = [
  {
    id: "ollama",
    name: "Ollama",
    port: 11434,
    baseUrlNames: ["OLLAMA_BASE_URL", "OLLAMA_HOST"],
    keyName: "OLLAMA_API_KEY",
    contextHint: "Start it with OLLAMA_CONTEXT_LENGTH=65536, or set num_ctx.",
  },
  {
    id: "lm-studio",
    name: "LM Studio",
    port: 1234,
    baseUrlNames: ["LM_STUDIO_BASE_URL"],
    keyName: "LM_STUDIO_API_KEY",
    contextHint: "Load it with a context length of 65536.",
  },
  {
    id: "llama.cpp",
    name: "llama.cpp",
    port: 8080,
    baseUrlNames: ["LLAMA_CPP_BASE_URL"],
    keyName: "LLAMA_CPP_API_KEY",
    contextHint: "Start it with --ctx-size 65536.",
  },
  {
    id: "vllm",
    name: "vLLM",
    port: 8000,
    baseUrlNames: ["VLLM_BASE_URL"],
    keyName: "VLLM_API_KEY",
    contextHint: "Start it with --max-model-len 65536.",
  },
];

/** The environment names of each provider's key, first one first. */
export const keyNames: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...knownProviders.map(({ id, keyNames: names }) => [id, names] as const),
  ...localServers.map(({ id, keyName }) => [id, [keyName]] as const),
  // Services without a table of ours: a models file describes them, and the key may still be in the environment.
  ["github-copilot", ["COPILOT_GITHUB_TOKEN"]],
  ["litellm", ["LITELLM_API_KEY"]],
]);

/** Services that usually run on this machine and want no key there. */
export const localProviders: ReadonlySet<string> = new Set(localServers.map(({ id }) => id));

export function knownProvider(provider: string): KnownProvider | undefined {
  return knownProviders.find(({ id }) => id === provider);
}

/** The variable that users set for a service's key, where it has several. */
export function usualKeyName(provider: string): string | undefined {
  const names = keyNames.get(provider);
  return names?.find((name) => name.endsWith("_API_KEY")) ?? names?.at(-1);
}
