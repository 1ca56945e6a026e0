// Frames to text. A `message_update` is the hot one: its message is serialised once for both fields it appears in, or
// not at all when the host asked for deltas only. No value in a frame can keep the frame from being written.

import { messageOf } from "../base/errors.js";
import { asLine } from "../base/ndjson.js";
import type { TextMask } from "../base/text-mask.js";
import type { AgentEvent } from "../protocol/events.js";
import type { AssistantMessage } from "../protocol/messages.js";

export type UpdateEvent = Extract<AgentEvent, { type: "message_update" }>;

export interface UpdateEncoding {
  /** The stand-in for the whole message, already as text; absent means: send the whole message. */
  stub?: string;
  messageId?: string;
  /** What the frame may not hold. */
  mask?: TextMask | undefined;
}

/** `delta` overrides the event's own when several were merged into it. */
export function encodeUpdate(event: UpdateEvent, delta: string | undefined, encoding: UpdateEncoding): string {
  const message = encoding.stub ?? jsonOf(event.message);
  const inner = event.assistantMessageEvent;
  let members = `"type":"${inner.type}"`;
  if ("contentIndex" in inner) members += `,"contentIndex":${inner.contentIndex}`;
  if ("delta" in inner) members += `,"delta":${JSON.stringify(delta ?? inner.delta)}`;
  if ("content" in inner) members += `,"content":${JSON.stringify(inner.content)}`;
  if ("toolCall" in inner) members += `,"toolCall":${jsonOf(inner.toolCall)}`;
  if ("complete" in inner) members += `,"complete":${inner.complete}`;
  const id = encoding.messageId === undefined ? "" : `,"messageId":${JSON.stringify(encoding.messageId)}`;
  return asLine(
    `{"type":"message_update","message":${message},"assistantMessageEvent":{${members},"partial":${message}}${id}}`,
    encoding.mask,
  );
}

/** Replaces the message while the host collects deltas: everything but the content. */
export function stubOf(message: AssistantMessage): string {
  const { role, api, provider, model, usage, stopReason, timestamp } = message;
  return JSON.stringify({ role, content: [], api, provider, model, usage, stopReason, timestamp });
}

/** Any other frame. */
export function encodeSafely(frame: object, mask?: TextMask): string {
  return asLine(jsonOf(frame), mask);
}

/** A lost frame would leave the host waiting, so what JSON cannot hold (see `writable`) is sent as text. */
function jsonOf(value: object): string {
  try {
    const text = JSON.stringify(value);
    // Two brackets a level: a shorter text cannot be too deep.
    if (!serializesAnyDepth || text.length < 2 * maxWholeDepth || !isDeeper(value, maxWholeDepth)) return text;
  } catch {
    // below
  }
  return JSON.stringify(writable(() => value, []));
}

/**
 * Up to Node 24 JSON.stringify itself fails soon beyond this. Node 26 supports some hundred thousand levels, which few
 * hosts could read.
 */
const maxWholeDepth = 4000;
const serializesAnyDepth = Number.parseInt(process.versions.node, 10) > 24;

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

/** The depth that such arguments of a model are cut to: anything deeper is noise. */
const maxDepth = 128;

/** A copy without cycles, bigints, endless depth, and members that throw when they are read. */
function writable(read: () => unknown, ancestors: readonly object[]): unknown {
  try {
    const value = read();
    if (typeof value === "bigint") return String(value);
    if (typeof value !== "object" || value === null) return value;
    if (ancestors.includes(value)) return "[cycle]";
    if (ancestors.length >= maxDepth) return "[nested too deeply]";
    const inside = [...ancestors, value];
    const holder = value as Record<string, unknown>;
    const { toJSON } = holder;
    if (typeof toJSON === "function") return writable(() => toJSON.call(value), inside);
    if (Array.isArray(value)) return value.map((item) => writable(() => item, inside));
    return Object.fromEntries(Object.keys(value).map((key) => [key, writable(() => holder[key], inside)]));
  } catch (error) {
    return `[unreadable: ${messageOf(error)}]`;
  }
}
