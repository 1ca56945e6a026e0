// The context at one entry of the tree: a pure fold over the entries from the root to it. It takes one entry at a time,
// so that appending to a long conversation costs the same as to a short one.

import type { CompactionEntry, ModelChangeEntry, SessionEntry } from "../protocol/entries.js";
import type { AgentMessage, AssistantMessage } from "../protocol/messages.js";
import { messageOfEntry, timeOf } from "./entry-message.js";

export interface SessionContext {
  /** The same list as long as it only grows; `revision` changes with it. */
  readonly messages: readonly AgentMessage[];
  /** For each message the id of the entry it comes from. */
  readonly entryIds: readonly string[];
  /** Changes whenever something other than a new last message did: what was derived from `messages` is void then. */
  readonly revision: number;
  /** The last one recorded. Undefined: none was. Null: back to the default. */
  readonly thinkingLevel: string | null | undefined;
  /** `provider/id` by role. */
  readonly models: ReadonlyMap<string, string>;
  /** The model of the role `default` was recorded as a choice; else it is the model that replied last. */
  readonly isModelChosen: boolean;
  /** Names of the stream rules that have been told to the model. */
  readonly injectedRules: ReadonlySet<string>;
  readonly mode: { readonly name: string; readonly data?: unknown } | undefined;
  /** Tool results whose output the model no longer sees. */
  readonly prunedEntryIds: ReadonlySet<string>;
  /** The compaction that opens the messages, if there is one. */
  readonly compaction: CompactionEntry | undefined;
  /** The entries that hold a result of the tool `todo_write`: the list comes back from the last good one. */
  readonly todoEntries: readonly SessionEntry[];
  /** What it was made of, from the root: the same list as long as it only grows. */
  readonly path: readonly SessionEntry[];
  readonly warnings: readonly string[];
}

/** `path` runs from a root to the place in question. */
export function buildContext(path: Iterable<SessionEntry>): SessionContext {
  const builder = new ContextBuilder();
  for (const entry of path) builder.push(entry);
  return builder;
}

export class ContextBuilder implements SessionContext {
  messages: AgentMessage[] = [];
  entryIds: string[] = [];
  revision: number;
  thinkingLevel: string | null | undefined;
  mode: { name: string; data?: unknown } | undefined;
  compaction: CompactionEntry | undefined;
  isModelChosen = false;
  readonly injectedRules = new Set<string>();
  readonly prunedEntryIds = new Set<string>();
  readonly todoEntries: SessionEntry[] = [];
  readonly path: SessionEntry[] = [];
  readonly warnings: string[] = [];
  readonly #models = new Map<string, string>();
  #lastReply: AssistantMessage | undefined;

  /** A builder that takes another one's place goes on counting where that one was. */
  constructor(revision = 0) {
    this.revision = revision;
  }

  get models(): ReadonlyMap<string, string> {
    // Only while no model was chosen: a fallback's reply must not become the session's model.
    if (this.#lastReply && !this.isModelChosen)
      this.#models.set("default", `${this.#lastReply.provider}/${this.#lastReply.model}`);
    return this.#models;
  }

  /** Takes the next entry of the path. Never throws: a file may hold anything under a known name. */
  push(entry: SessionEntry): void {
    this.path.push(entry);
    switch (entry.type) {
      case "model_change":
        return this.#noteModel(entry);
      case "thinking_level_change":
        if (entry.thinkingLevel === null || typeof entry.thinkingLevel === "string")
          this.thinkingLevel = entry.thinkingLevel;
        return;
      case "ttsr_injection":
        for (const rule of strings(entry.injectedRules)) this.injectedRules.add(rule);
        return;
      case "mode_change":
        if (typeof entry.mode === "string") this.mode = { name: entry.mode, data: entry.data };
        return;
      case "prune":
        for (const id of strings(entry.entryIds)) this.prunedEntryIds.add(id);
        this.revision++;
        return;
      case "compaction":
        return this.#compact(entry);
      default:
        this.#addMessage(entry);
    }
  }

  #addMessage(entry: SessionEntry): void {
    const message = messageOfEntry(entry);
    if (!message) {
      // pi keeps its own prompt and tools among the messages; here they are made anew.
      const isTheirPrompt = entry.type === "message" && (entry.message as { role: string })?.role === "system";
      if (entry.type === "message" && !isTheirPrompt)
        this.warnings.push(`Entry ${entry.id} holds no message that can be used`);
      return;
    }
    this.messages.push(message);
    this.entryIds.push(entry.id);
    if (message.role === "assistant" && message.model !== "") this.#lastReply = message;
    if (message.role === "toolResult" && message.toolName === "todo_write") this.todoEntries.push(entry);
  }

  #noteModel(entry: ModelChangeEntry): void {
    const model = modelOf(entry);
    if (model === undefined) return;
    const role = "role" in entry && typeof entry.role === "string" ? entry.role : "default";
    if (role === "default") this.isModelChosen = true;
    this.#models.set(role, model);
  }

  /** The summary, then what it left, and from here on what comes. */
  #compact(entry: CompactionEntry): void {
    if (typeof entry.summary !== "string") {
      this.warnings.push(`Compaction ${entry.id} has no summary and is left out`);
      return;
    }
    const { path } = this;
    const at = path.length - 1;
    const first = path.findLastIndex(({ id }, index) => index < at && id === entry.firstKeptEntryId);
    if (first === -1) {
      const kept = typeof entry.firstKeptEntryId === "string" ? entry.firstKeptEntryId : "unknown";
      this.warnings.push(
        `Compaction ${entry.id} keeps from entry ${kept}, which is not before it on this path: nothing is kept`,
      );
    }
    this.compaction = entry;
    this.messages = [summaryMessage(entry)];
    this.entryIds = [entry.id];
    this.revision++;
    for (const kept of first === -1 ? [] : path.slice(first, at)) {
      const message = messageOfEntry(kept);
      if (!message) continue;
      this.messages.push(message);
      this.entryIds.push(kept.id);
    }
  }
}

function summaryMessage(entry: CompactionEntry): AgentMessage {
  return {
    role: "compactionSummary",
    summary: entry.summary,
    ...(typeof entry.shortSummary === "string" ? { shortSummary: entry.shortSummary } : {}),
    tokensBefore: typeof entry.tokensBefore === "number" ? entry.tokensBefore : 0,
    timestamp: timeOf(entry),
  };
}

function modelOf(entry: ModelChangeEntry): string | undefined {
  if ("model" in entry) return typeof entry.model === "string" ? entry.model : undefined;
  const { provider, modelId } = entry;
  return typeof provider === "string" && typeof modelId === "string" ? `${provider}/${modelId}` : undefined;
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
