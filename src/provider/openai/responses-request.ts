// The body of an OpenAI responses request. A reply goes back item by item; reasoning goes back only as its author sealed it
// (`encrypted_content`), and only together with the item that it led to.

import { isObject, type JsonObject, parseObject } from "../../base/json.js";
import type { InputContent } from "../../protocol/content.js";
import type { AssistantMessage, ToolResultMessage } from "../../protocol/messages.js";
import { encodeConversation } from "../http/encoded-conversation.js";
import { resolveToolChoice } from "../http/wire.js";
import type { ModelMessage, ProviderModel, StreamOptions, StreamRequest, ToolSpec } from "../provider.js";
import { plainIds } from "../replay.js";
import { compatFlag, samplingFor } from "../shared-compat.js";
import { fittedLevel } from "../thinking-levels.js";

export function responsesPayload(request: StreamRequest): JsonObject {
  const { model, context, options } = request;
  const compat = model.compat ?? {};
  const { temperature, sampling } = samplingFor(request, compatFlag(model, "supportsTemperature", true));
  const conversion = {
    model,
    idRule: plainIds,
    variant: "responses",
    append: appendItems,
    finalCount: (items: readonly Item[]) => Math.max(items.length - 1, 0), // the last one has the count of made ids
    finish: (items: readonly Item[]) => items,
  };
  const isLong = options.cacheRetention === "long" && compatFlag(model, "supportsLongCacheRetention", true);
  return {
    model: model.id,
    ...(context.systemPrompt === "" ? {} : { instructions: context.systemPrompt }),
    input: encodeConversation(context.messages, conversion),
    stream: true,
    store: false,
    max_output_tokens: Math.max(options.maxTokens ?? Math.min(model.maxTokens, 32_000), leastOutput),
    temperature,
    top_p: sampling?.topP,
    ...wireTools(context.tools, options),
    ...reasoning(model, options.reasoning),
    ...(wantsSealedReasoning(model) ? { include: ["reasoning.encrypted_content"] } : {}),
    ...(options.sessionId ? { prompt_cache_key: options.sessionId.slice(0, 64) } : {}),
    ...(isLong ? { prompt_cache_retention: "24h" } : {}),
    ...(isObject(compat.extraBody) ? compat.extraBody : {}),
  };
}

/** The service refuses less. */
const leastOutput = 16;

/** Without it, reasoning could not go back: nothing of a conversation is stored at the service. */
export function wantsSealedReasoning(model: ProviderModel): boolean {
  return model.reasoning && compatFlag(model, "supportsEncryptedReasoning", true);
}

function reasoning(model: ProviderModel, wanted: StreamOptions["reasoning"]): JsonObject {
  if (!model.reasoning || !compatFlag(model, "supportsReasoningEffort", true)) return {};
  const level = fittedLevel(model.thinking, wanted);
  const word = model.thinking?.levels?.[level];
  if (word === null) return {}; // the model has no level at all
  const effort = word ?? (level === "off" ? "none" : level);
  const isShown = wanted !== undefined && level !== "off";
  return { reasoning: { effort, ...(isShown ? { summary: "auto" } : {}) } };
}

function wireTools(tools: readonly ToolSpec[], { toolChoice }: StreamOptions): JsonObject {
  if (tools.length === 0) return {};
  const choice = resolveToolChoice(toolChoice, tools);
  return {
    // An absent `strict` means true there, and most schemas do not fit that mode.
    tools: tools.map(({ name, description, parameters, strict = false }) => ({
      type: "function",
      name,
      description,
      parameters,
      strict,
    })),
    ...(choice === undefined ? {} : { tool_choice: wireChoice(choice) }),
    parallel_tool_calls: true,
  };
}

function wireChoice(choice: NonNullable<ReturnType<typeof resolveToolChoice>>): unknown {
  if (typeof choice === "object") return { type: "function", ...choice };
  return choice === "any" ? "required" : choice;
}

/** How many ids of messages were made so far, this item included. Not part of the JSON. */
const madeIds = Symbol("made ids");

type Item = JsonObject & { [madeIds]?: number };

function appendItems(items: Item[], messages: readonly ModelMessage[]): void {
  let made = items.at(-1)?.[madeIds] ?? 0;
  const push = (item: JsonObject) => void items.push({ ...item, [madeIds]: made });
  for (const message of messages) {
    if (message.role === "assistant") pushReply(message, push, () => `msg_g${++made}`);
    else if (message.role === "toolResult") push(wireResult(message));
    else if (message.content.length > 0) push({ role: message.role, content: wireInput(message.content) });
  }
}

function wireInput(content: string | InputContent[]): JsonObject[] {
  if (typeof content === "string") return [{ type: "input_text", text: content }];
  return content.map((block) =>
    block.type === "text"
      ? { type: "input_text", text: block.text }
      : { type: "input_image", detail: "auto", image_url: `data:${block.mimeType};base64,${block.data}` },
  );
}

function wireResult({ toolCallId, content }: ToolResultMessage): JsonObject {
  const hasImage = content.some(({ type }) => type === "image");
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  return {
    type: "function_call_output",
    call_id: splitId(toolCallId).callId,
    output: hasImage ? wireInput(content) : text,
  };
}

/**
 * Ids of items tie a message or a call to the reasoning before it, and the service refuses one without the other: they go
 * back only when all of the reasoning does.
 */
function pushReply(message: AssistantMessage, push: (item: JsonObject) => void, makeId: () => string): void {
  const isCut = message.stopReason !== "stop" && message.stopReason !== "toolUse";
  const isWhole = !isCut && message.content.every((block) => block.type !== "thinking" || sealed(block) !== undefined);
  const pushText = (text: string, { id = makeId(), phase }: TextSignature) => {
    const content = [{ type: "output_text", text, annotations: [] }];
    push({ type: "message", role: "assistant", id, status: "completed", content, ...(phase ? { phase } : {}) });
  };
  let waiting: JsonObject[] = []; // reasoning, until the item comes that it led to
  const flush = () => {
    for (const item of waiting) push(item);
    waiting = [];
  };
  for (const block of message.content) {
    if (block.type === "thinking") {
      const item = isCut ? undefined : sealed(block);
      if (item) waiting.push(item);
      else if (!isCut && block.thinking.trim() !== "") pushText(block.thinking, {});
    } else if (block.type === "text" && block.text !== "") {
      flush();
      const { id, phase } = readTextSignature(block.textSignature);
      pushText(block.text, { ...(isWhole && id ? { id } : {}), ...(phase ? { phase } : {}) });
    } else if (block.type === "toolCall") {
      flush();
      const { callId, itemId } = splitId(block.id);
      const id = isWhole && itemId ? { id: itemId } : {};
      push({
        type: "function_call",
        ...id,
        call_id: callId,
        name: block.name,
        arguments: JSON.stringify(block.arguments),
      });
    }
  }
}

/** The item as the service sent it; undefined when it is not sealed. */
function sealed({ thinkingSignature = "" }: { thinkingSignature?: string }): JsonObject | undefined {
  const item = parseObject(thinkingSignature);
  const isSealed = item?.type === "reasoning" && typeof item.encrypted_content === "string" && item.encrypted_content;
  return isSealed ? item : undefined;
}

interface TextSignature {
  id?: string;
  phase?: string;
}

function readTextSignature(signature = ""): TextSignature {
  const { v, id, phase } = parseObject(signature) ?? {};
  if (v !== 1) return {};
  return { ...(typeof id === "string" ? { id } : {}), ...(typeof phase === "string" ? { phase } : {}) };
}

/** Our id of a call is `<call_id>|<item id>`. Ids that other models gave hold no bar. */
function splitId(id: string): { callId: string; itemId?: string } {
  const bar = id.lastIndexOf("|");
  return bar < 0 ? { callId: id } : { callId: id.slice(0, bar), itemId: id.slice(bar + 1) };
}
