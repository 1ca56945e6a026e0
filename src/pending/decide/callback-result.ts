// The results of callbacks. Callbacks are code of extensions and may return anything.

import { isObject } from "../../base/json.js";
import type { InputContent } from "../../protocol/content.js";
import type { ToolResult } from "../../protocol/events.js";

/** A result, or only its content. Undefined: the callback returned nothing. */
export function resultOf(told: unknown): ToolResult | undefined {
  if (told === undefined || told === null) return undefined;
  return isObject(told) ? (told as unknown as ToolResult) : { content: blocksOf({ content: told }) };
}

export function blocksOf({ content }: { content?: unknown }): InputContent[] {
  return (Array.isArray(content) ? content : [content]).flatMap(blockOf);
}

/** Empty for a value that is neither text nor an image. */
function blockOf(value: unknown): InputContent[] {
  if (typeof value === "string") return [{ type: "text", text: value }];
  if (!isObject(value)) return [];
  const { type, text, data, mimeType } = value;
  const isText = type === "text" && typeof text === "string";
  const isImage = type === "image" && typeof data === "string" && typeof mimeType === "string";
  return isText || isImage ? [value as unknown as InputContent] : [];
}

export function textOf(result: ToolResult): string {
  return blocksOf(result)
    .map((block) => (block.type === "text" ? block.text : ""))
    .filter((text) => text !== "")
    .join("\n");
}
