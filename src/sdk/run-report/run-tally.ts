// What a run did so far, added up from its events: turns, tokens, dollars, the call under way, the calls that failed.

import { isObject } from "../../base/json.js";
import { oneLine } from "../../base/sanitize.js";
import type { AgentSessionEvent, ToolResult } from "../../protocol/events.js";
import type { AssistantMessage } from "../../protocol/messages.js";
import { Bill } from "../../record/billing.js";
import { callTarget } from "./call-target.js";

export interface FailedCall {
  readonly tool: string;
  readonly target: string;
  readonly why: string;
}

export interface RunningCall {
  readonly id: string;
  readonly tool: string;
  readonly target: string;
}

export interface WaitingRetry {
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly delayMs: number;
  readonly reason: string;
}

const maxWhy = 200;

export class RunTally {
  /** Replies that came to their end. */
  turns = 0;
  readonly failed: FailedCall[] = [];
  retry: WaitingRetry | undefined;
  readonly #running = new Map<string, RunningCall>();
  readonly #bill = new Bill();

  /** Sent and received, of all replies and summaries. */
  get tokens(): number {
    const { input, output, cacheRead, cacheWrite } = this.#bill.total;
    return input + output + cacheRead + cacheWrite;
  }

  /** In dollars, as far as prices are known. */
  get cost(): number {
    return this.#bill.total.cost.total;
  }

  /** The call that began last of those that have not ended. */
  get call(): RunningCall | undefined {
    return [...this.#running.values()].at(-1);
  }

  add(event: AgentSessionEvent): void {
    switch (event.type) {
      case "message_start":
        this.retry = undefined;
        return;
      case "message_end":
        if (event.message.role === "assistant") this.#replied(event.message);
        return;
      case "auto_compaction_end":
        if (isObject(event.result?.details)) this.#bill.addAll(event.result.details.usage);
        return;
      case "auto_retry_start": {
        const { attempt, maxAttempts, delayMs, errorMessage } = event;
        this.retry = { attempt, maxAttempts, delayMs, reason: oneLine(errorMessage, maxWhy) };
        return;
      }
      case "auto_retry_end":
        this.retry = undefined;
        return;
      case "tool_execution_start": {
        const { toolCallId: id, toolName: tool, args } = event;
        this.#running.set(id, { id, tool, target: callTarget(args) });
        return;
      }
      case "tool_execution_end": {
        const { toolCallId: id, toolName: tool, isError, result } = event;
        const target = this.#running.get(id)?.target ?? "";
        this.#running.delete(id);
        if (isError) this.failed.push({ tool, target, why: reasonOf(result) });
        return;
      }
    }
  }

  #replied({ provider, model, usage, stopReason }: AssistantMessage): void {
    if (stopReason !== "error" && stopReason !== "aborted") this.turns++;
    this.#bill.add(`${provider}/${model}`, usage);
  }
}

/** A command says why it failed in a line after its output; what became of its files may follow. */
function reasonOf({ content, details }: ToolResult): string {
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const isCommand = isObject(details) && "exitCode" in details;
  const line = isCommand ? (lines.findLast((each) => each.startsWith("Command ")) ?? lines.at(-1)) : lines[0];
  return oneLine(line ?? "it gave no reason", maxWhy);
}
