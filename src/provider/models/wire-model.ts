// What hosts see of a model.

import type { Model } from "../../protocol/model.js";
import type { ProviderModel } from "../provider.js";
import { freeOfCharge } from "./price-fields.js";

/** The model as a host may see it, copied field by field: headers and extra request bodies can hold secrets. */
export function toWireModel(model: ProviderModel): Model {
  const { thinking, premiumMultiplier, preferWebsockets, contextPromotionTarget, priority } = model;
  const { extraBody: _secret, ...compat } = model.compat ?? {};
  return {
    id: model.id,
    name: model.name,
    api: model.api,
    provider: model.provider,
    baseUrl: plainAddress(model.baseUrl),
    reasoning: model.reasoning,
    input: [...model.input],
    cost: wireCost(model.cost),
    contextWindow: model.contextWindow,
    maxTokens: model.maxTokens,
    ...(thinking && { thinking: wireThinking(thinking) }),
    ...(premiumMultiplier !== undefined && { premiumMultiplier }),
    ...(preferWebsockets !== undefined && { preferWebsockets }),
    ...(contextPromotionTarget !== undefined && { contextPromotionTarget }),
    ...(priority !== undefined && { priority }),
    ...(model.compat && { compat }),
  };
}

/** An address from the environment is refused with these when it is used; a password or a key in it is not shown before. */
function plainAddress(baseUrl: string): string {
  return baseUrl.replace(/[?#].*$/s, "").replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, "$1");
}

/** An unknown price is 0 here: the shape has no other word for it. */
function wireCost({ input, output, cacheRead, cacheWrite }: Model["cost"] = freeOfCharge): Model["cost"] {
  return { input, output, cacheRead, cacheWrite };
}

function wireThinking({ minLevel, maxLevel, mode }: NonNullable<Model["thinking"]>): NonNullable<Model["thinking"]> {
  return { minLevel, maxLevel, mode };
}
