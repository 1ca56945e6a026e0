// A model as modules of pi know one: with a price in any case, and with its levels of thinking by name.

import { isObject, type JsonObject } from "../../base/json.js";
import type { ThinkingLevel } from "../../protocol/model.js";
import type { Effort, ModelThinking, ProviderModel } from "../../provider/provider.js";
import { availableLevels, thinkingOf } from "../../session/models/thinking.js";
import type { ModelSelection } from "../../session/session-extensions.js";

const efforts = ["minimal", "low", "medium", "high", "xhigh"] as const;
const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

export interface PiModel extends ProviderModel {
  readonly cost: NonNullable<ProviderModel["cost"]>;
  /** By level, the service's own word; null: not supported. */
  readonly thinkingLevelMap: Readonly<Partial<Record<ThinkingLevel, string | null>>>;
  readonly headers: Record<string, string>;
  readonly compat: JsonObject;
}

const made = new WeakMap<ProviderModel, PiModel>();

/** The same object for the same model: modules compare them. */
export function piModel(model: ProviderModel): PiModel {
  const known = made.get(model);
  if (known) return known;
  const { cost = free, headers = {}, compat = {} } = model;
  const whole = { ...model, cost, headers, compat, thinkingLevelMap: levelMapOf(model) };
  made.set(model, whole);
  made.set(whole, whole);
  return whole;
}

function levelMapOf(model: ProviderModel): PiModel["thinkingLevelMap"] {
  if (!model.reasoning) return {};
  const levels = availableLevels(model);
  const words = thinkingOf(model)?.levels ?? {};
  // What is not named there is taken for supported, except the highest.
  const named = (["off", ...efforts] as const).flatMap((level): [ThinkingLevel, string | null][] => {
    if (!levels.includes(level)) return [[level, null]];
    const word = words[level] ?? (level === "xhigh" ? level : undefined);
    return word === undefined ? [] : [[level, word]];
  });
  return Object.fromEntries(named);
}

/** What such a map means here; undefined where it says nothing. Words of a stranger: only texts and null count. */
export function thinkingFrom(
  map: unknown,
  { api, compat }: { api: string; compat: JsonObject | undefined },
): ModelThinking | undefined {
  if (!isObject(map)) return undefined;
  const mode = modeOf(api, compat);
  const wordOf = (level: Effort): unknown => (level === "xhigh" ? (map.xhigh ?? map.max ?? null) : map[level]);
  const supported = efforts.filter((level) => wordOf(level) !== null);
  const [minLevel, maxLevel] = [supported[0], supported.at(-1)];
  if (minLevel === undefined || maxLevel === undefined) return undefined;
  const inside = efforts.slice(efforts.indexOf(minLevel), efforts.indexOf(maxLevel) + 1);
  const words = [["off", map.off], ...inside.map((level) => [level, wordOf(level)])];
  return { minLevel, maxLevel, mode, levels: Object.fromEntries(words.filter(([, word]) => isWord(word))) };
}

function isWord(word: unknown): boolean {
  return word === null || (typeof word === "string" && word !== "");
}

function modeOf(api: string, compat: JsonObject | undefined): ModelThinking["mode"] {
  if (api === "anthropic-messages") return compat?.forceAdaptiveThinking ? "anthropic-adaptive" : "budget";
  return api === "google-generative-ai" ? "google-level" : "effort";
}

/** A choice with the models as modules of pi know them. */
export function shownSelection(selected: ModelSelection): ModelSelection {
  if (selected.type !== "model_select") return selected;
  const { model, previousModel } = selected;
  return { ...selected, model: piModel(model), previousModel: previousModel && piModel(previousModel) };
}
