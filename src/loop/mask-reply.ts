// What a model says, without the secrets that are known: between the provider and the reply, so that no event and no
// message ever holds one. Arguments are masked where they are shown and stay raw for the tool. A block that ends releases
// what was held back, unless it is the better part of a secret; what a reply that breaks off holds back is lost.

import { type MaskStream, minBeginning, type TextMask } from "../base/text-mask.js";
import type { StreamEvent } from "../provider/provider.js";
import type { ReplyEvent } from "./reply-builder.js";

type DeltaEvent = Extract<StreamEvent, { delta: string }>;
type EndEvent = Extract<StreamEvent, { type: `${"text" | "thinking" | "toolcall"}_end` }>;

interface Block {
  readonly stream: MaskStream;
  readonly type: DeltaEvent["type"];
}

export class ReplyMask {
  readonly #mask: TextMask;
  /** Those that have deltas and no end. */
  readonly #blocks = new Map<number, Block>();

  constructor(mask: TextMask) {
    this.#mask = mask;
  }

  /** What stands for the event; nothing while all of it is held back. */
  take(event: StreamEvent): ReplyEvent[] {
    switch (event.type) {
      case "text_delta":
      case "thinking_delta":
      case "toolcall_delta":
        return this.#takeDelta(event);
      case "text_end":
      case "thinking_end":
      case "toolcall_end":
        return this.#takeEnd(event);
      default:
        return [event];
    }
  }

  #takeDelta(event: DeltaEvent): ReplyEvent[] {
    const { type, contentIndex, delta: raw } = event;
    let block = this.#blocks.get(contentIndex);
    if (!block) {
      block = { stream: this.#mask.stream(), type };
      this.#blocks.set(contentIndex, block);
    }
    return shown(block, contentIndex, { delta: block.stream.push(raw), raw });
  }

  #takeEnd(event: EndEvent): ReplyEvent[] {
    const { contentIndex } = event;
    const block = this.#blocks.get(contentIndex);
    if (!block) return [event];
    this.#blocks.delete(contentIndex);
    const rest = shown(block, contentIndex, { delta: block.stream.end(minBeginning), raw: "" });
    return [...rest, block.stream.hasMasked ? unsigned(event) : event];
  }
}

function shown({ type }: Block, contentIndex: number, { delta, raw }: { delta: string; raw: string }): ReplyEvent[] {
  if (delta === "" && (raw === "" || type !== "toolcall_delta")) return [];
  return [type === "toolcall_delta" ? { type, contentIndex, delta, raw } : { type, contentIndex, delta }];
}

/** A signature vouches for the text beside it, and no longer does when that was changed. Calls are not covered by one. */
function unsigned(event: EndEvent): ReplyEvent {
  const { type, contentIndex } = event;
  return type === "toolcall_end" ? event : { type, contentIndex };
}
