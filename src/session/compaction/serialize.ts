// A conversation as plain text for a summary. Long outputs are cut: a summary needs to know that a file was read, not
// what it contained. One piece per message part, so that a long conversation can be cut between pieces.

import type { SessionEntry } from "../../protocol/entries.js";
import type { AgentMessage, AssistantMessage } from "../../protocol/messages.js";
import { messageOfEntry } from "../../record/entry-message.js";
import { toModelMessage } from "../model-messages.js";

export const maxResultCharacters = 2000;

export function serializeEntries(entries: readonly SessionEntry[]): string[] {
  return serializeMessages(entries.map(messageOfEntry).filter((message) => message !== undefined));
}

export function serializeMessages(messages: readonly AgentMessage[]): string[] {
  return messages.flatMap(serializeMessage);
}

/** The first characters, never half of a surrogate pair. */
export function headOf(text: string, maxCharacters: number): string {
  const head = text.slice(0, maxCharacters);
  return head.length < text.length && /[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head;
}

function serializeMessage(message: AgentMessage): string[] {
  switch (message.role) {
    case "assistant":
      return serializeReply(message);
    case "toolResult":
      return piece("Tool result", cut(textOf(message.content)));
    case "developer":
      return piece("Developer", textOf(message.content));
    case "custom":
    case "hookMessage":
      return piece("Custom", textOf(message.content));
    default: {
      const asSent = toModelMessage(message);
      return asSent?.role === "user" ? piece("User", textOf(asSent.content)) : [];
    }
  }
}

function serializeReply({ content }: AssistantMessage): string[] {
  const thoughts = content.flatMap((block) => (block.type === "thinking" ? [block.thinking] : []));
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const calls = content.flatMap((block) =>
    block.type === "toolCall" ? [`${block.name}(${cut(JSON.stringify(block.arguments))})`] : [],
  );
  return [
    ...piece("Assistant thinking", thoughts.join("\n")),
    ...piece("Assistant", texts.join("\n")),
    ...piece("Assistant tool calls", calls.join("; ")),
  ];
}

function piece(speaker: string, text: string): string[] {
  return text.trim() === "" ? [] : [`[${speaker}]: ${text}`];
}

function textOf(content: string | readonly ({ type: "text"; text: string } | { type: "image" })[]): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
}

function cut(text: string): string {
  const head = headOf(text, maxResultCharacters);
  return head.length === text.length ? text : `${head}\n[${text.length - head.length} more characters left out]`;
}
