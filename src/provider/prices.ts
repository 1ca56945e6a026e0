// What a model asks, and which of its prices a request is billed by.

import type { ModelCost } from "../protocol/model.js";

/** Dollars per million tokens. */
export interface ModelPrices extends ModelCost {
  /** Cache entries that are kept for an hour. */
  readonly cacheWrite1h?: number;
  /** Prices by the size of the prompt: the highest tier below it prices the whole request. */
  readonly tiers?: readonly PriceTier[];
}

export interface PriceTier extends ModelCost {
  readonly inputTokensAbove: number;
  readonly cacheWrite1h?: number;
}

/** The highest tier below the whole prompt, in whatever order they are listed. */
export function pricesAt(prices: ModelPrices, promptTokens: number): ModelPrices | PriceTier {
  let found: ModelPrices | PriceTier = prices;
  let above = -1;
  for (const tier of prices.tiers ?? [])
    if (tier.inputTokensAbove < promptTokens && tier.inputTokensAbove > above) {
      found = tier;
      above = tier.inputTokensAbove;
    }
  return found;
}
