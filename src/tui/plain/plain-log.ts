// What a session's events say in plain lines: who speaks, and what. Pure; a text is told when it is whole.

import type { AgentMessage, AgentSessionEvent } from "../../sdk/index.js";
import { callTarget } from "../../sdk/run-report/call-target.js";

export interface Said {
  readonly who: string;
  readonly text: string;
}

const maxOutputLines = 40;

export function saidBy(event: AgentSessionEvent): Said[] {
  switch (event.type) {
    case "message_update": {
      const update = event.assistantMessageEvent;
      if (update.type === "text_end" && update.content.trim() !== "") return [{ who: "galley", text: update.content }];
      return [];
    }
    case "message_end":
      return event.message.role === "assistant" ? failureOf(event.message) : [];
    case "tool_execution_start":
      return [{ who: `tool ${event.toolName}`, text: callTarget(event.args) || "begins" }];
    case "tool_execution_end":
      return [{ who: `tool ${event.toolName}`, text: outputOf(event.result.content, event.isError) }];
    case "pending_action_added": {
      const { id, label } = event.action;
      return [{ who: `preview ${id}`, text: `${label}. Nothing is written yet. /review shows it.` }];
    }
    case "pending_action_resolved":
      return [{ who: `preview ${event.id}`, text: event.outcome }];
    case "auto_retry_start":
      return [{ who: "galley", text: `${event.errorMessage} Retry ${event.attempt}/${event.maxAttempts}.` }];
    case "auto_retry_end":
      return !event.success && event.finalError ? [{ who: "galley", text: event.finalError }] : [];
    case "retry_fallback_applied":
      return [{ who: "galley", text: `${event.from} does not answer. ${event.to} goes on.` }];
    case "auto_compaction_end":
      if (event.errorMessage) return [{ who: "galley", text: event.errorMessage }];
      return event.result ? [{ who: "galley", text: "The older part of the conversation was summarized." }] : [];
    default:
      return [];
  }
}

function failureOf({ stopReason, errorMessage }: Extract<AgentMessage, { role: "assistant" }>): Said[] {
  if (stopReason === "error") return [{ who: "galley", text: errorMessage ?? "The model's service failed." }];
  return stopReason === "aborted" ? [{ who: "galley", text: "Stopped." }] : [];
}

type Content = Extract<AgentSessionEvent, { type: "tool_execution_end" }>["result"]["content"];

function outputOf(content: Content, isError: boolean): string {
  const text = content.map((block) => (block.type === "text" ? block.text : `[image: ${block.mimeType}]`)).join("\n");
  const lines = text.trimEnd().split("\n");
  const rest = lines.length - maxOutputLines;
  const shown = lines.slice(0, maxOutputLines).join("\n") + (rest > 0 ? `\n${rest} more lines` : "");
  return `${isError ? "failed\n" : ""}${shown.trim() === "" ? "done" : shown}`;
}
