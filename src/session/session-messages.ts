// The messages that are put into a conversation from outside: by a person, a program or an extension. Made here, so
// that each has its author and its time, and nothing that no model could read gets into the record.

import { GalleyError } from "../base/errors.js";
import type { ImageContent, InputContent } from "../protocol/content.js";
import type { AgentMessage, CustomMessage, UserMessage } from "../protocol/messages.js";
import { checkMessage } from "../record/check-message.js";
import type { EntryFields } from "../record/record-options.js";

/** What the author of a custom message says; `display` is for hosts, the model always reads it. */
export type CustomMessageInput = Pick<CustomMessage, "customType" | "content" | "display" | "details" | "attribution">;

export function userMessage(
  text: string,
  { images = [], isSynthetic = false, now }: { images?: readonly ImageContent[]; isSynthetic?: boolean; now: number },
): UserMessage {
  return {
    role: "user",
    content: [{ type: "text", text }, ...images],
    attribution: isSynthetic ? "agent" : "user",
    ...(isSynthetic ? { synthetic: true } : {}),
    timestamp: now,
  };
}

export function customMessage(input: CustomMessageInput, now: number): CustomMessage {
  const { customType, content, display, details, attribution = "agent" } = input;
  const fields = { customType, content, display, details, attribution };
  const message = checkMessage({ role: "custom", ...fields }, now);
  if (message?.role !== "custom" || message.customType === "")
    throw new GalleyError("invalid_argument", "A custom message needs a customType, and content of texts and images");
  return message;
}

/** The entry that puts a message on record. */
export function entryOf(message: AgentMessage): EntryFields {
  if (message.role !== "custom") return { type: "message", message };
  const { role: _role, timestamp, ...fields } = message;
  // The entry has no other field for the message's time.
  return { type: "custom_message", timestamp: new Date(timestamp).toISOString(), ...fields };
}

/** Text and images of what was said. */
export function textAndImages(content: string | readonly InputContent[]): { text: string; images: ImageContent[] } {
  if (typeof content === "string") return { text: content, images: [] };
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return { text: texts.join("\n"), images: content.filter((block) => block.type === "image") };
}

/** What a message says in words. */
export function plainText(message: AgentMessage): string {
  if (!("content" in message)) return "";
  if (typeof message.content === "string") return message.content;
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
