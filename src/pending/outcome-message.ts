// What the model is told, with its next request, about a decision that it did not make itself.

import { stripEscapes } from "../base/sanitize.js";
import type { ToolResult } from "../protocol/events.js";
import type { CustomMessage } from "../protocol/messages.js";
import type { Decision } from "./decide/decision.js";

export interface ToldAction {
  readonly id: string;
  readonly label: string;
  readonly isPart: boolean;
  /** What a person made of the model's text before. */
  readonly edits?: string | undefined;
}

export function outcomeMessage(
  { id, label, isPart, edits }: ToldAction,
  { action, by }: Decision,
  { result, timestamp }: { result: ToolResult; timestamp: number },
): CustomMessage {
  const blocks = result.content.map((block) => (block.type === "text" ? block.text : ""));
  const text = [...blocks, ...(edits === undefined ? [] : [edits])].join("\n");
  const word = `${isPart ? "partly " : ""}${action === "apply" ? "applied" : "discarded"}`;
  return {
    role: "custom",
    customType: "pending-action-outcome",
    content: stripEscapes(`${id} (${label}) was ${word} by the ${by}: ${text}`),
    display: false,
    attribution: "agent",
    timestamp,
  };
}
