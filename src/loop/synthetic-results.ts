// Results for calls that never ran. The host still sees every call start and end, and the model still gets exactly
// one result per call.

import type { ToolCall } from "../protocol/content.js";
import type { ToolResult } from "../protocol/events.js";
import type { ToolResultMessage } from "../protocol/messages.js";
import type { FinishedCall } from "./reply-builder.js";
import type { CallRun, Run } from "./run.js";

const skippedText = "Skipped due to queued user message.";
export const interruptedText = "Interrupted by queued user message.";
export const cutOffText = "Tool call was cut off before its arguments were complete. Retry with smaller arguments.";

export function abortedText(errorMessage?: string): string {
  return errorMessage ? `Tool execution was aborted: ${errorMessage}` : "Tool execution was aborted.";
}

export function failedText(errorMessage?: string): string {
  return errorMessage
    ? `Tool execution failed due to an error: ${errorMessage}`
    : "Tool execution failed due to an error.";
}

/** `started` tells a call that was cut short from one that never began. */
export function syntheticResult(text: string, started: boolean): ToolResult {
  return { content: [{ type: "text", text }], details: { started }, isError: true };
}

/** For a call that had not begun when the run was aborted or the batch interrupted. */
export function notStarted(run: CallRun): ToolResult {
  return syntheticResult(run.context.signal.aborted ? abortedText() : skippedText, false);
}

/** Refuses all calls of a reply that failed or was aborted. */
export function refuseCalls(run: Run, calls: readonly FinishedCall[], text: string): ToolResultMessage[] {
  return calls.map(({ call }) => {
    startCall(run, call);
    const message = endCall(run, call, syntheticResult(text, false));
    run.deliver(message);
    return message;
  });
}

export function startCall(run: CallRun, call: ToolCall): void {
  const { id, name, arguments: args, intent } = call;
  run.emit({ type: "tool_execution_start", toolCallId: id, toolName: name, args, intent });
}

/** Announces the end and makes the message; the scheduler decides when it is delivered. */
export function endCall(run: CallRun, call: ToolCall, result: ToolResult): ToolResultMessage {
  const { content, details, isError = false, isWarning = false } = result;
  const detail = details === undefined ? {} : { details };
  run.emit({
    type: "tool_execution_end",
    toolCallId: call.id,
    toolName: call.name,
    result: { content, ...detail },
    isError,
    isWarning,
  });
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content,
    ...detail,
    isError,
    isWarning,
    timestamp: run.context.clock.now(),
  };
}
