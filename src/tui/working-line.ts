// What is going on while a run is under way: a fold of its events, and one line.

import { oneLine } from "../base/sanitize.js";
import type { AgentSession, AgentSessionEvent, Theme } from "../sdk/index.js";
import { callTarget } from "../sdk/run-report/call-target.js";
import { cutTo } from "./cut-to.js";

/** What the run does at the moment. */
export class Doing {
  readonly #now: () => number;
  readonly #calls = new Map<string, { readonly text: string; readonly since: number }>();
  #phase: "asking" | "thinking" | "answering" = "asking";
  #retry: { readonly text: string; readonly until: number } | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  apply(event: AgentSessionEvent): void {
    switch (event.type) {
      case "turn_start":
        this.#phase = "asking";
        return;
      case "message_update":
        this.#retry = undefined;
        if (event.assistantMessageEvent.type.startsWith("thinking")) this.#phase = "thinking";
        else if (event.assistantMessageEvent.type.startsWith("text")) this.#phase = "answering";
        return;
      case "tool_execution_start": {
        const text = `${oneLine(event.toolName, 40)} ${callTarget(event.args)}`.trim();
        this.#calls.set(event.toolCallId, { text, since: this.#now() });
        return;
      }
      case "tool_execution_end":
        this.#calls.delete(event.toolCallId);
        return;
      case "auto_retry_start":
        this.#retry = { text: `Retry ${event.attempt}/${event.maxAttempts}`, until: this.#now() + event.delayMs };
        return;
      case "auto_retry_end":
        this.#retry = undefined;
        return;
      case "agent_settled":
        this.#calls.clear();
        this.#retry = undefined;
        this.#phase = "asking";
        return;
      default:
        return;
    }
  }

  get text(): string {
    if (this.#retry) {
      const seconds = Math.ceil((this.#retry.until - this.#now()) / 1000);
      return seconds > 0 ? `${this.#retry.text} in ${seconds} s` : this.#retry.text;
    }
    const [call, ...others] = [...this.#calls.values()];
    if (call) {
      const seconds = Math.floor((this.#now() - call.since) / 1000);
      const more = others.length > 0 ? ` and ${others.length} more` : "";
      return `${call.text}${seconds > 0 ? ` ${seconds}s` : ""}${more}`;
    }
    return { asking: "Working", thinking: "Thinking", answering: "Answering" }[this.#phase];
  }
}

export interface Saying {
  readonly doing: Doing;
  /** What an extension says instead. */
  readonly message: string | undefined;
}

export function workingLine(session: AgentSession, { doing, message }: Saying, theme: Theme, width: number): string[] {
  if (!session.isStreaming && !session.isCompacting && !session.isRetrying) return [];
  const frames = theme.spinnerFrames;
  const frame = frames[Math.floor(performance.now() / 100) % frames.length] ?? "…";
  const what = cutTo(message ?? (session.isCompacting ? "Summarizing" : doing.text), Math.max(8, width - 18));
  return [cutTo(` ${theme.fg("accent", frame)} ${what}   ${theme.fg("muted", "esc to stop")}`, width), ""];
}
