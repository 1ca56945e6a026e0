// Plain mode: a conversation in whole lines, for screen readers and for terminals that cannot draw. It loads nothing that
// draws.

import { messageOf } from "../../base/errors.js";
import type { AgentMessage, AgentSession, AgentSessionEvent } from "../../sdk/index.js";
import { callTarget } from "../../sdk/run-report/call-target.js";
import { runPlainCommand } from "./plain-commands.js";
import type { LineReader, PlainIO } from "./plain-io.js";

export interface PlainOptions {
  readonly session: AgentSession;
  readonly io: PlainIO;
  readonly lines: LineReader;
  /** Shows that a line is awaited. */
  readonly promptUser: () => void;
  readonly firstPrompt?: string;
  readonly login: (provider: string) => Promise<boolean>;
}

/** Returns the exit code. Ends with `/quit`, or with the end of the input. */
export async function runPlainMode({
  session,
  io,
  lines,
  promptUser,
  firstPrompt,
  login,
}: PlainOptions): Promise<number> {
  let code: number | undefined;
  const leave = (next: number) => {
    code = next;
  };
  session.subscribe((event) => {
    for (const { who, text } of saidBy(event)) io.say(who, text);
  });
  const program = { session, io, leave, login };
  const take = async (line: string) => {
    try {
      if (line.startsWith("/")) await runPlainCommand(program, line.trim());
      else if (line.trim() !== "") await session.prompt(line.trim(), { streamingBehavior: "steer" });
    } catch (error) {
      io.say("galley", messageOf(error));
    }
  };
  // While a run is on, a line steers it, and a command acts beside it.
  lines.onLine = (line) => void take(line);
  if (firstPrompt) await take(firstPrompt);
  while (code === undefined) {
    promptUser();
    const line = await lines.nextPrompt();
    if (line === undefined) return 0;
    await take(line);
  }
  return code;
}

// What a session's events say in plain lines: who speaks, and what. Pure; a text is told when it is whole.

interface Said {
  readonly who: string;
  readonly text: string;
}

const maxOutputLines = 40;

function saidBy(event: AgentSessionEvent): Said[] {
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
