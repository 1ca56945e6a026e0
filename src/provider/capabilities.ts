// What a model can do, derived from its API: code outside this folder asks for a capability, never for a vendor's name.

import type { Model } from "../protocol/model.js";

export interface ModelCapabilities {
  /** A service answers in its own words. The built-in planner does not: it is never retried, forced or asked to summarize. */
  readonly isLanguageModel: boolean;
  /** Reasoning is asked for as a number of tokens, so that every level can be sent. */
  readonly takesThinkingBudget: boolean;
  /** The service refuses a forced tool choice while the model thinks. */
  readonly forbidsForcedChoiceWhileThinking: boolean;
  /** It calls the hidden tool `undo` without being told of it. */
  readonly knowsUndo: boolean;
}

/** The API of the built-in model that needs no service. */
export const plannerApi = "galley-planner";

const standard: ModelCapabilities = {
  isLanguageModel: true,
  takesThinkingBudget: false,
  forbidsForcedChoiceWhileThinking: false,
  knowsUndo: false,
};

const byApi: Readonly<Record<string, ModelCapabilities>> = {
  [plannerApi]: { ...standard, isLanguageModel: false, knowsUndo: true },
  "anthropic-messages": { ...standard, takesThinkingBudget: true, forbidsForcedChoiceWhileThinking: true },
  "google-generative-ai": { ...standard, takesThinkingBudget: true },
};

/** For a model, or for the API that a message came from. */
export function capabilitiesOf({ api }: Pick<Model, "api">): ModelCapabilities {
  return (Object.hasOwn(byApi, api) ? byApi[api] : undefined) ?? standard;
}
