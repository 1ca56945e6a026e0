// The body of a Gemini generateContent request. Signatures go back on the parts they came on; replay.ts has removed those
// of other models.

import type { JsonObject } from "../../base/json.js";
import type { AssistantContent, ImageContent, InputContent, TextContent } from "../../protocol/content.js";
import type { AssistantMessage, ToolResultMessage } from "../../protocol/messages.js";
import { encodeConversation } from "../http/encoded-conversation.js";
import { resolveToolChoice } from "../http/wire.js";
import type { ModelMessage, StreamRequest, ToolSpec } from "../provider.js";
import { plainIds } from "../replay.js";
import { compatFlag, samplingFor } from "../shared-compat.js";
import { planThinking } from "./gemini-thinking.js";

export function generateContentPayload(request: StreamRequest): JsonObject {
  const { model, context, options } = request;
  const isNew = !isBeforeGemini3(model.id);
  const choice = resolveToolChoice(options.toolChoice, context.tools);
  const conversion = {
    model,
    idRule: plainIds,
    variant: "generateContent",
    append: (wire: WireContent[], messages: readonly ModelMessage[]) => appendWire(wire, messages, isNew),
    finalCount: (wire: readonly WireContent[]) => Math.max(wire.length - 1, 0), // the next message may extend the last one
    finish: (wire: readonly WireContent[]) => withPrompt(wire, context.messages),
  };
  const { temperature, sampling } = samplingFor(request, compatFlag(model, "supportsTemperature", true));
  return {
    contents: encodeConversation(context.messages, conversion),
    ...(context.systemPrompt === "" ? {} : { systemInstruction: { parts: [{ text: context.systemPrompt }] } }),
    ...(context.tools.length === 0 ? {} : { tools: [{ functionDeclarations: context.tools.map(wireTool) }] }),
    ...(choice === undefined ? {} : { toolConfig: { functionCallingConfig: wireChoice(choice) } }),
    generationConfig: {
      ...planThinking(model, options),
      temperature,
      topP: sampling?.topP,
      topK: sampling?.topK,
    },
  };
}

/** Later models want the ids of calls, and take images in results. A name that is not known is a later model's. */
export function isBeforeGemini3(id: string): boolean {
  const major = /gemini-?(?:[a-z]+-)*(\d+)/i.exec(id)?.[1];
  return major !== undefined && Number(major) < 3;
}

/** As JSON Schema: the older field `parameters` knows neither `additionalProperties` nor `pattern`. */
function wireTool({ name, description, parameters }: ToolSpec): JsonObject {
  return { name, description, parametersJsonSchema: parameters };
}

function wireChoice(choice: NonNullable<ReturnType<typeof resolveToolChoice>>): JsonObject {
  return typeof choice === "object"
    ? { mode: "ANY", allowedFunctionNames: [choice.name] }
    : { mode: choice.toUpperCase() };
}

interface WireContent {
  role: "user" | "model";
  parts: JsonObject[];
}

/** Neighbours of one role become one content, so all results of a turn travel together. */
function appendWire(wire: WireContent[], messages: readonly ModelMessage[], isNew: boolean): void {
  /** Images of results, which older models take only after all results of the turn. */
  let images: JsonObject[] = [];
  const push = (role: WireContent["role"], parts: JsonObject[]) => {
    const last = wire.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else if (parts.length > 0) wire.push({ role, parts });
  };
  for (const message of messages) {
    if (message.role === "toolResult") {
      const shown = message.content.filter((block) => block.type === "image").map(wireImage);
      if (!isNew) images.push(...shown);
      push("user", [wireResult(message, { isNew, images: shown })]);
      continue;
    }
    push("user", images);
    images = [];
    if (message.role === "assistant") push("model", wireReply(message, isNew));
    else push("user", wireInput(message.content));
  }
  push("user", images);
}

/** Empty text is refused. */
function wireInput(content: string | InputContent[]): JsonObject[] {
  const blocks: InputContent[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return blocks
    .filter((block) => block.type === "image" || block.text !== "")
    .map((block) => (block.type === "image" ? wireImage(block) : { text: block.text }));
}

function wireImage({ mimeType, data }: ImageContent): JsonObject {
  return { inlineData: { mimeType, data } };
}

function wireResult(
  { toolCallId, toolName, content, isError }: ToolResultMessage,
  { isNew, images }: { isNew: boolean; images: JsonObject[] },
): JsonObject {
  const text = content
    .filter((block): block is TextContent => block.type === "text")
    .map((block) => block.text)
    .join("\n");
  const told = text === "" && images.length > 0 ? "(the result is an image)" : text;
  return {
    functionResponse: {
      ...(isNew ? { id: toolCallId } : {}),
      name: toolName,
      response: isError ? { error: told } : { output: told },
      ...(isNew && images.length > 0 ? { parts: images } : {}),
    },
  };
}

/** What the service accepts in place of the signature of a call that it has not made or that has lost it. */
const noSignature = "skip_thought_signature_validator";

function wireReply({ content }: AssistantMessage, isNew: boolean): JsonObject[] {
  const parts: JsonObject[] = [];
  // Of parallel calls only the first is signed. Later models refuse a turn whose first call is not.
  let isFirstCall = true;
  for (const block of content) {
    const signature = signatureOf(block) || (block.type === "toolCall" && isNew && isFirstCall ? noSignature : "");
    const signed = signature === "" ? {} : { thoughtSignature: signature };
    if (block.type === "toolCall") {
      isFirstCall = false;
      const { id, name, arguments: args } = block;
      parts.push({ functionCall: { ...(isNew ? { id } : {}), name, args }, ...signed });
    } else if (block.type === "text") {
      if (block.text !== "" || signature !== "") parts.push({ text: block.text, ...signed });
    } else if (block.type === "thinking") {
      if (block.thinking !== "" || signature !== "") parts.push({ text: block.thinking, thought: true, ...signed });
    } // redacted thinking is another service's
  }
  return parts;
}

function signatureOf(block: AssistantContent): string {
  if (block.type === "text") return block.textSignature ?? "";
  if (block.type === "thinking") return block.thinkingSignature ?? "";
  return block.type === "toolCall" ? (block.thoughtSignature ?? "") : "";
}

/** A prompt without text must still be sent: without it the list may be empty, or end in a reply. */
function withPrompt(wire: readonly WireContent[], messages: readonly ModelMessage[]): readonly WireContent[] {
  const isAsked = wire.at(-1)?.role === "user" || (wire.length > 0 && messages.at(-1)?.role === "assistant");
  return isAsked ? wire : [...wire, { role: "user", parts: [{ text: "(no text)" }] }];
}
