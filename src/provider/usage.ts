// Tokens to usage and dollars. Every token is priced once: cached ones by their own price, reasoning as the output that
// it is, and all of a request by the tier that its prompt falls into.

import type { Usage } from "../protocol/messages.js";
import { type ModelPrices, pricesAt } from "./prices.js";

export interface TokenCounts {
  /** Prompt tokens that came from no cache. */
  input: number;
  /** Reasoning included, once. */
  output: number;
  cacheRead: number;
  /** Those of an hour included. */
  cacheWrite: number;
  /** The part of `cacheWrite` that is kept for an hour. */
  cacheWrite1h?: number;
  /** The part of `output` that is reasoning, where the service tells. */
  reasoning?: number;
  /** The service's own total, where it gives one. */
  totalTokens?: number;
  /** Dollars that the service says it has billed; they win over the price list. */
  billed?: number;
}

const free: ModelPrices = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** What a request has cost. An unknown price counts as 0. */
export function usageOf(prices: ModelPrices | undefined, counts: TokenCounts): Usage {
  const { input, output, cacheRead, cacheWrite } = counts;
  const price = pricesAt(prices ?? free, input + cacheRead + cacheWrite);
  const written1h = Math.min(cacheWrite, counts.cacheWrite1h ?? 0);
  const price1h = price.cacheWrite1h ?? 2 * price.input; // what Anthropic asks, who alone tells them apart
  const cost = {
    input: (input * price.input) / 1e6,
    output: (output * price.output) / 1e6,
    cacheRead: (cacheRead * price.cacheRead) / 1e6,
    cacheWrite: ((cacheWrite - written1h) * price.cacheWrite + written1h * price1h) / 1e6,
  };
  const total = cost.input + cost.output + cost.cacheRead + cost.cacheWrite;
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: counts.totalTokens || input + output + cacheRead + cacheWrite,
    ...(counts.reasoning ? { reasoning: Math.min(output, counts.reasoning) } : {}),
    cost: counts.billed === undefined ? { ...cost, total } : asBilled({ ...cost, total }, counts.billed),
  };
}

/** The parts stay in proportion: they are what is known of how a router's sum came about. */
function asBilled(cost: Usage["cost"], billed: number): Usage["cost"] {
  const factor = cost.total > 0 ? billed / cost.total : 0;
  return {
    input: cost.input * factor,
    output: cost.output * factor,
    cacheRead: cost.cacheRead * factor,
    cacheWrite: cost.cacheWrite * factor,
    total: billed,
  };
}

/** A count from the wire; anything that is not one reads as none. */
export function tokenCount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
