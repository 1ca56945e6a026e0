// A model as hosts see it. Request headers are never part of it: they can hold resolved secrets.

import Type, { type Static } from "typebox";

export const ThinkingLevel = Type.Union([
  Type.Literal("off"),
  Type.Literal("minimal"),
  Type.Literal("low"),
  Type.Literal("medium"),
  Type.Literal("high"),
  Type.Literal("xhigh"),
]);
export type ThinkingLevel = Static<typeof ThinkingLevel>;

const EffortLevel = Type.Union([
  Type.Literal("minimal"),
  Type.Literal("low"),
  Type.Literal("medium"),
  Type.Literal("high"),
  Type.Literal("xhigh"),
]);

/** Dollars per million tokens. */
export const ModelCost = Type.Object({
  input: Type.Number(),
  output: Type.Number(),
  cacheRead: Type.Number(),
  cacheWrite: Type.Number(),
});
export type ModelCost = Static<typeof ModelCost>;

export const Model = Type.Object({
  id: Type.String(),
  name: Type.String(),
  api: Type.String(),
  provider: Type.String(),
  baseUrl: Type.String(),
  reasoning: Type.Boolean(),
  input: Type.Array(Type.Union([Type.Literal("text"), Type.Literal("image")])),
  cost: ModelCost,
  contextWindow: Type.Integer(),
  maxTokens: Type.Integer(),
  thinking: Type.Optional(
    Type.Object({
      minLevel: EffortLevel,
      maxLevel: EffortLevel,
      mode: Type.Union([
        Type.Literal("effort"),
        Type.Literal("budget"),
        Type.Literal("google-level"),
        Type.Literal("anthropic-adaptive"),
        Type.Literal("anthropic-budget-effort"),
      ]),
    }),
  ),
  premiumMultiplier: Type.Optional(Type.Number()),
  preferWebsockets: Type.Optional(Type.Boolean()),
  contextPromotionTarget: Type.Optional(Type.String()),
  priority: Type.Optional(Type.Number()),
  compat: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
export type Model = Static<typeof Model>;
