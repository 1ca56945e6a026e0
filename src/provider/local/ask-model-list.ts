// The models of servers that list them as OpenAI does: llama.cpp, vLLM, and any other that a models file names.

import { basename } from "node:path";
import type { JsonObject } from "../../base/json.js";
import { name, object, objects, tokens } from "./answer-fields.js";
import type { Asker } from "./asker.js";

/** Where a server does not tell. */
const usualWindow = 128_000;

/** It serves one model. */
export const askLlamaCpp: Asker = async (ask, tell) => {
  const props = object(await ask("/props"));
  const contextWindow = tokens(object(props.default_generation_settings).n_ctx);
  if (contextWindow === undefined) return;
  const [listed] = objects(object(await ask("/v1/models")).data);
  const path = typeof props.model_path === "string" ? basename(props.model_path) : undefined;
  const id = name(listed?.id) ?? name(props.model_alias) ?? name(path);
  if (id !== undefined)
    tell({ id, contextWindow, hasVision: object(props.modalities).vision === true, isLoaded: true });
};

export const askVllm: Asker = async (ask, tell) => {
  const listed = objects(object(await ask("/v1/models")).data).filter(({ owned_by }) => owned_by === "vllm");
  // An adapter has the window of the model that it belongs to.
  const served = listed.map(({ max_model_len }) => tokens(max_model_len)).find((window) => window);
  for (const entry of listed) {
    const id = usableId(entry);
    const contextWindow = tokens(entry.max_model_len) ?? served;
    if (id !== undefined && contextWindow !== undefined) tell({ id, contextWindow, isLoaded: true });
  }
};

const windowFields = ["max_model_len", "context_length", "context_window", "max_context_length"] as const;

export const askOpenAiCompatible: Asker = async (ask, tell) => {
  for (const entry of objects(object(await ask("/models")).data)) {
    const id = usableId(entry);
    const told = windowFields.map((field) => tokens(entry[field])).find((window) => window);
    const changedAt = (tokens(entry.created) ?? 0) * 1000;
    if (id !== undefined) tell({ id, contextWindow: told ?? usualWindow, changedAt });
  }
};

/** These lists do not say what a model is for; its name mostly does. */
function usableId({ id }: JsonObject): string | undefined {
  const text = name(id);
  return text === undefined || /embed/i.test(text) ? undefined : text;
}
