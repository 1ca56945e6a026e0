// Paths for tests, written as a list of what was said.

import type { CompactionEntry, SessionEntry } from "../protocol/entries.js";
import type { AgentMessage, AssistantMessage, ProviderFailure, Usage } from "../protocol/messages.js";
import { type ProviderModel, zeroUsage } from "../provider/provider.js";
import type { CompactionSettings } from "../session/compaction/compaction-controller.js";
import type { RetrySettings } from "../session/retry.js";
import { defaultSessionSettings } from "../session/session-settings.js";

export const testModel: ProviderModel = {
  id: "fable-2",
  name: "Fable 2",
  api: "scripted",
  provider: "acme",
  baseUrl: "",
  reasoning: false,
  input: ["text", "image"],
  cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  contextWindow: 200_000,
  maxTokens: 16_384,
};

export const plannerTestModel: ProviderModel = {
  ...testModel,
  id: "planner",
  provider: "galley",
  api: "galley-planner",
};

export const retrySettings: RetrySettings = defaultSessionSettings.retry;

export const compactionSettings: CompactionSettings = {
  enabled: true,
  strategy: "context-full",
  thresholdPercent: -1,
  thresholdTokens: -1,
  reserveTokens: 16_384,
  keepRecentTokens: 20_000,
  autoContinue: true,
};

type Place = "id" | "parentId" | "timestamp";
export type Draft = SessionEntry extends infer Entry
  ? Entry extends SessionEntry
    ? Omit<Entry, Place>
    : never
  : never;

/** Entries with the ids e1, e2, …, each the child of the one before. */
export function chain(...drafts: Draft[]): SessionEntry[] {
  return extend([], ...drafts);
}

/** The path with more entries behind it. */
export function extend(path: readonly SessionEntry[], ...drafts: Draft[]): SessionEntry[] {
  const entries = [...path];
  for (const draft of drafts) {
    const parentId = entries.at(-1)?.id ?? null;
    const timestamp = new Date(1_767_600_000_000 + entries.length * 1000).toISOString();
    entries.push({ ...draft, id: `e${entries.length + 1}`, parentId, timestamp } as SessionEntry);
  }
  return entries;
}

export function said(message: AgentMessage): Draft {
  return { type: "message", message };
}

export function user(text: string): Draft {
  return said({ role: "user", content: [{ type: "text", text }], timestamp: 1 });
}

/** A text of that many tokens, by our estimate. */
export function words(tokens: number): string {
  return "four".repeat(tokens);
}

export function usage(input: number, output = 0): Usage {
  return { ...zeroUsage, input, output, totalTokens: input + output };
}

export function assistant(changes: Partial<AssistantMessage> = {}): AssistantMessage {
  return {
    role: "assistant",
    content: [],
    api: testModel.api,
    provider: testModel.provider,
    model: testModel.id,
    usage: zeroUsage,
    stopReason: "stop",
    timestamp: 1,
    ...changes,
  };
}

export function reply(text: string, changes: Partial<AssistantMessage> = {}): Draft {
  return said(assistant({ content: [{ type: "text", text }], ...changes }));
}

export function failed(errorMessage: string, error?: ProviderFailure): AssistantMessage {
  return assistant({ stopReason: "error", errorMessage, ...(error ? { error } : {}) });
}

export function calls(...list: { id: string; name?: string; args?: Record<string, unknown> }[]): Draft {
  return said(
    assistant({
      stopReason: "toolUse",
      content: list.map(({ id, name = "grep", args = {} }) => ({ type: "toolCall", id, name, arguments: args })),
    }),
  );
}

export function result(
  toolCallId: string,
  text: string,
  changes: { toolName?: string; details?: unknown; isError?: boolean } = {},
): Draft {
  const content = [{ type: "text" as const, text }];
  return said({ role: "toolResult", toolCallId, toolName: "grep", content, isError: false, timestamp: 1, ...changes });
}

export function compaction(
  firstKeptEntryId: string,
  changes: Partial<Pick<CompactionEntry, "summary" | "details">> = {},
): Draft {
  return { type: "compaction", summary: "Summary.", firstKeptEntryId, tokensBefore: 0, ...changes };
}

export const modelChange: Draft = { type: "model_change", model: "acme/fable-2" };
