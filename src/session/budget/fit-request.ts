// How much output a request may ask for, so that it fits what is left of a budget. Input is estimated, and priced as if
// nothing of it came from a cache: what is cached now may not be cached when the request arrives.

import { type ModelPrices, type ProviderModel, pricesAt, type StreamRequest } from "../../provider/provider.js";
import { estimateTokens } from "../context-usage.js";

/** With less output than this a request is not worth its input. */
export const leastOutput = 256;

/** What is left: dollars, tokens. Absent: no limit. */
export interface Rest {
  readonly cost?: number | undefined;
  readonly tokens?: number | undefined;
}

export type Fit =
  /** `outputTokens`: the most that fits; Infinity where nothing limits it. */
  | { readonly isPossible: true; readonly outputTokens: number }
  | { readonly isPossible: false; readonly kind: "cost" | "tokens" };

/** By the usual rule of four characters for a token. */
export function estimatePrompt({ context }: StreamRequest): number {
  const { systemPrompt, messages, tools } = context;
  const characters = systemPrompt.length + JSON.stringify(tools).length;
  return messages.reduce((sum, message) => sum + estimateTokens(message), Math.ceil(characters / 4));
}

/** What a request asks for when nothing is left out. */
export function wantedOutput({ model, options }: StreamRequest): number {
  return options.maxTokens ?? Math.min(model.maxTokens, 32_000);
}

export function fitOutput(request: StreamRequest, promptTokens: number, rest: Rest): Fit {
  const rooms = [
    { kind: "cost" as const, room: dollarRoom(request.model, promptTokens, rest.cost) },
    { kind: "tokens" as const, room: rest.tokens === undefined ? Infinity : rest.tokens - promptTokens },
  ];
  const least = Math.min(leastOutput, wantedOutput(request));
  const tight = rooms.find(({ room }) => room < least);
  if (tight) return { isPossible: false, kind: tight.kind };
  return { isPossible: true, outputTokens: Math.floor(Math.min(...rooms.map(({ room }) => room))) };
}

/** In output tokens; `Infinity` for a free model. */
function dollarRoom({ cost }: ProviderModel, promptTokens: number, rest: number | undefined): number {
  if (rest === undefined || !cost) return Infinity;
  const { input, output } = pricesAt(cost, promptTokens);
  const left = rest - (promptTokens * input) / 1e6;
  return left < 0 || output > 0 ? (left * 1e6) / output : Infinity;
}

/** What these tokens cost at the model's prices; nothing where they are not known. */
export function priceOf(
  cost: ModelPrices | undefined,
  tokens: { input: number; output: number; cacheRead: number; cacheWrite: number },
): number {
  if (!cost) return 0;
  const price = pricesAt(cost, tokens.input + tokens.cacheRead + tokens.cacheWrite);
  const names = ["input", "output", "cacheRead", "cacheWrite"] as const;
  return names.reduce((sum, name) => sum + tokens[name] * price[name], 0) / 1e6;
}
