// What model calls cost, added up by model. Numbers from files and services are not trusted: anything that is not a
// plain positive number counts as nothing, so that a total can only grow.

import { isObject, type JsonObject } from "../base/json.js";
import type { Usage } from "../protocol/messages.js";
import { zeroUsage } from "../provider/provider.js";

/** By `provider/id`. */
export type UsageByModel = Readonly<Record<string, Usage>>;

/**
 * The custom entry that keeps what was billed for work that left nothing else behind, such as a failed compaction;
 * its `data` is `{usage: UsageByModel}`.
 */
export const billedUsageType = "billed_usage";

export class Bill {
  readonly #totals = new Map<string, Usage>();

  add(model: string, usage: unknown): void {
    const known = readUsage(usage);
    if (known) this.#totals.set(model, addUsage(this.#totals.get(model) ?? zeroUsage, known));
  }

  /** What another bill was kept as. */
  addAll(usageByModel: unknown): void {
    if (isObject(usageByModel)) for (const [model, usage] of Object.entries(usageByModel)) this.add(model, usage);
  }

  get total(): Usage {
    return [...this.#totals.values()].reduce(addUsage, zeroUsage);
  }

  get byModel(): UsageByModel {
    return Object.fromEntries(this.#totals);
  }

  get isEmpty(): boolean {
    return this.#totals.size === 0;
  }
}

/** Undefined when nothing was billed. */
export function readUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const counts = {
    input: amount(value.input),
    output: amount(value.output),
    cacheRead: amount(value.cacheRead),
    cacheWrite: amount(value.cacheWrite),
    totalTokens: amount(value.totalTokens),
    reasoning: amount(value.reasoning),
    premiumRequests: amount(value.premiumRequests),
  };
  const cost = readCost(isObject(value.cost) ? value.cost : {});
  const isSomething = cost.total > 0 || Object.values(counts).some((count) => count > 0);
  return isSomething ? { ...counts, cost } : undefined;
}

function readCost(value: JsonObject): Usage["cost"] {
  const parts = {
    input: amount(value.input),
    output: amount(value.output),
    cacheRead: amount(value.cacheRead),
    cacheWrite: amount(value.cacheWrite),
  };
  const sum = parts.input + parts.output + parts.cacheRead + parts.cacheWrite;
  return { ...parts, total: amount(value.total) || sum };
}

function addUsage(left: Usage, right: Usage): Usage {
  const reasoning = (left.reasoning ?? 0) + (right.reasoning ?? 0);
  return {
    input: left.input + right.input,
    output: left.output + right.output,
    cacheRead: left.cacheRead + right.cacheRead,
    cacheWrite: left.cacheWrite + right.cacheWrite,
    totalTokens: left.totalTokens + right.totalTokens,
    ...(reasoning > 0 ? { reasoning } : {}), // absent where no service told
    premiumRequests: (left.premiumRequests ?? 0) + (right.premiumRequests ?? 0),
    cost: {
      input: left.cost.input + right.cost.input,
      output: left.cost.output + right.cost.output,
      cacheRead: left.cost.cacheRead + right.cost.cacheRead,
      cacheWrite: left.cost.cacheWrite + right.cost.cacheWrite,
      total: left.cost.total + right.cost.total,
    },
  };
}

function amount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
