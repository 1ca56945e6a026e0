// Finds the provider for a model's API and loads it on first use, so that a run loads only one.

import { problemOfException } from "./failures.js";
import type { StreamEvent, StreamFunction, StreamRequest } from "./provider.js";

const apis: { [api: string]: () => Promise<StreamFunction> } = {
  "anthropic-messages": async () => (await import("./anthropic/anthropic-messages.js")).streamAnthropicMessages,
  "openai-completions": async () => (await import("./openai/openai-completions.js")).streamOpenAiCompletions,
  "openai-responses": async () => (await import("./openai/openai-responses.js")).streamOpenAiResponses,
  "google-generative-ai": async () => (await import("./google/google-generative-ai.js")).streamGoogleGenerativeAi,
  "galley-planner": async () => (await import("./planner/planner.js")).streamPlanner,
};

export function isSupportedApi(api: string): boolean {
  return Object.hasOwn(apis, api);
}

export async function* streamByApi(request: StreamRequest): AsyncGenerator<StreamEvent> {
  const { api, provider, id } = request.model;
  const load = isSupportedApi(api) ? apis[api] : undefined;
  if (load === undefined) {
    const errorMessage = `Unsupported api "${api}" for model ${provider}/${id}.`;
    yield { type: "error", reason: "error", errorMessage, failure: { kind: "invalid_request" } };
    return;
  }
  try {
    const stream = await load();
    yield* stream(request);
  } catch (error) {
    const { message, failure } = problemOfException(error);
    yield { type: "error", reason: "error", errorMessage: message, failure };
  }
}
