// Content blocks: the smallest pieces a message is made of.

import Type, { type Static } from "typebox";

export const TextContent = Type.Object({
  type: Type.Literal("text"),
  text: Type.String(),
  textSignature: Type.Optional(Type.String()),
});
export type TextContent = Static<typeof TextContent>;

export const ThinkingContent = Type.Object({
  type: Type.Literal("thinking"),
  thinking: Type.String(),
  thinkingSignature: Type.Optional(Type.String()),
});
export type ThinkingContent = Static<typeof ThinkingContent>;

export const RedactedThinkingContent = Type.Object({
  type: Type.Literal("redactedThinking"),
  data: Type.String(),
});
export type RedactedThinkingContent = Static<typeof RedactedThinkingContent>;

export const ImageContent = Type.Object({
  type: Type.Literal("image"),
  data: Type.String(),
  mimeType: Type.String(),
});
export type ImageContent = Static<typeof ImageContent>;

export const ToolCall = Type.Object({
  type: Type.Literal("toolCall"),
  id: Type.String(),
  name: Type.String(),
  arguments: Type.Record(Type.String(), Type.Unknown()),
  thoughtSignature: Type.Optional(Type.String()),
  intent: Type.Optional(Type.String()),
});
export type ToolCall = Static<typeof ToolCall>;

/** What users, tools and custom messages may say. */
export const InputContent = Type.Union([TextContent, ImageContent]);
export type InputContent = Static<typeof InputContent>;

/** What an assistant may say. */
export const AssistantContent = Type.Union([TextContent, ThinkingContent, RedactedThinkingContent, ToolCall]);
export type AssistantContent = Static<typeof AssistantContent>;
