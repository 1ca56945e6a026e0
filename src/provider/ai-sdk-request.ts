// A request in the form that models of the AI SDK take.

import { type JsonObject, parseObject } from "../base/json.js";
import type { AssistantContent, InputContent } from "../protocol/content.js";
import type { ToolResultMessage } from "../protocol/messages.js";
import { resolveToolChoice } from "./http/wire.js";
import type { ModelMessage, StreamRequest, ToolSpec } from "./provider.js";
import { prepareReplay } from "./replay.js";

/** Everything but the signal. */
export function aiSdkCall({ model, context, options }: StreamRequest, version: string): JsonObject {
  const { systemPrompt, tools } = context;
  const { temperature, sampling: { topP, topK, presencePenalty } = {}, headers } = options;
  const choice = resolveToolChoice(options.toolChoice, tools);
  return withoutMissing({
    prompt: [
      ...(systemPrompt === "" ? [] : [{ role: "system", content: systemPrompt }]),
      ...promptMessages(prepareReplay(context.messages, model), version),
    ],
    maxOutputTokens: options.maxTokens ?? Math.min(model.maxTokens, 32_000),
    temperature,
    topP,
    topK,
    presencePenalty,
    headers,
    tools: tools.length === 0 ? undefined : tools.map(functionTool),
    toolChoice: choice === undefined ? undefined : toolChoice(choice),
    reasoning: model.reasoning && version !== "v3" ? (options.reasoning ?? "none") : undefined,
  });
}

function functionTool({ name, description, parameters, strict }: ToolSpec): JsonObject {
  return { type: "function", name, description, inputSchema: parameters, ...(strict ? { strict } : {}) };
}

function toolChoice(choice: NonNullable<ReturnType<typeof resolveToolChoice>>): JsonObject {
  if (typeof choice === "object") return { type: "tool", toolName: choice.name };
  return { type: choice === "any" ? "required" : choice };
}

/** All results of a turn are one message. */
function promptMessages(messages: readonly ModelMessage[], version: string): JsonObject[] {
  const list: { role: string; content: JsonObject[] }[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") {
      const last = list.at(-1);
      if (last?.role === "tool") last.content.push(toolResult(message, version));
      else list.push({ role: "tool", content: [toolResult(message, version)] });
      continue;
    }
    const isReply = message.role === "assistant";
    const content = isReply ? message.content.flatMap(replyPart) : inputParts(message.content, version);
    // Instructions in the middle of a conversation have no role of their own.
    if (content.length > 0) list.push({ role: isReply ? "assistant" : "user", content });
  }
  return list;
}

function inputParts(content: string | InputContent[], version: string): JsonObject[] {
  const blocks: InputContent[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return blocks
    .filter((block) => block.type === "image" || block.text !== "")
    .map((block) =>
      block.type === "text"
        ? { type: "text", text: block.text }
        : { type: "file", mediaType: block.mimeType, data: fileData(block.data, version) },
    );
}

function fileData(data: string, version: string): unknown {
  return version === "v3" ? data : { type: "data", data };
}

function toolResult({ toolCallId, toolName, content, isError }: ToolResultMessage, version: string): JsonObject {
  const hasImage = content.some(({ type }) => type === "image");
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  const output = hasImage
    ? { type: "content", value: content.map((block) => resultPart(block, version)) }
    : { type: isError ? "error-text" : "text", value: text };
  return { type: "tool-result", toolCallId, toolName, output };
}

function resultPart(block: InputContent, version: string): JsonObject {
  if (block.type === "text") return { type: "text", text: block.text };
  const { data, mimeType: mediaType } = block;
  return version === "v3"
    ? { type: "image-data", data, mediaType }
    : { type: "file", data: fileData(data, version), mediaType };
}

function replyPart(block: AssistantContent): JsonObject[] {
  switch (block.type) {
    case "text": {
      const own = ownOptions(block.textSignature);
      return block.text === "" && !own.providerOptions ? [] : [{ type: "text", text: block.text, ...own }];
    }
    case "thinking": {
      const own = ownOptions(block.thinkingSignature);
      const isEmpty = block.thinking === "" && !own.providerOptions;
      return isEmpty ? [] : [{ type: "reasoning", text: block.thinking, ...own }];
    }
    case "toolCall": {
      const { id: toolCallId, name: toolName, arguments: input } = block;
      return [{ type: "tool-call", toolCallId, toolName, input, ...ownOptions(block.thoughtSignature) }];
    }
    case "redactedThinking":
      return []; // only other apis have it
  }
}

/** What the package said of its own, for the package. */
function ownOptions(signature: string | undefined): { providerOptions?: JsonObject } {
  const providerOptions = parseObject(signature ?? "");
  return providerOptions ? { providerOptions } : {};
}

function withoutMissing(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
