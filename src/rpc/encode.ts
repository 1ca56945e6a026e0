// Frames to text. A `message_update` is the hot one: its message is serialised once for both places it stands in, or
// not at all when the host asked for deltas only.

import { messageOf } from "../base/errors.js";
import { asLine, encodeFrame } from "../base/ndjson.js";
import type { AgentEvent } from "../protocol/events.js";
import type { AssistantMessage } from "../protocol/messages.js";

export type UpdateEvent = Extract<AgentEvent, { type: "message_update" }>;

export interface UpdateEncoding {
  /** The stand-in for the whole message, already as text; absent means: send the whole message. */
  stub?: string;
  messageId?: string;
}

/** `delta` overrides the event's own when several were merged into it. */
export function encodeUpdate(event: UpdateEvent, delta: string | undefined, encoding: UpdateEncoding): string {
  const message = encoding.stub ?? JSON.stringify(event.message);
  const inner = event.assistantMessageEvent;
  let members = `"type":"${inner.type}"`;
  if ("contentIndex" in inner) members += `,"contentIndex":${inner.contentIndex}`;
  if ("delta" in inner) members += `,"delta":${JSON.stringify(delta ?? inner.delta)}`;
  if ("content" in inner) members += `,"content":${JSON.stringify(inner.content)}`;
  if ("toolCall" in inner) members += `,"toolCall":${JSON.stringify(inner.toolCall)}`;
  const id = encoding.messageId === undefined ? "" : `,"messageId":${JSON.stringify(encoding.messageId)}`;
  return asLine(
    `{"type":"message_update","message":${message},"assistantMessageEvent":{${members},"partial":${message}}${id}}`,
  );
}

/** What stands for the message while the host collects deltas: everything but the content. */
export function stubOf(message: AssistantMessage): string {
  const { role, api, provider, model, usage, stopReason, timestamp } = message;
  return JSON.stringify({ role, content: [], api, provider, model, usage, stopReason, timestamp });
}

/** Any other frame. What cannot be written as JSON (a cycle or a bigint in somebody's details) is shown as text. */
export function encodeSafely(frame: object): string {
  try {
    return encodeFrame(frame);
  } catch (error) {
    const seen: unknown[] = [];
    const note = `[not JSON: ${messageOf(error).split("\n", 1)[0]}]`;
    return encodeFrame(
      JSON.parse(
        JSON.stringify(frame, function (this: unknown, _key, value: unknown) {
          if (typeof value === "bigint") return String(value);
          if (typeof value !== "object" || value === null) return value;
          // The open ancestors of this value: everything up to its holder.
          while (seen.length > 0 && seen.at(-1) !== this) seen.pop();
          if (seen.includes(value)) return note;
          seen.push(value);
          return value;
        }) as string,
      ) as object,
    );
  }
}
