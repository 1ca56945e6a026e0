// Tokens to usage and dollars.

import type { Usage } from "../protocol/messages.js";
import type { ModelCost } from "../protocol/model.js";

export interface TokenCounts {
  /** Prompt tokens that came from no cache. */
  input: number;
  /** Reasoning included, once. */
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** The service's own total, where it gives one. */
  totalTokens?: number;
}

export function usageOf(rates: ModelCost, counts: TokenCounts): Usage {
  const { input, output, cacheRead, cacheWrite } = counts;
  const cost = {
    input: (input * rates.input) / 1e6,
    output: (output * rates.output) / 1e6,
    cacheRead: (cacheRead * rates.cacheRead) / 1e6,
    cacheWrite: (cacheWrite * rates.cacheWrite) / 1e6,
  };
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: counts.totalTokens || input + output + cacheRead + cacheWrite,
    cost: { ...cost, total: cost.input + cost.output + cost.cacheRead + cost.cacheWrite },
  };
}

/** A count from the wire; anything that is not one reads as none. */
export function tokenCount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
