// The prices of a model in a models file: how they are checked, and how they merge with those that are known. A model
// without any price has an unknown one, which is not the same as none.

import type { JsonObject } from "../../base/json.js";
import type { ModelPrices, PriceTier } from "../provider.js";
import { array, type Check, object, optional, price, step, tokenCount, withoutMissing } from "./config-checks.js";

type Prices = Omit<ModelPrices, "tiers">;

/** What a file says; the rest is taken from what is known. */
export interface PricePatch extends Partial<Prices> {
  readonly tiers?: readonly (Partial<Prices> & Pick<PriceTier, "inputTokensAbove">)[];
}

export const freeOfCharge: ModelPrices = Object.freeze({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 });

export const readPrices: Check<PricePatch> = (value, path) => {
  const cost = object(value, path);
  const tiers = optional(cost, "tiers", { path, check: readTiers });
  return { ...readOwn(cost, path), ...(tiers === undefined ? {} : { tiers }) };
};

/** A price that is not told is 0, and in a tier that of the model. */
export function mergePrices(known: ModelPrices | undefined, told: PricePatch | undefined): ModelPrices | undefined {
  if (told === undefined) return known;
  const { tiers: knownTiers, ...before } = known ?? freeOfCharge;
  const { tiers: toldTiers, ...now } = told;
  const own = { ...before, ...now };
  const tiers = toldTiers?.map((tier) => ({ ...own, ...tier })) ?? knownTiers;
  return { ...own, ...(tiers === undefined ? {} : { tiers }) };
}

const readTiers: Check<NonNullable<PricePatch["tiers"]>> = (value, path) =>
  array(value, path).map((entry, index) => {
    const at = step(path, index);
    const tier = object(entry, at);
    return { ...readOwn(tier, at), inputTokensAbove: tokenCount(tier.inputTokensAbove, step(at, "inputTokensAbove")) };
  });

function readOwn(cost: JsonObject, path: string): Partial<Prices> {
  const at = { path, check: price };
  return withoutMissing({
    input: optional(cost, "input", at),
    output: optional(cost, "output", at),
    cacheRead: optional(cost, "cacheRead", at),
    cacheWrite: optional(cost, "cacheWrite", at),
    cacheWrite1h: optional(cost, "cacheWrite1h", at),
  });
}
