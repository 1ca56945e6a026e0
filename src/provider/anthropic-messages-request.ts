// The body of an Anthropic messages request.

import type { JsonObject } from "../base/json.js";
import type { InputContent } from "../protocol/content.js";
import type { AssistantMessage, ToolResultMessage } from "../protocol/messages.js";
import type { ModelMessage, StreamRequest } from "./provider.js";
import { prepareReplay } from "./replay.js";
import { resolveToolChoice } from "./wire.js";

export function messagesPayload(request: StreamRequest): JsonObject {
  const { model, context, options } = request;
  const cache = { cache_control: { type: "ephemeral", ...(options.cacheRetention === "long" ? { ttl: "1h" } : {}) } };
  const choice = resolveToolChoice(options.toolChoice, context.tools);
  const messages = prepareReplay(context.messages, model);
  // The service refuses thinking together with a forced choice.
  const isForced = choice === "any" || typeof choice === "object";
  const { maxTokens, ...thinking } = planThinking(request, messages, isForced);
  const isThinking = "thinking" in thinking;
  return {
    model: model.id,
    max_tokens: maxTokens,
    stream: true,
    ...(context.systemPrompt === "" ? {} : { system: [{ type: "text", text: context.systemPrompt, ...cache }] }),
    messages: withCache(wireMessages(messages, isThinking), cache),
    ...(context.tools.length === 0 ? {} : { tools: wireTools(context.tools, cache) }),
    ...(choice === undefined ? {} : { tool_choice: wireChoice(choice) }),
    ...thinking,
    // Thinking allows the default temperature only.
    ...(options.temperature === undefined || isThinking ? {} : { temperature: options.temperature }),
  };
}

const defaultBudgets = { minimal: 1024, low: 2048, medium: 8192, high: 16_384, xhigh: 32_768 };
const efforts = { minimal: "low", low: "low", medium: "medium", high: "high", xhigh: "max" };
const leastBudget = 1024;
const leastAnswer = 1024;

function planThinking(
  { model, options }: StreamRequest,
  messages: readonly ModelMessage[],
  isForced: boolean,
): JsonObject & { maxTokens: number } {
  const maxTokens = options.maxTokens ?? Math.min(model.maxTokens, 32_000);
  const level = options.reasoning;
  if (level === undefined || !model.reasoning || isForced) return { maxTokens };
  if (model.thinking?.mode === "anthropic-adaptive")
    return { maxTokens, thinking: { type: "adaptive" }, output_config: { effort: efforts[level] } };
  if (!canStartThinking(messages)) return { maxTokens };
  const wanted = options.thinkingBudgets?.[level] ?? defaultBudgets[level];
  const plan = fitBudget({ wanted, maxTokens, limit: model.maxTokens });
  if (plan === undefined) return { maxTokens };
  return { maxTokens: plan.maxTokens, thinking: { type: "enabled", budget_tokens: plan.budget } };
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
function canStartThinking(messages: readonly ModelMessage[]): boolean {
  const reply = messages.findLast((message): message is AssistantMessage => message.role === "assistant");
  if (!reply?.content.some((block) => block.type === "toolCall")) return true;
  const first = reply.content[0];
  return first?.type === "redactedThinking" || (first?.type === "thinking" && first.thinkingSignature !== undefined);
}

function wireTools(tools: StreamRequest["context"]["tools"], cache: JsonObject): JsonObject[] {
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
function wireMessages(messages: readonly ModelMessage[], isThinking: boolean): WireMessage[] {
  const wire: WireMessage[] = [];
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
  return wire;
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
    } else if (block.type === "thinking" && block.thinkingSignature === undefined)
      content.push({ type: "text", text: block.thinking }); // thoughts without a signature are refused
    else if (isThinking)
      // Without thinking, signed thoughts would be ignored at best and refused in the reply in progress.
      content.push(
        block.type === "thinking"
          ? { type: "thinking", thinking: block.thinking, signature: block.thinkingSignature }
          : { type: "redacted_thinking", data: block.data },
      );
  }
  return content;
}

/** The service refuses text blocks of nothing but space. */
function hasText(text: string): boolean {
  return /\S/.test(text);
}

/** Marks the last two user messages: the newest for the next call, the one before it for this one. */
function withCache(messages: WireMessage[], cache: JsonObject): WireMessage[] {
  let left = 2;
  for (let index = messages.length - 1; index >= 0 && left > 0; index -= 1) {
    const { role, content } = messages[index] as WireMessage;
    if (role !== "user") continue;
    Object.assign(content.at(-1) as JsonObject, cache);
    left -= 1;
  }
  return messages;
}
