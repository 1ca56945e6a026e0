// What a session consists of and what it has cost. Messages are counted in the context; tokens and dollars over every
// entry of the file, abandoned branches, failed attempts and summaries included, so that they never fall.

import { isObject, type JsonObject } from "../base/json.js";
import type { ContextUsage, SessionStats, TokenTotals } from "../protocol/data.js";
import type { SessionEntry } from "../protocol/entries.js";
import type { AgentMessage, Usage } from "../protocol/messages.js";
import { Bill, billedUsageType } from "./billing.js";

export interface StatsInput {
  readonly sessionId: string;
  readonly sessionFile?: string | undefined;
  /** Every entry of the file, on the path or not. */
  readonly entries: Iterable<SessionEntry>;
  /** The context. */
  readonly messages: readonly AgentMessage[];
  /** Absent without a model. */
  readonly contextUsage?: ContextUsage | undefined;
}

export function sessionStats({ sessionId, sessionFile, entries, messages, contextUsage }: StatsInput): SessionStats {
  const bill = new Bill();
  let compactions = 0;
  for (const entry of entries) {
    charge(bill, entry);
    if (entry.type === "compaction") compactions++;
  }
  const { total } = bill;
  return {
    sessionFile,
    sessionId,
    ...countMessages(messages),
    tokens: tokensOf(total),
    premiumRequests: total.premiumRequests ?? 0,
    cost: total.cost.total,
    contextUsage,
    compactions,
    byModel: Object.fromEntries(
      Object.entries(bill.byModel).map(([model, usage]) => [
        model,
        { tokens: tokensOf(usage), cost: usage.cost.total },
      ]),
    ),
  };
}

/** Sub-agents whose model is not told. */
const taskModel = "task";
const unknownModel = "unknown";

function charge(bill: Bill, entry: SessionEntry): void {
  switch (entry.type) {
    case "message":
      return chargeMessage(bill, entry.message);
    case "compaction":
    case "branch_summary":
      if (isObject(entry.details)) bill.addAll(entry.details.usage);
      return;
    case "custom":
      if (entry.customType === billedUsageType && isObject(entry.data)) bill.addAll(entry.data.usage);
      return;
  }
}

/** Read as it stands in the file: a message that is no longer fit for use was paid for all the same. */
function chargeMessage(bill: Bill, message: unknown): void {
  if (!isObject(message)) return;
  if (message.role === "assistant") bill.add(modelOf(message), message.usage);
  else if (message.role === "toolResult" && message.toolName === "task" && isObject(message.details))
    bill.add(taskModel, message.details.usage);
}

function modelOf({ provider, model }: JsonObject): string {
  return typeof provider === "string" && typeof model === "string" ? `${provider}/${model}` : unknownModel;
}

function countMessages(messages: readonly AgentMessage[]) {
  const counts = {
    userMessages: 0,
    assistantMessages: 0,
    toolCalls: 0,
    toolResults: 0,
    totalMessages: messages.length,
  };
  for (const message of messages) {
    if (message.role === "user") counts.userMessages++;
    else if (message.role === "toolResult") counts.toolResults++;
    else if (message.role === "assistant") {
      counts.assistantMessages++;
      counts.toolCalls += message.content.filter((block) => block.type === "toolCall").length;
    }
  }
  return counts;
}

function tokensOf({ input, output, cacheRead, cacheWrite }: Usage): TokenTotals {
  return { input, output, cacheRead, cacheWrite, total: input + output + cacheRead + cacheWrite };
}
