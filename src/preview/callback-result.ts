// What callbacks say: they are somebody else's code, and may return anything.

import { isObject } from "../base/json.js";
import type { InputContent } from "../protocol/content.js";
import type { ToolResult } from "../protocol/events.js";

/** A result, or only what it would hold. Undefined: there is nothing to say. */
export function resultOf(told: unknown): ToolResult | undefined {
  if (told === undefined || told === null) return undefined;
  return isObject(told) ? (told as unknown as ToolResult) : { content: blocksOf({ content: told }) };
}

export function blocksOf({ content }: { content?: unknown }): InputContent[] {
  if (Array.isArray(content)) return content;
  return typeof content === "string" ? [{ type: "text", text: content }] : [];
}

export function textOf(result: ToolResult): string {
  return blocksOf(result)
    .map((block) => (block.type === "text" ? block.text : ""))
    .filter((text) => text !== "")
    .join("\n");
}
