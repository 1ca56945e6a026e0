// Which thinking levels a model has, and how a requested level is fitted to them. Pure; asks nothing of the service.

import type { Model, ThinkingLevel } from "../../protocol/model.js";
import { capabilitiesOf } from "../../provider/provider.js";

export type Effort = Exclude<ThinkingLevel, "off">;

type Thinking = NonNullable<Model["thinking"]>;
type ThinkingModel = Pick<Model, "api" | "reasoning" | "thinking">;

/** Ascending. */
const efforts: readonly Effort[] = ["minimal", "low", "medium", "high", "xhigh"];

/** What the model's own metadata says, else what its API lets us assume; undefined for a model that does not reason. */
export function thinkingOf(model: ThinkingModel): Thinking | undefined {
  if (!model.reasoning) return undefined;
  if (model.thinking) return model.thinking;
  // A budget is a number, so every level can be sent. A named effort can be refused: only the three that every
  // service with efforts knows are assumed.
  return capabilitiesOf(model).takesThinkingBudget
    ? { minLevel: "minimal", maxLevel: "xhigh", mode: "budget" }
    : { minLevel: "low", maxLevel: "high", mode: "effort" };
}

/** `off` and the supported levels ascending: what can be chosen, in the order of the cycle. A model that cannot think is off. */
export function availableLevels(model: ThinkingModel): ThinkingLevel[] {
  return ["off", ...supportedEfforts(model)];
}

/**
 * The level to store for a requested one: the highest supported one not above it, else the lowest supported. `off`
 * stays `off`; undefined when none was requested, or when the model cannot think.
 */
export function clampLevel(model: ThinkingModel, level: ThinkingLevel | undefined): ThinkingLevel | undefined {
  if (level === undefined || level === "off") return level;
  const supported = supportedEfforts(model);
  return supported.findLast((effort) => efforts.indexOf(effort) <= efforts.indexOf(level)) ?? supported[0];
}

/** Behind a model's name, where the level makes a difference to it. */
export function levelSuffix(model: ThinkingModel, level: ThinkingLevel | undefined): string {
  const fitted = model.reasoning ? clampLevel(model, level) : undefined;
  return fitted === undefined ? "" : `:${fitted}`;
}

/** A level that we know by its name; a record may hold any word. */
export function levelNamed(name: string | null | undefined): ThinkingLevel | undefined {
  return (["off", ...efforts] as const).find((known) => known === name);
}

/** The level from a name's suffix; undefined where it has none. */
export function splitLevel(name: string): { name: string; level: ThinkingLevel } | undefined {
  const colon = name.lastIndexOf(":");
  const level = levelNamed(name.slice(colon + 1));
  return colon < 0 || level === undefined ? undefined : { name: name.slice(0, colon), level };
}

/** The level after `current`, wrapping; no current level counts as before `off`. Null for a model that cannot think. */
export function nextLevel(model: ThinkingModel, current: ThinkingLevel | undefined): ThinkingLevel | null {
  if (!model.reasoning) return null;
  const levels = availableLevels(model);
  const fitted = clampLevel(model, current);
  const index = fitted === undefined ? -1 : levels.indexOf(fitted);
  return levels[(index + 1) % levels.length] ?? "off";
}

function supportedEfforts(model: ThinkingModel): readonly Effort[] {
  const thinking = thinkingOf(model);
  if (!thinking) return [];
  return efforts.slice(efforts.indexOf(thinking.minLevel), efforts.indexOf(thinking.maxLevel) + 1);
}
