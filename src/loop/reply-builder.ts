// Assembles one assistant message from a provider's deltas. Promises: a step costs the same at the start and at the
// end of a long reply; a snapshot shows the message as it was at that step and never changes afterwards.

import { GalleyError } from "../base/errors.js";
import { isObject } from "../base/json.js";
import { maskDeep, noMask, type TextMask } from "../base/text-mask.js";
import type { AssistantContent, ToolCall } from "../protocol/content.js";
import type { AssistantMessage, StopReason } from "../protocol/messages.js";
import { maxCallsPerReply, type ProviderModel, type StreamEvent, zeroUsage } from "../provider/provider.js";
import { parsePartialObject, parseWhole } from "./partial-json.js";

/** A finished call and what its argument text really said. */
export interface FinishedCall {
  readonly call: ToolCall;
  /** False when the argument text is not complete JSON: such a call is not executed. */
  readonly isComplete: boolean;
  /** The parsed arguments, which may be something else than an object. The value is not shared. */
  readonly parsed: unknown;
}

/** A sane reply has fewer blocks. The limit matters because every step copies the list of them. */
export const maxBlocksPerReply = 1024;

/** A provider's event; of arguments that were masked, `delta` is what is shown and `raw` what the model said. */
export type ReplyEvent = StreamEvent | { type: "toolcall_delta"; contentIndex: number; delta: string; raw: string };

interface DraftCall {
  readonly type: "draftCall";
  readonly id: string;
  readonly name: string;
  /** The text of the arguments, for the tool. */
  readonly raw: string;
  /** The same as it is shown while it comes. */
  readonly shown: string;
  readonly thoughtSignature?: string;
}
type Draft = Exclude<AssistantContent, ToolCall> | DraftCall;

type ExtendingEvent = Extract<ReplyEvent, { type: `${"text" | "thinking" | "toolcall"}_${"delta" | "end"}` }>;

type Head = Omit<AssistantMessage, "content">;

export class ReplyBuilder {
  #head: Head;
  /** Replaced, never changed: a snapshot holds on to the array of its moment. */
  #drafts: readonly Draft[] = [];
  /** The blocks that have started and not ended. */
  readonly #openBlocks = new Set<number>();
  readonly #callIds = new Set<string>();
  readonly #mask: TextMask;

  constructor(model: ProviderModel, timestamp: number, mask = noMask) {
    this.#mask = mask;
    this.#head = {
      role: "assistant",
      api: model.api,
      provider: model.provider,
      model: model.id,
      usage: zeroUsage,
      stopReason: "stop",
      timestamp,
    };
  }

  /** The message as it is now, built when first asked for. */
  snapshot(): () => AssistantMessage {
    const head = this.#head;
    const drafts = this.#drafts;
    let built: AssistantMessage | undefined;
    return () => {
      built ??= { ...head, content: drafts.map(asContent) };
      return built;
    };
  }

  /** The whole text of a text or thinking block. */
  textOf(contentIndex: number): string {
    const draft = this.#drafts[contentIndex];
    if (draft?.type === "text") return draft.text;
    return draft?.type === "thinking" ? draft.thinking : "";
  }

  /** A call whose text has ended, and whether that text is whole JSON: if not, its arguments are a guess. */
  callAt(contentIndex: number): { toolCall: ToolCall; isWhole: boolean } {
    const draft = this.#drafts[contentIndex];
    if (draft?.type !== "draftCall") throw outOfOrder("toolcall_end", contentIndex);
    const whole = parseWhole(draft.raw);
    return { toolCall: shownCall(draft, whole, this.#mask), isWhole: whole !== undefined };
  }

  apply(event: ReplyEvent): void {
    switch (event.type) {
      case "start":
      case "done":
      case "error":
        return this.#amend(event);
      case "text_start":
        return this.#open(event, { type: "text", text: "" });
      case "thinking_start":
        return this.#open(event, { type: "thinking", thinking: "" });
      case "redacted_thinking":
        return this.#open(event, { type: "redactedThinking", data: event.data });
      case "toolcall_start":
        return this.#open(event, {
          type: "draftCall",
          id: this.#uniqueCallId(event.id),
          name: event.name,
          raw: "",
          shown: "",
        });
      case "text_delta":
      case "text_end":
      case "thinking_delta":
      case "thinking_end":
      case "toolcall_delta":
      case "toolcall_end":
        return this.#extend(event);
    }
  }

  /** The final message; the builder is not used afterwards. */
  finish(end: Pick<AssistantMessage, "stopReason"> & Partial<Pick<AssistantMessage, "errorMessage" | "error">>): {
    message: AssistantMessage;
    calls: FinishedCall[];
  } {
    const cut = end.stopReason !== "stop" && end.stopReason !== "toolUse";
    const calls: FinishedCall[] = [];
    const content = this.#drafts.map((draft, index): AssistantContent => {
      if (draft.type !== "draftCall") return draft;
      const finished = finishCall(draft, this.#openBlocks.has(index) || cut, this.#mask);
      calls.push(finished);
      return finished.call;
    });
    const stopReason: StopReason = end.stopReason === "stop" && calls.length > 0 ? "toolUse" : end.stopReason;
    return { message: { ...this.#head, ...end, stopReason, content }, calls };
  }

  #amend(event: Extract<StreamEvent, { type: "start" | "done" | "error" }>): void {
    const { usage = this.#head.usage, responseId = this.#head.responseId } = event;
    this.#head = { ...this.#head, usage, ...(responseId === undefined ? {} : { responseId }) };
  }

  /** Results are matched by id, so a service that repeats one must not mix two calls up. */
  #uniqueCallId(id: string): string {
    if (this.#callIds.size >= maxCallsPerReply)
      throw new GalleyError("unsupported", `The model asked for more than ${maxCallsPerReply} tool calls at once`);
    let unique = id;
    for (let copy = 2; this.#callIds.has(unique); copy++) unique = `${id}_${copy}`;
    this.#callIds.add(unique);
    return unique;
  }

  #open(event: { type: string; contentIndex: number }, draft: Draft): void {
    if (event.contentIndex !== this.#drafts.length) throw outOfOrder(event.type, event.contentIndex);
    if (event.contentIndex >= maxBlocksPerReply)
      throw new GalleyError("unsupported", `The model's reply has more than ${maxBlocksPerReply} blocks`);
    if (draft.type !== "redactedThinking") this.#openBlocks.add(event.contentIndex);
    this.#drafts = [...this.#drafts, draft];
  }

  #extend(event: ExtendingEvent): void {
    const { type, contentIndex } = event;
    const extended = this.#openBlocks.has(contentIndex) && extendDraft(this.#drafts[contentIndex], event);
    if (!extended) throw outOfOrder(type, contentIndex);
    if (type === "text_end" || type === "thinking_end" || type === "toolcall_end")
      this.#openBlocks.delete(contentIndex);
    this.#drafts = this.#drafts.with(contentIndex, extended);
  }
}

function extendDraft(draft: Draft | undefined, event: ExtendingEvent): Draft | undefined {
  switch (event.type) {
    case "text_delta":
      return draft?.type === "text" ? { ...draft, text: draft.text + event.delta } : undefined;
    case "thinking_delta":
      return draft?.type === "thinking" ? { ...draft, thinking: draft.thinking + event.delta } : undefined;
    case "toolcall_delta":
      if (draft?.type !== "draftCall") return undefined;
      return {
        ...draft,
        raw: draft.raw + ("raw" in event ? event.raw : event.delta),
        shown: draft.shown + event.delta,
      };
    case "text_end":
      if (draft?.type !== "text") return undefined;
      return event.textSignature === undefined ? draft : { ...draft, textSignature: event.textSignature };
    case "thinking_end":
      if (draft?.type !== "thinking") return undefined;
      return event.thinkingSignature === undefined ? draft : { ...draft, thinkingSignature: event.thinkingSignature };
    case "toolcall_end":
      if (draft?.type !== "draftCall") return undefined;
      return event.thoughtSignature === undefined ? draft : { ...draft, thoughtSignature: event.thoughtSignature };
  }
}

function asContent(draft: Draft): AssistantContent {
  return draft.type === "draftCall" ? callOf(draft) : draft;
}

/** `mayBeCut`: the reply ended early, so that even an empty argument text may be the start of a longer one. */
function finishCall(draft: DraftCall, mayBeCut: boolean, mask: TextMask): FinishedCall {
  // Some services send no argument text at all for a tool without parameters.
  if (draft.raw.trim() === "") return { call: callOf(draft), isComplete: !mayBeCut, parsed: {} };
  const call = shownCall(draft, parseWhole(draft.raw), mask);
  // Parsed a second time: a tool may change its arguments, and that must not change the record.
  const whole = parseWhole(draft.raw);
  return { call, isComplete: whole !== undefined, parsed: whole?.value };
}

/** From the whole value where there is one, which is more exact than what was shown while it came. */
function shownCall(draft: DraftCall, whole: { value: unknown } | undefined, mask: TextMask): ToolCall {
  if (!isObject(whole?.value)) return callOf(draft);
  return callOf(draft, mask.isActive ? maskDeep(whole.value, mask.mask) : whole.value);
}

function callOf({ id, name, shown, thoughtSignature }: DraftCall, args = parsePartialObject(shown)): ToolCall {
  return { type: "toolCall", id, name, arguments: args, thoughtSignature };
}

function outOfOrder(type: string, contentIndex: number): GalleyError {
  return new GalleyError("invalid_argument", `The provider sent ${type} for block ${contentIndex} out of order`);
}
