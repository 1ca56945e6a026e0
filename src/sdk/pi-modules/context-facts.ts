// What modules of pi ask about the entries of a session: how large they are, and where they can be cut.

import type { SessionEntry } from "../../protocol/entries.js";
import type { AgentMessage, Usage } from "../../protocol/messages.js";
import { messageOfEntry } from "../../record/entry-message.js";
import { entryTokens } from "../../session/context-usage.js";

export function calculateContextTokens({ totalTokens, input, output, cacheRead, cacheWrite }: Usage): number {
  return totalTokens || input + output + cacheRead + cacheWrite;
}

/** Of the last reply that came to its end. */
export function getLastAssistantUsage(entries: readonly SessionEntry[]): Usage | undefined {
  for (const entry of entries.toReversed()) {
    const message = messageOfEntry(entry);
    if (message?.role !== "assistant" || !message.usage) continue;
    if (message.stopReason !== "aborted" && message.stopReason !== "error") return message.usage;
  }
  return undefined;
}

/** None for an entry that the model is not shown. */
export function sessionEntryToContextMessages(entry: SessionEntry): AgentMessage[] {
  const message = messageOfEntry(entry);
  return message ? [message] : [];
}

export function shouldCompact(
  contextTokens: number,
  contextWindow: number,
  { enabled, reserveTokens }: { enabled: boolean; reserveTokens: number },
): boolean {
  return enabled && contextTokens > contextWindow - reserveTokens;
}

/** -1 where no turn begins between the two. */
export function findTurnStartIndex(entries: readonly SessionEntry[], index: number, start: number): number {
  for (let at = index; at >= start; at--) if (isTurnStart(entries[at])) return at;
  return -1;
}

/** The last place before which the newest entries make up that many tokens; never between a call and its result. */
export function findCutPoint(entries: readonly SessionEntry[], start: number, end: number, keepRecentTokens: number) {
  let firstKeptEntryIndex = start;
  let tokens = 0;
  for (let at = end - 1; at >= start; at--) {
    const entry = entries[at] as SessionEntry;
    tokens += entryTokens(entry);
    if (tokens < keepRecentTokens) continue;
    const rest = entries.slice(at, end).findIndex(isCut);
    firstKeptEntryIndex = rest < 0 ? start : at + rest;
    break;
  }
  const isSplitTurn = !isTurnStart(entries[firstKeptEntryIndex]) && firstKeptEntryIndex > start;
  const turnStartIndex = isSplitTurn ? findTurnStartIndex(entries, firstKeptEntryIndex, start) : -1;
  return { firstKeptEntryIndex, turnStartIndex, isSplitTurn: isSplitTurn && turnStartIndex >= 0 };
}

const starts = new Set(["user", "bashExecution", "custom", "branchSummary"]);

function isTurnStart(entry: SessionEntry | undefined): boolean {
  const role = entry && messageOfEntry(entry)?.role;
  return role !== undefined && starts.has(role);
}

function isCut(entry: SessionEntry): boolean {
  return isTurnStart(entry) || messageOfEntry(entry)?.role === "assistant";
}
