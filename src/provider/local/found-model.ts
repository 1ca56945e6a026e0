// What was learned of one model of a server, and the model that it makes. Every server is asked through chat
// completions, which all of them have.

import type { Environment } from "../credentials.js";
import { isLoopbackUrl } from "../models/config-checks.js";
import type { ProviderModel } from "../provider.js";
import { tokens } from "./answer-fields.js";
import type { ServerToAsk } from "./server-address.js";

export interface ModelFacts {
  readonly id: string;
  readonly contextWindow: number;
  readonly hasVision?: boolean;
  readonly canThink?: boolean;
  /** In memory now: it answers at once. */
  readonly isLoaded?: boolean;
  /** Milliseconds since the Unix epoch; absent where the server does not tell. */
  readonly changedAt?: number;
  /** The server passes requests on to another machine. */
  readonly isRemote?: boolean;
}

export interface FoundModel {
  readonly facts: ModelFacts;
  readonly model: ProviderModel;
}

export function modelOf(facts: ModelFacts, server: ServerToAsk): ProviderModel {
  const { provider, baseUrl, from, isFree = isLoopbackUrl(baseUrl) } = server;
  const { id, contextWindow, hasVision = false, canThink = false, isRemote = false } = facts;
  return {
    id,
    name: id,
    api: "openai-completions",
    provider,
    baseUrl,
    ...(from !== undefined && { baseUrlSource: from }),
    reasoning: canThink,
    // The words of chat completions that these servers know.
    ...(canThink && { thinking: { mode: "effort", minLevel: "low", maxLevel: "high", levels: { off: "none" } } }),
    input: hasVision ? ["text", "image"] : ["text"],
    ...(isFree && !isRemote && { cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }),
    contextWindow,
    // The prompt needs room in the same window.
    maxTokens: Math.max(1, Math.min(16_384, Math.floor(contextWindow / 2))),
  };
}

/** Loaded ones, then the newest. What runs on another machine comes last: it is not what the user expects of a local server. */
export function inOrderOfChoice(found: readonly FoundModel[]): FoundModel[] {
  const rank = ({ isRemote, isLoaded }: ModelFacts) => (isRemote ? 2 : isLoaded ? 0 : 1);
  return found.toSorted(({ facts: a }, { facts: b }) => rank(a) - rank(b) || (b.changedAt ?? 0) - (a.changedAt ?? 0));
}

/** A model that the user named, while its server cannot be asked about it. */
export function assumedModel(id: string, server: ServerToAsk, env: Environment): ProviderModel {
  const contextWindow = server.type === "ollama" ? usualOllamaWindow(env) : 128_000;
  return modelOf({ id, contextWindow }, server);
}

/** What Ollama runs a model with that has no window of its own. */
export function usualOllamaWindow({ OLLAMA_CONTEXT_LENGTH }: Environment): number {
  return tokens(Number(OLLAMA_CONTEXT_LENGTH)) ?? 4096;
}
