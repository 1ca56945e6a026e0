// The body of an OpenAI chat completions request.

import type { JsonObject } from "../../base/json.js";
import type { AssistantContent, InputContent, TextContent } from "../../protocol/content.js";
import type { AssistantMessage, ToolResultMessage } from "../../protocol/messages.js";
import { encodeConversation } from "../http/encoded-conversation.js";
import { resolveToolChoice } from "../http/wire.js";
import type { ModelMessage, Sampling, StreamRequest, ToolSpec } from "../provider.js";
import { samplingFor } from "../shared-compat.js";
import { fittedLevel } from "../thinking-levels.js";
import { type CacheMark, cacheMark, marked, unmarkableCount, withMarks } from "./cache-marks.js";
import { type CompletionsCompat, completionsCompat } from "./compat.js";

/** The fields in which services stream their reasoning. A block's signature names its field, so that it can go back. */
export const reasoningFields = ["reasoning_content", "reasoning", "reasoning_text"] as const;

export function completionsPayload(request: StreamRequest): JsonObject {
  const { model, context, options } = request;
  const compat = completionsCompat(model);
  const isLong = options.cacheRetention === "long" && compat.supportsLongCacheRetention;
  const mark = compat.cacheControlFormat && cacheMark(isLong);
  const maxTokens = options.maxTokens ?? Math.min(model.maxTokens, 32_000);
  const conversion = {
    model,
    idRule: compat.toolCallIds,
    variant: "completions",
    append: (wire: JsonObject[], messages: readonly ModelMessage[]) => appendWire(wire, messages, compat),
    // The next message may extend the last one.
    finalCount: mark ? unmarkableCount : (wire: readonly JsonObject[]) => Math.max(wire.length - 1, 0),
    finish: (wire: readonly JsonObject[]) => (mark ? withMarks(wire, mark) : wire),
  };
  const { temperature, sampling } = samplingFor(request, compat.supportsTemperature);
  return {
    model: model.id,
    messages: encodeConversation(context.messages, conversion, systemMessage(context.systemPrompt, compat, mark)),
    stream: true,
    ...(compat.supportsUsageInStreaming ? { stream_options: { include_usage: true } } : {}),
    ...(compat.supportsStore ? { store: false } : {}),
    [compat.maxTokensField]: maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(sampling && wireSampling(sampling, compat)),
    ...(compat.supportsStore ? cacheFields(options.sessionId, isLong) : {}),
    ...wireTools(request, compat, mark),
    ...(model.reasoning ? reasoning(request, compat) : {}),
    ...(compat.openRouterRouting ? { provider: compat.openRouterRouting } : {}),
    ...(compat.vercelGatewayRouting ? { providerOptions: { gateway: compat.vercelGatewayRouting } } : {}),
    ...compat.extraBody,
  };
}

/** Only OpenAI is known to accept these; the first keeps a conversation on one cache. */
function cacheFields(sessionId: string | undefined, isLong: boolean): JsonObject {
  return {
    ...(sessionId ? { prompt_cache_key: sessionId.slice(0, 64) } : {}),
    ...(isLong ? { prompt_cache_retention: "24h" } : {}),
  };
}

function systemMessage(text: string, compat: CompletionsCompat, mark: CacheMark | undefined): JsonObject[] {
  if (text === "") return [];
  const message = { role: compat.supportsDeveloperRole ? "developer" : "system", content: text };
  return [mark ? marked(message, mark) : message];
}

/** OpenAI refuses the fields that other services have added to its API. */
function wireSampling({ topP, topK, minP, presencePenalty, repetitionPenalty }: Sampling, compat: CompletionsCompat) {
  const own = { top_p: topP, presence_penalty: presencePenalty };
  return compat.supportsStore ? own : { ...own, top_k: topK, min_p: minP, repetition_penalty: repetitionPenalty };
}

function wireTools(
  { context, options }: StreamRequest,
  compat: CompletionsCompat,
  mark: CacheMark | undefined,
): JsonObject {
  if (context.tools.length === 0) return {};
  const choice = compat.supportsToolChoice ? resolveToolChoice(options.toolChoice, context.tools) : undefined;
  return {
    tools: context.tools.map((tool, index) => ({
      ...wireTool(tool, compat),
      ...(index === context.tools.length - 1 ? mark : {}),
    })),
    ...(choice === undefined ? {} : { tool_choice: wireChoice(choice) }),
  };
}

function wireTool({ name, description, parameters, strict }: ToolSpec, compat: CompletionsCompat): JsonObject {
  const isStrict = strict && compat.supportsStrictMode;
  return { type: "function", function: { name, description, parameters, ...(isStrict ? { strict: true } : {}) } };
}

function wireChoice(choice: NonNullable<ReturnType<typeof resolveToolChoice>>): unknown {
  if (typeof choice === "object") return { type: "function", function: choice };
  return choice === "any" ? "required" : choice;
}

/** Services that think by default are told "off"; the others are told nothing, unless the model has a word for it. */
function reasoning({ model: { thinking }, context, options }: StreamRequest, compat: CompletionsCompat): JsonObject {
  const choice = resolveToolChoice(options.toolChoice, context.tools);
  // DeepSeek refuses a forced choice while the model thinks.
  const isPaused = compat.thinkingFormat === "deepseek" && (choice === "any" || typeof choice === "object");
  const level = fittedLevel(thinking, isPaused ? undefined : options.reasoning);
  const isOn = level !== "off";
  const effort = thinking?.levels?.[level] ?? (isOn ? (compat.reasoningEffortMap[level] ?? level) : undefined);
  const ownEffort = effort !== undefined && compat.supportsReasoningEffort ? { reasoning_effort: effort } : {};
  switch (compat.thinkingFormat) {
    case "zai":
      return { thinking: { type: isOn ? "enabled" : "disabled" } };
    case "qwen":
      return { enable_thinking: isOn };
    case "qwen-chat-template":
      return { chat_template_kwargs: { enable_thinking: isOn } };
    case "openrouter":
      return effort === undefined ? {} : { reasoning: { effort } };
    case "deepseek":
      return { thinking: { type: isOn ? "enabled" : "disabled" }, ...(isOn ? ownEffort : {}) };
    case "openai":
      return ownEffort;
  }
}

function appendWire(wire: JsonObject[], messages: readonly ModelMessage[], compat: CompletionsCompat): void {
  /** Pictures out of tool results: the role `tool` takes text only, so they follow as a user message. */
  let images: InputContent[] = [];
  const pushUser = (role: "user" | "developer", content: unknown) => {
    const last = wire.at(-1);
    if (compat.requiresAssistantAfterToolResult && last?.role === "tool")
      wire.push({ role: "assistant", content: "Tool results received." });
    // Texts of the user's in a row are one message: not every service takes two.
    const before = role === "user" && last?.role === role ? last.content : undefined;
    if (typeof before === "string" && typeof content === "string")
      wire[wire.length - 1] = { role, content: withParagraph(before, content) };
    else wire.push({ role, content });
  };
  const flushImages = () => {
    pushUser("user", [{ type: "text", text: "Images from the tool results:" }, ...images.map(wirePart)]);
    images = [];
  };
  for (const message of messages) {
    if (message.role === "toolResult") {
      images.push(...message.content.filter((block) => block.type === "image"));
      wire.push(wireResult(message, compat));
      continue;
    }
    if (images.length > 0) flushImages();
    if (message.role === "assistant") pushReply(wire, message, compat);
    else if (message.content.length > 0)
      pushUser(compat.supportsDeveloperRole ? message.role : "user", wireInput(message.content));
  }
  if (images.length > 0) flushImages();
}

function wireInput(content: string | InputContent[]): unknown {
  if (typeof content === "string") return content;
  // Plain text goes as a string: not every service reads a list of parts.
  return (
    onlyText(content) ?? (content.some(({ type }) => type === "image") ? content.map(wirePart) : joinText(content))
  );
}

function wirePart(block: InputContent): JsonObject {
  return block.type === "text"
    ? { type: "text", text: block.text }
    : { type: "image_url", image_url: { url: `data:${block.mimeType};base64,${block.data}` } };
}

function wireResult(message: ToolResultMessage, compat: CompletionsCompat): JsonObject {
  const text = onlyText(message.content) ?? joinText(message.content);
  const hasImage = message.content.some((block) => block.type === "image");
  return {
    role: "tool",
    tool_call_id: message.toolCallId,
    ...(compat.requiresToolResultName ? { name: message.toolName } : {}),
    content: text || (hasImage ? "(the result is an image, below)" : ""),
  };
}

function pushReply(wire: JsonObject[], message: AssistantMessage, compat: CompletionsCompat): void {
  const only = onlyText(message.content);
  if (only) return void wire.push({ role: "assistant", content: only });
  let content = "";
  const calls: JsonObject[] = [];
  const thoughts: { [field: string]: string } = {};
  for (const block of message.content) {
    if (block.type === "text") content = withParagraph(content, block.text);
    else if (block.type === "toolCall")
      calls.push({
        id: block.id,
        type: "function",
        function: { name: block.name, arguments: JSON.stringify(block.arguments) },
      });
    else if (block.type === "thinking") {
      const field = compat.requiresReasoningContent
        ? "reasoning_content"
        : reasoningFields.find((name) => name === block.thinkingSignature);
      if (field === undefined || compat.requiresThinkingAsText) content = withParagraph(content, block.thinking);
      else thoughts[field] = `${thoughts[field] ?? ""}${block.thinking}`;
    }
  }
  if (content === "" && calls.length === 0) return; // thoughts alone are no message
  const reply: JsonObject = { role: "assistant", content: content || null };
  if (calls.length > 0 && compat.requiresReasoningContent) thoughts.reasoning_content ??= "";
  for (const field in thoughts) reply[field] = thoughts[field];
  if (calls.length > 0) reply.tool_calls = calls;
  wire.push(reply);
}

function withParagraph(text: string, more: string): string {
  return text === "" || more === "" ? text + more : `${text}\n\n${more}`;
}

/** Most messages are one text, and a long history has thousands of them. */
function onlyText(content: readonly (InputContent | AssistantContent)[]): string | undefined {
  const block = content[0];
  return content.length === 1 && block?.type === "text" ? block.text : undefined;
}

function joinText(content: readonly InputContent[]): string {
  return content
    .filter((block): block is TextContent => block.type === "text")
    .map((block) => block.text)
    .join("\n");
}
