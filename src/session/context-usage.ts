// How full the context is: what the service reported last, plus an estimate of what came after. Works on the path from
// the root to the leaf, because only there it shows which reports are older than the latest compaction.

import type { InputContent } from "../protocol/content.js";
import type { ContextUsage } from "../protocol/data.js";
import type { CompactionEntry, SessionEntry } from "../protocol/entries.js";
import type { AgentMessage, AssistantMessage, Usage } from "../protocol/messages.js";
import { messageOfEntry } from "../record/entry-message.js";

export const tokensPerImage = 1200;
const charactersPerToken = 4;

export interface ThresholdSettings {
  /** Above 0: the limit itself. */
  readonly thresholdTokens: number;
  /** 1 to 99: the limit as a share of the window. */
  readonly thresholdPercent: number;
  /** Room left for the reply where neither is set. */
  readonly reserveTokens: number;
}

/** Instructions, tools and a few turns; with less, every run would end in a compaction. */
const leastLimit = 8192;

/** Above this many tokens the context is compacted. */
export function contextLimit(contextWindow: number, settings: ThresholdSettings): number {
  const { thresholdTokens, thresholdPercent, reserveTokens } = settings;
  if (contextWindow <= 0) return Number.POSITIVE_INFINITY; // the model's window is unknown
  if (thresholdTokens > 0) return Math.min(thresholdTokens, contextWindow - 1);
  if (thresholdPercent >= 1 && thresholdPercent <= 99) return Math.floor((contextWindow * thresholdPercent) / 100);
  const reserve = Math.max(reserveTokens, Math.ceil(contextWindow * 0.15));
  // A window that is hardly larger than the reserve would otherwise be full before anything was said.
  return Math.max(contextWindow - reserve, Math.min(leastLimit, Math.floor(contextWindow / 2)));
}

/**
 * `isReported`: a reply after the latest compaction told; else all of it is estimated. A list that was counted before
 * and has only grown since is counted on from there: a prompt must not pay for the whole conversation before it.
 */
export function contextTokens(path: readonly SessionEntry[]): { tokens: number; isReported: boolean } {
  const known = counts.get(path);
  const count = known && countOn(known, path) ? known : countWhole(path);
  if (count !== known) counts.set(path, count);
  return { tokens: Math.max(0, count.tokens), isReported: count.isReported };
}

interface Count {
  /** Below 0 when more was pruned than the service had reported. */
  tokens: number;
  isReported: boolean;
  /** How far the list was counted, and what stood there: a list that shrank is another one. */
  length: number;
  last: SessionEntry | undefined;
  readonly pruned: ReadonlySet<string>;
}

const counts = new WeakMap<readonly SessionEntry[], Count>();

function countWhole(path: readonly SessionEntry[]): Count {
  const report = lastReport(path);
  const pruned = prunedIds(path);
  const tokens = report
    ? report.tokens + estimateEntries(path.slice(report.index + 1), pruned) - savedSince(path, report.index)
    : estimateContext(path, path.length);
  return { tokens, isReported: report !== undefined, length: path.length, last: path.at(-1), pruned };
}

/** False for what changes more than the end of the context: the count is void then. */
function countOn(count: Count, path: readonly SessionEntry[]): boolean {
  if (path[count.length - 1] !== count.last) return false;
  for (; count.length < path.length; count.length++) {
    const entry = path[count.length] as SessionEntry;
    if (entry.type === "compaction" || entry.type === "prune") return false;
    const report = reportOf(entry);
    count.isReported ||= report !== undefined;
    count.tokens = report ?? count.tokens + entryTokens(entry, count.pruned);
    count.last = entry;
  }
  return true;
}

/**
 * How many times estimates of this conversation fall short of what the service counted: 1 or more.
 * `overheadTokens` estimates what every request carries besides messages (system prompt and tools).
 */
export function estimateRatio(path: readonly SessionEntry[], overheadTokens: number): number {
  const report = lastReport(path);
  if (!report) return 1;
  const estimate = estimateContext(path, report.index + 1) + savedSince(path, report.index) + overheadTokens;
  // Above 4 it is no longer the language of the text, but something we cannot see.
  return Math.min(Math.max(report.tokens / estimate, 1), 4);
}

/** What hosts are told; null right after a compaction, until there is a reply. One that tells nothing is estimated. */
export function contextUsage(path: readonly SessionEntry[], contextWindow: number): ContextUsage {
  const { tokens, isReported } = contextTokens(path);
  if (!isReported && isFreshlyCompacted(path)) return { tokens: null, contextWindow, percent: null };
  return { tokens, contextWindow, percent: contextWindow > 0 ? (tokens / contextWindow) * 100 : null };
}

function isFreshlyCompacted(path: readonly SessionEntry[]): boolean {
  const last = path.findLast((entry) => isCompaction(entry) || replyIn(entry) !== undefined);
  return last !== undefined && isCompaction(last);
}

/** The prompt as the service counted it. */
export function promptTokens({ input, cacheRead, cacheWrite }: Usage): number {
  return input + cacheRead + cacheWrite;
}

export function estimateTokens(message: AgentMessage): number {
  const { characters, images } = sizeOf(message);
  return Math.ceil(characters / charactersPerToken) + images * tokensPerImage;
}

/**
 * What the message of an entry adds to the context; a pruned tool result counts as the short text that replaces it.
 * Nothing for a compaction: the latest is the head of the context, older ones are not in it.
 */
export function entryTokens(entry: SessionEntry, pruned?: ReadonlySet<string>): number {
  const message = messageOfEntry(entry);
  if (!message) return 0;
  const tokens = estimateTokens(message);
  return pruned?.has(entry.id) ? Math.min(tokens, textTokens(prunedText(tokens))) : tokens;
}

/** The text that replaces a pruned tool output in the context. */
export function prunedText(tokens: number): string {
  return `[Output truncated - ${tokens} tokens]`;
}

/** -1 without one. A damaged one that lost its summary does not count. */
export function latestCompactionIndex(path: readonly SessionEntry[]): number {
  return path.findLastIndex(isCompaction);
}

/** It opens a context of its own: what was reported before it is about another one. */
export function isCompaction(entry: SessionEntry): entry is CompactionEntry {
  return entry.type === "compaction" && typeof entry.summary === "string";
}

/** Where the context begins: at what the latest compaction kept, or behind it if that is not on the path. */
export function contextStart(path: readonly SessionEntry[]): number {
  const index = latestCompactionIndex(path);
  if (index < 0) return 0;
  const { firstKeptEntryId } = path[index] as CompactionEntry;
  const kept = path.findIndex((entry) => entry.id === firstKeptEntryId);
  return kept >= 0 && kept < index ? kept : index + 1;
}

/** The tool results whose outputs the context no longer shows. */
export function prunedIds(path: readonly SessionEntry[]): ReadonlySet<string> {
  return new Set(path.filter((entry) => entry.type === "prune").flatMap(({ entryIds }) => entryIds));
}

/** What the last good reply after the latest compaction said; others are about another context, or about none. */
function lastReport(path: readonly SessionEntry[]): { index: number; tokens: number } | undefined {
  for (let index = path.length - 1; index >= 0; index--) {
    const entry = path[index] as SessionEntry;
    if (isCompaction(entry)) return undefined;
    const tokens = reportOf(entry);
    if (tokens !== undefined) return { index, tokens };
  }
  return undefined;
}

/** Undefined for what is no reply, failed, or tells nothing. */
function reportOf(entry: SessionEntry): number | undefined {
  const reply = replyIn(entry);
  const tokens = reply ? promptTokens(reply.usage) + reply.usage.output : 0;
  return tokens > 0 ? tokens : undefined;
}

/** Undefined for what is no reply, or failed. */
function replyIn(entry: SessionEntry): AssistantMessage | undefined {
  const message = messageOfEntry(entry);
  const isGood = message?.role === "assistant" && message.stopReason !== "error" && message.stopReason !== "aborted";
  return isGood ? message : undefined;
}

/** The summary, if there is one, and the messages up to the index. */
function estimateContext(path: readonly SessionEntry[], end: number): number {
  const compaction = path[latestCompactionIndex(path)] as CompactionEntry | undefined;
  return (compaction ? textTokens(compaction.summary) : 0) + estimateMessages(path, end);
}

/** The part of the context that is kept word for word. */
export function estimateMessages(path: readonly SessionEntry[], end = path.length): number {
  return estimateEntries(path.slice(contextStart(path), end), prunedIds(path));
}

function estimateEntries(entries: readonly SessionEntry[], pruned: ReadonlySet<string>): number {
  return entries.reduce((sum, entry) => sum + entryTokens(entry, pruned), 0);
}

/** What was pruned after the report, so that the report still counts it. */
function savedSince(path: readonly SessionEntry[], reportIndex: number): number {
  const later = prunedIds(path.slice(reportIndex + 1));
  if (later.size === 0) return 0;
  const earlier = prunedIds(path.slice(0, reportIndex));
  return path
    .slice(contextStart(path), reportIndex)
    .filter(({ id }) => later.has(id) && !earlier.has(id))
    .reduce((sum, entry) => sum + entryTokens(entry) - entryTokens(entry, later), 0);
}

interface Size {
  characters: number;
  images: number;
}

function sizeOf(message: AgentMessage): Size {
  switch (message.role) {
    case "user":
    case "developer":
    case "toolResult":
    case "custom":
    case "hookMessage":
      return typeof message.content === "string" ? text(message.content) : sizeOfBlocks(message.content);
    case "assistant":
      return text(...message.content.map(textOfBlock));
    case "bashExecution":
      return message.excludeFromContext ? text() : text(message.command, message.output);
    case "pythonExecution":
      return message.excludeFromContext ? text() : text(message.code, message.output);
    case "compactionSummary":
    case "branchSummary":
      return text(message.summary);
    case "fileMention":
      return {
        ...text(...message.files.flatMap(({ path, content }) => [path, content])),
        images: message.files.filter(({ image }) => image).length,
      };
  }
}

function sizeOfBlocks(content: readonly InputContent[]): Size {
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return { ...text(...texts), images: content.length - texts.length };
}

function textOfBlock(block: AssistantMessage["content"][number]): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "thinking":
      return block.thinking;
    case "redactedThinking":
      return block.data;
    case "toolCall":
      return block.name + JSON.stringify(block.arguments);
  }
}

function text(...texts: readonly string[]): Size {
  return { characters: texts.reduce((sum, part) => sum + part.length, 0), images: 0 };
}

function textTokens(content: string): number {
  return Math.ceil(content.length / charactersPerToken);
}
