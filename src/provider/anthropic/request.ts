// The body of an Anthropic messages request.

import type { JsonObject } from "../../base/json.js";
import type { InputContent } from "../../protocol/content.js";
import type { AssistantMessage, ToolResultMessage } from "../../protocol/messages.js";
import { encodeConversation } from "../http/encoded-conversation.js";
import { resolveToolChoice } from "../http/wire.js";
import type { ModelMessage, ProviderModel, StreamRequest, ToolSpec } from "../provider.js";
import { plainIds, prepareReplay } from "../replay.js";
import { compatFlag, isService, samplingFor } from "../shared-compat.js";
import { canBeOff, type Effort, fittedLevel } from "../thinking-levels.js";

export function messagesPayload(request: StreamRequest): JsonObject {
  const { model, context, options } = request;
  const isLong = options.cacheRetention === "long" && compatFlag(model, "supportsLongCacheRetention", true);
  const cache = { cache_control: { type: "ephemeral", ...(isLong ? { ttl: "1h" } : {}) } };
  const choice = resolveToolChoice(options.toolChoice, context.tools);
  // The service refuses thinking together with a forced choice.
  const isForced = choice === "any" || typeof choice === "object";
  const { maxTokens, ...thinking } = planThinking(request, isForced);
  const isThinking = thinking.thinking !== undefined && thinking.thinking !== disabled;
  const conversion = {
    model,
    idRule: plainIds,
    variant: isThinking ? "messages with thoughts" : "messages",
    append: (wire: WireMessage[], messages: readonly ModelMessage[]) => appendWire(wire, messages, isThinking),
    finalCount,
    finish: (wire: readonly WireMessage[]) => withCache(withPrompt(wire, context.messages), cache),
  };
  return {
    model: model.id,
    max_tokens: maxTokens,
    stream: true,
    ...(context.systemPrompt === "" ? {} : { system: [{ type: "text", text: context.systemPrompt, ...cache }] }),
    messages: encodeConversation(context.messages, conversion),
    ...(context.tools.length === 0 ? {} : { tools: wireTools(context.tools, cache) }),
    ...(choice === undefined ? {} : { tool_choice: wireChoice(choice) }),
    ...thinking,
    ...(isThinking ? {} : wireSampling(request)), // thinking allows the defaults only
  };
}

/** Anthropic has taken these fields out of its API; other services with the same API know them. */
function wireSampling(request: StreamRequest): JsonObject {
  const { model } = request;
  const isAnthropic = isService(model, "anthropic", "api.anthropic.com");
  const { temperature, sampling } = samplingFor(request, compatFlag(model, "supportsTemperature", !isAnthropic));
  return { temperature, top_p: sampling?.topP, top_k: sampling?.topK };
}

const defaultBudgets = { minimal: 1024, low: 2048, medium: 8192, high: 16_384, xhigh: 32_768 };
const words = { minimal: "low", low: "low", medium: "medium", high: "high", xhigh: "xhigh" };
const disabled: JsonObject = { type: "disabled" };
/** Some models keep their thoughts to themselves unless they are asked. */
const display = "summarized";
const leastBudget = 1024;
const leastAnswer = 1024;

function planThinking(
  { model, context, options }: StreamRequest,
  isForced: boolean,
): JsonObject & { maxTokens: number } {
  const maxTokens = options.maxTokens ?? Math.min(model.maxTokens, 32_000);
  if (!model.reasoning) return { maxTokens };
  const level = fittedLevel(model.thinking, options.reasoning);
  if (model.thinking?.mode === "anthropic-adaptive") return { maxTokens, ...adaptiveThinking(model, level, isForced) };
  if (level === "off" || isForced || !canStartThinking(context.messages, model)) return { maxTokens };
  const wanted = options.thinkingBudgets?.[level] ?? defaultBudgets[level];
  const limit = Math.min(model.maxTokens, options.outputLimit ?? Infinity);
  const plan = fitBudget({ wanted, maxTokens, limit });
  if (plan === undefined) return { maxTokens };
  return { maxTokens: plan.maxTokens, thinking: { type: "enabled", budget_tokens: plan.budget, display } };
}

/** These models may think unless they are told not to. */
function adaptiveThinking(model: ProviderModel, level: Effort | "off", isForced: boolean): JsonObject {
  if (level === "off" || (isForced && canBeOff(model.thinking))) return { thinking: disabled };
  const effort = { output_config: { effort: model.thinking?.levels?.[level] ?? words[level] } };
  return isForced ? effort : { thinking: { type: "adaptive", display }, ...effort };
}

/** Room for the answer beside the thoughts: first a larger `max_tokens`, then a smaller budget, then none. */
export function fitBudget(want: {
  wanted: number;
  maxTokens: number;
  limit: number;
}): { budget: number; maxTokens: number } | undefined {
  const needed = want.wanted + leastAnswer;
  const maxTokens = want.maxTokens >= needed ? want.maxTokens : Math.max(want.maxTokens, want.limit);
  const budget = Math.min(want.wanted, maxTokens - leastAnswer);
  return budget >= leastBudget ? { budget, maxTokens } : undefined;
}

/**
 * With a budget, the service refuses a reply in progress that called tools without a thought first, as after a forced
 * call: "Expected `thinking` or `redacted_thinking`, but found `tool_use`".
 */
function canStartThinking(messages: readonly ModelMessage[], model: ProviderModel): boolean {
  const reply = lastReply(messages, model);
  if (!reply?.content.some((block) => block.type === "toolCall")) return true;
  const first = reply.content[0];
  return first?.type === "redactedThinking" || (first?.type === "thinking" && isSigned(first));
}

/** As this model sees it. A message without visible content is left out. */
function lastReply(messages: readonly ModelMessage[], model: ProviderModel): AssistantMessage | undefined {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index];
    if (message?.role !== "assistant") continue;
    const [reply] = prepareReplay([message], model);
    if (reply?.role === "assistant") return reply;
  }
  return undefined;
}

/** The cache mark on the last one makes the service cache all of them. */
function wireTools(tools: readonly ToolSpec[], cache: JsonObject): JsonObject[] {
  return tools.map(({ name, description, parameters }, index) => ({
    name,
    description,
    input_schema: parameters,
    ...(index === tools.length - 1 ? cache : {}),
  }));
}

function wireChoice(choice: NonNullable<ReturnType<typeof resolveToolChoice>>): JsonObject {
  return typeof choice === "object" ? { type: "tool", ...choice } : { type: choice };
}

interface WireMessage {
  role: "user" | "assistant";
  content: JsonObject[];
}

/** Neighbours of one role become one message, so all results of a turn travel together. */
function appendWire(wire: WireMessage[], messages: readonly ModelMessage[], isThinking: boolean): void {
  for (const message of messages) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const content =
      message.role === "assistant"
        ? wireReply(message, isThinking)
        : message.role === "toolResult"
          ? [wireResult(message)]
          : wireInput(message.content);
    const last = wire.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) wire.push({ role, content });
  }
}

function wireInput(content: string | InputContent[]): JsonObject[] {
  const blocks: InputContent[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return blocks
    .filter((block) => block.type === "image" || hasText(block.text))
    .map((block) =>
      block.type === "text"
        ? { type: "text", text: block.text }
        : { type: "image", source: { type: "base64", media_type: block.mimeType, data: block.data } },
    );
}

function wireResult(message: ToolResultMessage): JsonObject {
  const content = wireInput(message.content);
  return {
    type: "tool_result",
    tool_use_id: message.toolCallId,
    content: content.length > 0 ? content : [{ type: "text", text: "(no output)" }], // an empty error is refused
    ...(message.isError ? { is_error: true } : {}),
  };
}

function wireReply(message: AssistantMessage, isThinking: boolean): JsonObject[] {
  const content: JsonObject[] = [];
  for (const block of message.content) {
    if (block.type === "toolCall")
      content.push({ type: "tool_use", id: block.id, name: block.name, input: block.arguments });
    else if (block.type === "text") {
      if (hasText(block.text)) content.push({ type: "text", text: block.text });
    } else if (block.type === "thinking" && !isSigned(block)) {
      if (hasText(block.thinking)) content.push({ type: "text", text: block.thinking }); // unsigned thoughts are refused
    } else if (isThinking)
      // Without thinking, signed thoughts would be ignored at best and refused in the reply in progress.
      content.push(
        block.type === "thinking"
          ? { type: "thinking", thinking: block.thinking, signature: block.thinkingSignature }
          : { type: "redacted_thinking", data: block.data },
      );
  }
  return content;
}

/** An empty signature counts as missing: some programs write one for thoughts that were cut short. */
function isSigned({ thinkingSignature }: { thinkingSignature?: string }): boolean {
  return thinkingSignature !== undefined && thinkingSignature !== "";
}

/** The service refuses text blocks of nothing but space. */
function hasText(text: string): boolean {
  return /\S/.test(text);
}

/** A prompt of only spaces must still be sent: without it the list may be empty, or end in a reply. */
function withPrompt(wire: readonly WireMessage[], messages: readonly ModelMessage[]): readonly WireMessage[] {
  const isAsked = wire.at(-1)?.role === "user" || (wire.length > 0 && messages.at(-1)?.role === "assistant");
  return isAsked ? wire : [...wire, { role: "user", content: [{ type: "text", text: "(no text)" }] }];
}

/** Marks the last two user messages: the newest for the next call, the one before it for this one. */
function withCache(messages: readonly WireMessage[], cache: JsonObject): WireMessage[] {
  const from = finalCount(messages);
  return messages.map(({ role, content }, index) => {
    if (role !== "user" || index < from) return { role, content };
    return { role, content: [...content.slice(0, -1), { ...content.at(-1), ...cache }] };
  });
}

/** The messages before the last two user messages: later ones neither extend nor mark them. */
function finalCount(messages: readonly WireMessage[]): number {
  let left = 2;
  let index = messages.length;
  while (index > 0 && left > 0) if (messages[--index]?.role === "user") left--;
  return index;
}
