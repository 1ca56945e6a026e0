// Which thinking levels a model has, by its own metadata: from its lowest to its highest, without those that it says are
// not supported. What is sent for a level is the dialect's affair.

import type { Model, ThinkingLevel } from "../protocol/model.js";

export interface ModelThinking extends NonNullable<Model["thinking"]> {
  /** The service's own word for a level; null: the level is not supported; absent: as the mode has it. */
  readonly levels?: Readonly<Partial<Record<ThinkingLevel, string | null>>>;
}

export type Effort = Exclude<ThinkingLevel, "off">;

/** Ascending. */
export const efforts: readonly Effort[] = ["minimal", "low", "medium", "high", "xhigh"];

/** A level that we know by its name; a record may hold any word. `max` is fitted to the highest that a model has. */
export function levelNamed(name: string | null | undefined): ThinkingLevel | undefined {
  return name === "max" ? "xhigh" : (["off", ...efforts] as const).find((known) => known === name);
}

/** The level from a name's suffix; undefined where it has none. */
export function splitLevel(name: string): { name: string; level: ThinkingLevel } | undefined {
  const colon = name.lastIndexOf(":");
  const level = levelNamed(name.slice(colon + 1));
  return colon < 0 || level === undefined ? undefined : { name: name.slice(0, colon), level };
}

/** Ascending, without `off`. */
export function supportedEfforts({ minLevel, maxLevel, levels }: ModelThinking): readonly Effort[] {
  const range = efforts.slice(efforts.indexOf(minLevel), efforts.indexOf(maxLevel) + 1);
  return levels === undefined ? range : range.filter((effort) => levels[effort] !== null);
}

/** Whether the model can be asked not to think. */
export function canBeOff(thinking: ModelThinking | undefined): boolean {
  return thinking?.levels?.off !== null;
}

/** The highest of `supported` that is not above the wanted level, else the lowest. */
export function nearestEffort(supported: readonly Effort[], wanted: Effort): Effort | undefined {
  return supported.findLast((effort) => efforts.indexOf(effort) <= efforts.indexOf(wanted)) ?? supported[0];
}

/**
 * What a request asks for, as the model has it. Callers fit the level to the model's range before; here a level that is
 * not supported becomes the nearest, and no thinking becomes the least where it cannot be switched off.
 */
export function fittedLevel(thinking: ModelThinking | undefined, wanted: Effort | undefined): ThinkingLevel {
  if (thinking === undefined) return wanted ?? "off";
  if (wanted === undefined) return canBeOff(thinking) ? "off" : (supportedEfforts(thinking)[0] ?? "off");
  return thinking.levels?.[wanted] === null ? (nearestEffort(supportedEfforts(thinking), wanted) ?? "off") : wanted;
}
