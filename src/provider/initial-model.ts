// The model a session starts with, from what the command line names. A name is never answered with another model.

import { GalleyError } from "../base/errors.js";
import type { ThinkingLevel } from "../protocol/model.js";
import type { ModelRegistry, RequestedModel } from "./model-registry.js";
import { problemText } from "./models-file.js";
import type { ProviderModel } from "./provider.js";

export interface InitialModel {
  /** Absent when nothing is usable and the planner is disabled. */
  model?: ProviderModel;
  thinkingLevel?: ThinkingLevel;
}

/**
 * A known model without a credential is fine here: the first prompt says so. Throws `model_not_found` for a name that
 * means nothing, and `invalid_config` when the models file is broken where the named model depends on it.
 */
export function chooseInitialModel(registry: ModelRegistry, requested: RequestedModel): InitialModel {
  const { provider, model } = requested;
  if (provider === undefined && model === undefined) {
    const first = registry.available()[0];
    return first ? { model: first } : {};
  }
  const selection = registry.selectRequested(requested);
  if (selection === undefined) {
    const asGiven = [provider, model].filter((part) => part !== undefined).join("/");
    throw new GalleyError("model_not_found", `Model not found: ${asGiven}`);
  }
  const problem = registry.problemsConcerning(requested)[0];
  if (problem) throw new GalleyError("invalid_config", problemText(problem));
  return selection;
}
