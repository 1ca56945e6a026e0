// Which blocks the events of a session make: a pure fold, without a terminal. Every text in it is as it came; what draws it
// cleans it. A block is final when nothing can change it any more.

import type { AgentMessage, AgentSessionEvent } from "../../sdk/index.js";
import { writesMarkdown } from "../../sdk/writes-markdown.js";
import { pendingIdOf } from "./result-details.js";

export type ChatItem =
  | { readonly kind: "header"; readonly text: string; isFinal: boolean }
  | { readonly kind: "user"; readonly text: string; readonly images: number; isFinal: boolean }
  | { readonly kind: "thinking"; text: string; isFinal: boolean }
  | { readonly kind: "text"; text: string; readonly isMarkdown: boolean; isFinal: boolean }
  | ToolItem
  | { readonly kind: "custom"; readonly message: Extract<AgentMessage, { role: "custom" }>; isFinal: boolean }
  | { readonly kind: "notice"; readonly level: NoticeLevel; readonly text: string; isFirst: boolean; isFinal: boolean };

export interface ToolItem {
  readonly kind: "tool";
  readonly callId: string;
  readonly name: string;
  args: unknown;
  /** Waiting for its turn, or for the rest of its arguments. */
  state: "waiting" | "running" | "done" | "failed";
  result?: ToolOutcome;
  startedAt?: number | undefined;
  endedAt?: number;
  /** How what it proposed has ended; absent: it waits. Empty: it is not known here. */
  outcome?: string;
  isFinal: boolean;
}

interface Restored {
  readonly maxBlocks?: number | undefined;
  /** What still waits for a decision. */
  readonly pendingIds?: readonly string[];
}

/** How many blocks of a resumed session are drawn. */
export const maxRestored = 200;

export type ToolOutcome = Extract<AgentSessionEvent, { type: "tool_execution_end" }>["result"];
export type NoticeLevel = "info" | "warning" | "error";

export class ChatLog {
  readonly items: ChatItem[] = [];
  readonly #now: () => number;
  /** The blocks of the reply that is coming in, by their index. */
  #open = new Map<number, ChatItem>();
  #isMarkdown = true;
  readonly #calls = new Map<string, ToolItem>();
  /** The calls that proposed something, by the id of what is pending. */
  readonly #proposals = new Map<string, ToolItem>();

  constructor(now: () => number) {
    this.#now = now;
  }

  add(item: ChatItem): void {
    this.items.push(item);
  }

  notice(level: NoticeLevel, text: string): void {
    const isFirst = this.items.at(-1)?.kind !== "notice";
    this.add({ kind: "notice", level, text, isFirst, isFinal: true });
  }

  /** A conversation from a session file: its last blocks, and how many messages came before them. */
  restore(messages: readonly AgentMessage[], { maxBlocks = maxRestored, pendingIds = [] }: Restored = {}): void {
    const from = lastBlocks(messages, maxBlocks);
    if (from > 0)
      this.notice("info", `… ${from.toLocaleString("en")} earlier message${from === 1 ? "" : "s"} (/tree, /export)`);
    for (const message of messages.slice(from)) this.#message(message);
    for (const [id, item] of this.#proposals) if (!pendingIds.includes(id)) this.#conclude(item, "");
    this.#settle();
  }

  /** While the user is asked about a call it does not run, and its time does not count. */
  async whileAsked<T>(callId: string, question: Promise<T>): Promise<T> {
    this.#change(callId, { state: "waiting", startedAt: undefined });
    try {
      return await question;
    } finally {
      this.#change(callId, { state: "running", startedAt: this.#now() });
    }
  }

  /** These still wait: a session that is resumed learns it after its messages. */
  markPending(ids: readonly string[]): void {
    for (const id of ids) {
      const item = this.#proposals.get(id);
      if (item?.outcome === "") delete item.outcome;
    }
  }

  /** Another conversation goes on below what was said so far. */
  restart(note: string, messages: readonly AgentMessage[], restored?: Restored): void {
    this.#settle();
    this.notice("info", note);
    this.restore(messages, restored);
  }

  apply(event: AgentSessionEvent): void {
    switch (event.type) {
      case "message_start":
        if (event.message.role !== "assistant") return this.#message(event.message);
        this.#open.clear();
        this.#isMarkdown = writesMarkdown(event.message);
        return;
      case "message_update":
        return this.#update(event.assistantMessageEvent);
      case "message_end":
        if (event.message.role === "assistant") this.#endReply(event.message);
        return;
      case "tool_execution_start":
        return this.#startCall(event.toolCallId, event.toolName, event.args);
      case "tool_execution_update":
        return this.#change(event.toolCallId, { result: event.partialResult });
      case "tool_execution_end":
        return this.#endCall(event.toolCallId, event.result, event.isError);
      case "auto_retry_start":
        return this.notice("warning", `${event.errorMessage} Retry ${event.attempt}/${event.maxAttempts}.`);
      case "auto_retry_end":
        if (!event.success && event.finalError) this.notice("error", event.finalError);
        return;
      case "auto_compaction_end":
        return this.#compacted(event);
      case "pending_action_changed":
        if (event.status === "stale") this.#conclude(this.#proposals.get(event.id), "stale");
        return;
      case "pending_action_resolved":
        this.#conclude(this.#proposals.get(event.id), event.outcome);
        return void this.#proposals.delete(event.id);
      case "retry_fallback_applied":
        return this.notice("warning", `${event.from} does not answer. ${event.to} goes on.`);
      case "agent_settled":
        return this.#settle();
      default:
        return;
    }
  }

  #message(message: AgentMessage): void {
    if (message.role === "assistant") {
      for (const [index, block] of message.content.entries()) {
        if (block.type === "text")
          this.add({ kind: "text", text: block.text, isMarkdown: writesMarkdown(message), isFinal: true });
        if (block.type === "thinking") this.add({ kind: "thinking", text: block.thinking, isFinal: true });
        if (block.type === "toolCall") this.#openCall(index, block.id, block.name, block.arguments);
      }
      this.#failure(message);
    } else if (message.role === "user") this.add(userItem(message.content));
    else if (message.role === "toolResult")
      this.#endCall(message.toolCallId, { content: message.content, details: message.details }, message.isError);
    else if (message.role === "bashExecution") this.add(commandItem(message));
    else if (message.role === "custom" && message.display) this.add({ kind: "custom", message, isFinal: true });
  }

  #failure({ stopReason, errorMessage }: Extract<AgentMessage, { role: "assistant" }>): void {
    if (stopReason === "error") this.notice("error", errorMessage ?? "The model's service failed.");
    if (stopReason === "aborted") this.notice("info", "Stopped.");
  }

  #update(event: Extract<AgentSessionEvent, { type: "message_update" }>["assistantMessageEvent"]): void {
    switch (event.type) {
      case "text_delta":
      case "thinking_delta": {
        const item = this.#prose(event.contentIndex, event.type === "text_delta" ? "text" : "thinking");
        item.text += event.delta;
        return;
      }
      case "text_end":
      case "thinking_end": {
        const item = this.#prose(event.contentIndex, event.type === "text_end" ? "text" : "thinking");
        item.text = event.content;
        item.isFinal = true;
        return;
      }
      case "toolcall_end": {
        const { id, name, arguments: args } = event.toolCall;
        return this.#openCall(event.contentIndex, id, name, args);
      }
      default:
        return;
    }
  }

  #prose(index: number, kind: "text" | "thinking"): ChatItem & { kind: "text" | "thinking" } {
    const known = this.#open.get(index);
    if (known?.kind === kind) return known;
    const item: ChatItem & { kind: "text" | "thinking" } =
      kind === "text"
        ? { kind, text: "", isMarkdown: this.#isMarkdown, isFinal: false }
        : { kind, text: "", isFinal: false };
    this.#open.set(index, item);
    this.add(item);
    return item;
  }

  #openCall(index: number, callId: string, name: string, args: unknown): void {
    const known = this.#calls.get(callId);
    if (known && !known.isFinal) {
      known.args = args;
      return;
    }
    const item: ToolItem = { kind: "tool", callId, name, args, state: "waiting", isFinal: false };
    this.#open.set(index, item);
    this.#calls.set(callId, item);
    this.add(item);
  }

  #startCall(callId: string, name: string, args: unknown): void {
    this.#openCall(-1, callId, name, args);
    this.#change(callId, { state: "running", startedAt: this.#now() });
  }

  #change(callId: string, change: Partial<ToolItem>): void {
    const item = this.#calls.get(callId);
    if (item && !item.isFinal) Object.assign(item, change);
  }

  #endCall(callId: string, result: ToolOutcome, isError: boolean): void {
    const ended = {
      result,
      state: isError ? ("failed" as const) : ("done" as const),
      endedAt: this.#now(),
      isFinal: true,
    };
    const item = this.#calls.get(callId);
    this.#change(callId, ended);
    const pendingId = pendingIdOf(result);
    if (item && pendingId !== undefined) this.#proposals.set(pendingId, item);
  }

  /** Only a word of its first line changes: where that has scrolled out it stays as it was printed. */
  #conclude(item: ToolItem | undefined, outcome: string): void {
    if (item) item.outcome = outcome;
  }

  #endReply(message: Extract<AgentMessage, { role: "assistant" }>): void {
    for (const item of this.#open.values()) if (item.kind !== "tool") item.isFinal = true;
    this.#open.clear();
    this.#failure(message);
  }

  #compacted(event: Extract<AgentSessionEvent, { type: "auto_compaction_end" }>): void {
    if (event.errorMessage) this.notice("error", event.errorMessage);
    else if (event.result) this.notice("info", "The older part of the conversation was summarized.");
  }

  /** Nothing runs any more: what has no end of its own ends here. */
  #settle(): void {
    for (const item of this.#calls.values()) item.isFinal = true;
    for (const item of this.#open.values()) item.isFinal = true;
    this.#open.clear();
    this.#calls.clear();
  }
}

function userItem(content: Extract<AgentMessage, { role: "user" }>["content"]): ChatItem {
  if (typeof content === "string") return { kind: "user", text: content, images: 0, isFinal: true };
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return { kind: "user", text, images: content.filter(({ type }) => type === "image").length, isFinal: true };
}

function commandItem(message: Extract<AgentMessage, { role: "bashExecution" }>): ToolItem {
  const { command, output, exitCode, cancelled, excludeFromContext } = message;
  return {
    kind: "tool",
    callId: "",
    name: excludeFromContext ? "!!" : "!",
    args: { command },
    state: cancelled || exitCode ? "failed" : "done",
    result: { content: [{ type: "text", text: output }], details: undefined },
    isFinal: true,
  };
}

/** Where the last blocks begin. A result belongs to its call: it is no block, and no beginning. */
export function lastBlocks(messages: readonly AgentMessage[], maxBlocks: number): number {
  let blocks = 0;
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index] as AgentMessage;
    blocks += message.role === "assistant" ? message.content.length : message.role === "toolResult" ? 0 : 1;
    if (blocks <= maxBlocks) continue;
    const next = messages.findIndex(({ role }, at) => at > index && role !== "toolResult");
    return next === -1 ? messages.length : next;
  }
  return 0;
}
