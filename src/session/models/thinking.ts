// Which thinking levels a model has, and how a requested level is fitted to them. Pure; asks nothing of the service.

import type { ThinkingLevel } from "../../protocol/model.js";
import {
  canBeOff,
  capabilitiesOf,
  type Effort,
  nearestEffort,
  type ProviderModel,
  supportedEfforts,
} from "../../provider/provider.js";

type Thinking = NonNullable<ProviderModel["thinking"]>;
type ThinkingModel = Pick<ProviderModel, "api" | "reasoning" | "thinking">;

/** What the model's own metadata says, else what its API lets us assume; undefined for a model that does not reason. */
export function thinkingOf(model: ThinkingModel): Thinking | undefined {
  if (!model.reasoning) return undefined;
  if (model.thinking) return model.thinking;
  // A budget is a number, so every level can be sent. Of named efforts the highest is known to few services.
  return capabilitiesOf(model).takesThinkingBudget
    ? { minLevel: "minimal", maxLevel: "xhigh", mode: "budget" }
    : { minLevel: "minimal", maxLevel: "high", mode: "effort" };
}

/** `off`, where it can be, and the supported levels ascending: what can be chosen, in the order of the cycle. */
export function availableLevels(model: ThinkingModel): ThinkingLevel[] {
  return [...(alwaysThinks(model) ? [] : (["off"] as const)), ...effortsOf(model)];
}

/**
 * The level to store for a requested one: the highest supported one not above it, else the lowest supported. `off`
 * stays `off`, unless the model always thinks; undefined when none was requested, or when the model cannot think.
 */
export function clampLevel(model: ThinkingModel, level: ThinkingLevel | undefined): ThinkingLevel | undefined {
  if (level === undefined) return undefined;
  if (level === "off") return alwaysThinks(model) ? effortsOf(model)[0] : "off";
  return nearestEffort(effortsOf(model), level);
}

/** Behind a model's name, where the level makes a difference to it. */
export function levelSuffix(model: ThinkingModel, level: ThinkingLevel | undefined): string {
  const fitted = model.reasoning ? clampLevel(model, level) : undefined;
  return fitted === undefined ? "" : `:${fitted}`;
}

/** The level after `current`, wrapping; no current level counts as before `off`. Null for a model that cannot think. */
export function nextLevel(model: ThinkingModel, current: ThinkingLevel | undefined): ThinkingLevel | null {
  if (!model.reasoning) return null;
  const levels = availableLevels(model);
  const fitted = clampLevel(model, current);
  const index = fitted === undefined ? -1 : levels.indexOf(fitted);
  return levels[(index + 1) % levels.length] ?? "off";
}

function effortsOf(model: ThinkingModel): readonly Effort[] {
  const thinking = thinkingOf(model);
  return thinking ? supportedEfforts(thinking) : [];
}

function alwaysThinks(model: ThinkingModel): boolean {
  return model.reasoning && !canBeOff(model.thinking);
}
