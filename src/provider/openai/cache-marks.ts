// Marks that tell a service behind chat completions what to cache, by Anthropic's rules: the system prompt, the last tool,
// and the newest two turns of input (of the user or of tools), one for the next call and one for this one.

import type { JsonObject } from "../../base/json.js";

export interface CacheMark {
  readonly cache_control: { readonly type: "ephemeral"; readonly ttl?: "1h" };
}

const markedTurns = 2;

export function cacheMark(isLong: boolean): CacheMark {
  return { cache_control: { type: "ephemeral", ...(isLong ? { ttl: "1h" } : {}) } };
}

/** The text with a mark; a message without text is left as it is, since nothing but space cannot be cached. */
export function marked(message: JsonObject, mark: CacheMark): JsonObject {
  const { content } = message;
  if (typeof content === "string")
    return /\S/.test(content) ? { ...message, content: [{ type: "text", text: content, ...mark }] } : message;
  if (!Array.isArray(content)) return message;
  const parts: readonly JsonObject[] = content;
  const last = parts.findLastIndex(({ type }) => type === "text");
  return { ...message, content: parts.map((part, index) => (index === last ? { ...part, ...mark } : part)) };
}

export function withMarks(wire: readonly JsonObject[], mark: CacheMark): JsonObject[] {
  const ends = new Set(turnEnds(wire).slice(-markedTurns));
  return wire.map((message, index) => (ends.has(index) ? marked(message, mark) : message));
}

/** The messages, from the first, that no later message can mark or extend. */
export function unmarkableCount(wire: readonly JsonObject[]): number {
  const end = turnEnds(wire).at(-markedTurns - 1);
  return end === undefined ? 0 : end + 1;
}

/** Where a row of messages that are no replies ends. */
function turnEnds(wire: readonly JsonObject[]): number[] {
  const ends: number[] = [];
  for (const [index, { role }] of wire.entries()) {
    const next = wire[index + 1];
    if (role !== "assistant" && (next === undefined || next.role === "assistant")) ends.push(index);
  }
  return ends;
}
