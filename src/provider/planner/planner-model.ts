// The built-in model that needs no key, no server and no network: a deterministic planner, not a language model.

import { type ProviderModel, plannerApi } from "../provider.js";

export const plannerModel: ProviderModel = Object.freeze({
  id: "planner",
  name: "Planner",
  api: plannerApi,
  provider: "galley",
  baseUrl: "",
  reasoning: false,
  input: ["text"] satisfies ProviderModel["input"],
  cost: Object.freeze({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }),
  contextWindow: 128_000,
  maxTokens: 16_384,
  compat: Object.freeze({ supportsToolChoice: false }),
});
