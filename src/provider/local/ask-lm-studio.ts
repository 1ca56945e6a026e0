// The models of LM Studio, by its newer API or its older one.

import type { JsonObject } from "../../base/json.js";
import { name, object, objects, tokens } from "./answer-fields.js";
import type { Asker } from "./asker.js";
import type { ModelFacts } from "./found-model.js";

export const askLmStudio: Asker = async (ask, tell) => {
  const { models } = object(await ask("/api/v1/models"));
  const found = Array.isArray(models)
    ? objects(models).map(readNew)
    : objects(object(await ask("/api/v0/models")).data).map(readOld);
  for (const facts of found) if (facts) tell(facts);
};

function readNew({
  key,
  type,
  loaded_instances,
  max_context_length,
  capabilities,
}: JsonObject): ModelFacts | undefined {
  const id = name(key);
  const instances = objects(loaded_instances);
  const loaded = instances.map(({ config }) => tokens(object(config).context_length)).find((window) => window);
  const contextWindow = loaded ?? tokens(max_context_length);
  if (id === undefined || type !== "llm" || contextWindow === undefined) return undefined;
  return { id, contextWindow, hasVision: object(capabilities).vision === true, isLoaded: instances.length > 0 };
}

function readOld(entry: JsonObject): ModelFacts | undefined {
  const id = name(entry.id);
  const isLoaded = entry.state === "loaded";
  const loaded = isLoaded ? tokens(entry.loaded_context_length) : undefined;
  const contextWindow = loaded ?? tokens(entry.max_context_length);
  if (id === undefined || contextWindow === undefined) return undefined;
  if (entry.type !== "llm" && entry.type !== "vlm") return undefined;
  return { id, contextWindow, hasVision: entry.type === "vlm", isLoaded };
}
