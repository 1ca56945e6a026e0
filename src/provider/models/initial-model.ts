// The model a session starts with: what the command line names, else what the settings prefer, else the first that can
// be used. A name on the command line is never answered with another model.

import { GalleyError } from "../../base/errors.js";
import type { ThinkingLevel } from "../../protocol/model.js";
import type { ProviderModel } from "../provider.js";
import type { ModelRegistry, RequestedModel } from "./model-registry.js";
import { problemText } from "./models-file.js";
import type { Selection } from "./select-model.js";

export interface InitialModel {
  /** Absent when nothing is usable and the planner is disabled. */
  model?: ProviderModel;
  thinkingLevel?: ThinkingLevel;
}

/** What decides when nothing is named. */
export interface Preferences {
  /** The user's usual model. */
  readonly usual?: Selection | undefined;
  /** What the session is to keep to; empty means anything. */
  readonly scope?: readonly Selection[];
}

/**
 * A known model without a credential is fine here: the first prompt says so. Throws `model_not_found` for a name that
 * means nothing, with like names in `details.suggestions`, and `invalid_config` when the models file is broken where the named model depends on it.
 */
export function chooseInitialModel(
  registry: ModelRegistry,
  requested: RequestedModel,
  preferences: Preferences = {},
): InitialModel {
  const { provider, model } = requested;
  if (provider === undefined && model === undefined) return preferred(registry, preferences);
  const selection = registry.selectRequested(requested);
  if (selection === undefined) {
    const asGiven = [provider, model].filter((part) => part !== undefined).join("/");
    const details = { suggestions: registry.suggest(asGiven) };
    throw new GalleyError("model_not_found", `Model not found: ${asGiven}`, { details });
  }
  const problem = registry.problemsConcerning(requested)[0];
  if (problem) throw new GalleyError("invalid_config", problemText(problem));
  return selection;
}

function preferred(registry: ModelRegistry, { usual, scope = [] }: Preferences): InitialModel {
  const isInScope = scope.length === 0 || scope.some(({ model }) => model === usual?.model);
  const candidates = [...(usual && isInScope ? [usual] : []), ...scope];
  const first = registry.usual();
  return candidates.find(({ model }) => registry.hasCredential(model)) ?? (first ? { model: first } : {});
}
