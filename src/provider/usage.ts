// Tokens to usage and dollars.

import type { Usage } from "../protocol/messages.js";
import type { ModelPrices } from "./provider.js";

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

const free: ModelPrices = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** What a request has cost. An unknown price counts as 0. */
export function usageOf(rates: ModelPrices | undefined, counts: TokenCounts): Usage {
  const { input, output, cacheRead, cacheWrite } = counts;
  const price = rates ?? free;
  const cost = {
    input: (input * price.input) / 1e6,
    output: (output * price.output) / 1e6,
    cacheRead: (cacheRead * price.cacheRead) / 1e6,
    cacheWrite: (cacheWrite * price.cacheWrite) / 1e6,
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
