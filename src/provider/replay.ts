// Prepares a conversation for one model. What only its author can read (signatures) stays with that author, ids fit
// the target's rules, and every tool call is followed directly by exactly one result. Pure, in linear time.

import type { AssistantContent, InputContent, ToolCall } from "../protocol/content.js";
import type { AssistantMessage, ToolResultMessage } from "../protocol/messages.js";
import type { ModelMessage, ProviderModel } from "./provider.js";

/** What a service accepts as a tool call id, and how to make the n-th one that it does. */
export interface IdRule {
  fits: RegExp;
  make(n: number): string;
}

export const plainIds: IdRule = { fits: /^[a-zA-Z0-9_-]{1,64}$/, make: (n) => `call_${n}` };

/** Names the calls of one conversation in their order. */
export type Namer = (id: string, isSame: boolean) => string;

/** A conversation may be prepared in parts that begin where every call has its result, all with the same namer. */
export function prepareReplay(
  messages: readonly ModelMessage[],
  model: ProviderModel,
  nameCall: Namer = createNamer(),
): ModelMessage[] {
  const showsImages = model.input.includes("image");
  const prepared: (ModelMessage | Slot)[] = [];
  /** Calls without a result yet, by their original id; the last takes the next result. */
  const open = new Map<string, Slot[]>();

  for (const message of messages) {
    if (message.role === "toolResult") {
      const slot = open.get(message.toolCallId)?.pop();
      if (slot) slot.result = withoutImages(message, showsImages); // else: a result without a call
      continue;
    }
    if (message.role !== "assistant") {
      prepared.push(withoutImages(message, showsImages));
      continue;
    }
    if (goesBackAsItIs(message, model)) {
      if (message.content.length > 0) prepared.push(message);
      continue;
    }
    const slots: Slot[] = [];
    const content = prepareContent(message, model, (call, isSame) => {
      const slot = { id: nameCall(call.id, isSame), call, turn: message };
      slots.push(slot);
      return slot.id;
    });
    // The newest turn is served first; within a turn, results come in the order of the calls.
    for (const slot of slots.toReversed()) {
      const waiting = open.get(slot.call.id);
      if (waiting) waiting.push(slot);
      else open.set(slot.call.id, [slot]);
    }
    if (content.length > 0) prepared.push({ ...message, content }, ...slots);
  }
  if (open.size === 0) return prepared as ModelMessage[]; // no call, no slot
  return prepared.map((item) => ("turn" in item ? resultOf(item) : item));
}

/** The place directly after a call where its result belongs. */
interface Slot {
  id: string;
  call: ToolCall;
  turn: AssistantMessage;
  result?: ToolResultMessage;
}

function resultOf({ id, call, turn, result }: Slot): ToolResultMessage {
  if (result) return result.toolCallId === id ? result : { ...result, toolCallId: id };
  const text = hasFailed(turn) ? "aborted" : "No result provided";
  return {
    role: "toolResult",
    toolCallId: id,
    toolName: call.name,
    content: [{ type: "text", text }],
    isError: true,
    timestamp: turn.timestamp,
  };
}

function prepareContent(
  message: AssistantMessage,
  model: ProviderModel,
  nameCall: (call: ToolCall, isSame: boolean) => string,
): AssistantContent[] {
  const isSame = isAuthor(model, message);
  const keepsSignatures = isSame && !hasFailed(message);
  const content: AssistantContent[] = [];
  for (const block of message.content) {
    if (block.type === "toolCall") {
      const id = nameCall(block, isSame);
      const { thoughtSignature: _signature, ...unsigned } = block;
      content.push(keepsSignatures ? { ...block, id } : { ...unsigned, id });
    } else if (keepsSignatures) content.push(block);
    else if (block.type === "text") content.push({ type: "text", text: block.text });
    else if (block.type === "thinking" && block.thinking.trim() !== "")
      content.push(isSame ? { type: "thinking", thinking: block.thinking } : { type: "text", text: block.thinking });
    // redacted thinking is nothing but a signature
  }
  return content;
}

/** Its author reads all of it, and no call in it needs a name or a result. Most of a long conversation is like that. */
function goesBackAsItIs(message: AssistantMessage, model: ProviderModel): boolean {
  if (!isAuthor(model, message) || hasFailed(message)) return false;
  for (let index = 0; index < message.content.length; index++)
    if (message.content[index]?.type === "toolCall") return false;
  return true;
}

function isAuthor({ provider, api, id }: ProviderModel, message: AssistantMessage): boolean {
  return message.provider === provider && message.api === api && message.model === id;
}

function hasFailed(message: AssistantMessage): boolean {
  return message.stopReason === "error" || message.stopReason === "aborted";
}

/** Keeps an id that its author or the rule accepts and that is still free; else counts up, the same way every time. */
export function createNamer({ fits, make }: IdRule = plainIds): Namer {
  const taken = new Set<string>();
  let made = 0;
  return (id, isSame) => {
    let name = id;
    if (id === "" || !(isSame || fits.test(id))) name = make(++made);
    while (taken.has(name)) name = make(++made);
    taken.add(name);
    return name;
  };
}

const omittedImage: InputContent = { type: "text", text: "[image omitted: model has no image input]" };

function withoutImages<Message extends { content: string | InputContent[] }>(
  message: Message,
  isShown: boolean,
): Message {
  const { content } = message;
  if (isShown || typeof content === "string" || !hasImage(content)) return message;
  return { ...message, content: content.map((block) => (block.type === "image" ? omittedImage : block)) };
}

/** A plain loop without a callback per block: it runs over a long history before the code is optimized. */
function hasImage(content: readonly InputContent[]): boolean {
  for (let index = 0; index < content.length; index++) if (content[index]?.type === "image") return true;
  return false;
}
