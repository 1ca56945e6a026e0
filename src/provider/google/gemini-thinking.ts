// How much a Gemini model shall think, in its own terms: a number of tokens up to Gemini 2.5, a word after it. "Off" is
// sent too, because these models think unless they are told not to.

import type { JsonObject } from "../../base/json.js";
import type { ProviderModel, StreamOptions } from "../provider.js";
import { type Effort, efforts, nearestEffort, supportedEfforts } from "../thinking-levels.js";

/** What the request says of thinking and of its length, which thoughts count towards. */
export interface ThinkingPlan {
  maxOutputTokens: number;
  thinkingConfig?: JsonObject;
}

const words = { minimal: "MINIMAL", low: "LOW", medium: "MEDIUM", high: "HIGH", xhigh: "HIGH" };
const defaultBudgets = { minimal: 1024, low: 2048, medium: 8192, high: 16_384, xhigh: 32_768 };
const leastAnswer = 1024;

export function planThinking(model: ProviderModel, options: StreamOptions): ThinkingPlan {
  const maxOutputTokens = options.maxTokens ?? Math.min(model.maxTokens, 32_000);
  if (!model.reasoning) return { maxOutputTokens };
  const level = options.reasoning === undefined ? undefined : supportedLevel(model, options.reasoning);
  if (model.thinking?.mode === "google-level")
    return { maxOutputTokens, thinkingConfig: { thinkingLevel: wordFor(model, level), ...shown(level) } };
  if (level === undefined) return { maxOutputTokens, thinkingConfig: { thinkingBudget: budgetForOff(model) } };
  return planBudget(model, options, level);
}

/** The nearest level that the model has. */
function supportedLevel({ thinking }: ProviderModel, wanted: Effort): Effort {
  return nearestEffort(thinking ? supportedEfforts(thinking) : efforts, wanted) ?? wanted;
}

/** Without thinking there is nothing to show, although the model may not be able to do entirely without it. */
function shown(level: Effort | undefined): JsonObject {
  return level === undefined ? {} : { includeThoughts: true };
}

function wordFor(model: ProviderModel, level: Effort | undefined): string {
  const levels = model.thinking?.levels;
  const off = level === undefined ? levels?.off : undefined;
  const effort = level ?? supportedLevel(model, "minimal");
  return off ?? levels?.[effort] ?? words[effort];
}

function planBudget(model: ProviderModel, { maxTokens, thinkingBudgets }: StreamOptions, level: Effort): ThinkingPlan {
  const { least, most } = budgetRange(model.id);
  const wanted = numberIn(model.thinking?.levels?.[level]) ?? thinkingBudgets?.[level] ?? defaultBudgets[level];
  const budget = Math.min(Math.max(wanted, least), most);
  // Room for the answer beside the thoughts: a longer reply where the caller has set no limit, else a smaller budget.
  const room = Math.min(model.maxTokens, Math.max(32_000, budget + leastAnswer));
  const maxOutputTokens = maxTokens ?? room;
  const thinkingBudget = Math.max(least, Math.min(budget, maxOutputTokens - leastAnswer));
  return { maxOutputTokens, thinkingConfig: { thinkingBudget, ...shown(level) } };
}

function budgetForOff({ id, thinking }: ProviderModel): number {
  const off = thinking?.levels?.off;
  return off === null ? budgetRange(id).least : (numberIn(off) ?? 0);
}

/** A budget outside of it is refused. */
function budgetRange(id: string): { least: number; most: number } {
  return { least: id.includes("flash-lite") ? 512 : 128, most: id.includes("flash") ? 24_576 : 32_768 };
}

function numberIn(word: string | null | undefined): number | undefined {
  return word && /^\d+$/.test(word) ? Number(word) : undefined;
}
