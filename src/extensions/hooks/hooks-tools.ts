// What extensions may do to a tool call, in the form in which the loop asks: before it runs and after it ran. The same
// for every tool, built-in or not.

import type { InputContent, ToolCall } from "../../protocol/content.js";
import type { ToolResult } from "../../protocol/events.js";
import type { AnyTool } from "../../tools/tool.js";
import { editArguments, editViews } from "./edit-views.js";
import type { ExtensionRunner } from "./extension-runner.js";
import type { HookOutcomes } from "./hooks.js";

type Arguments = Record<string, unknown>;

export interface ExtensionToolHooks {
  /** Revised arguments are checked by the loop before anything else sees them. */
  reviseCall(
    tool: AnyTool,
    call: ToolCall,
    args: Arguments,
  ): Promise<{ block: string } | { args: Arguments } | undefined>;
  afterToolCall(call: ToolCall, result: ToolResult, ran: { tool: AnyTool; args: Arguments }): Promise<ToolResult>;
}

/** What the model is told about a success that an extension turned into a failure without a message. */
const markedText = "Tool result marked as error by extension";

export function extensionToolHooks(runner: Pick<ExtensionRunner, "emit" | "hasHandlers">): ExtensionToolHooks {
  return {
    async reviseCall({ name: toolName }, { id: toolCallId }, input) {
      if (!runner.hasHandlers("tool_call")) return undefined;
      const views = editViews(toolName, input);
      const left: Arguments[] = [];
      let isRevised = false;
      for (const view of views ?? [input]) {
        const outcome = await runner.emit({ type: "tool_call", toolName, toolCallId, input: view });
        if (outcome.block !== undefined) return { block: outcome.block };
        isRevised ||= outcome.isRevised;
        left.push(outcome.input);
      }
      if (!isRevised) return undefined;
      return { args: views ? editArguments(views, left) : (left[0] as Arguments) };
    },
    async afterToolCall({ id: toolCallId }, result, { tool, args }) {
      if (!runner.hasHandlers("tool_result")) return result;
      const { content, details, isError = false } = result;
      const [view, ...others] = editViews(tool.name, args) ?? [args];
      const input = others.length === 0 && view ? view : args;
      const shown = { toolName: tool.name, toolCallId, input, content, details, isError };
      return rewritten(result, await runner.emit({ type: "tool_result", ...shown }));
    },
  };
}

function rewritten(result: ToolResult, outcome: HookOutcomes["tool_result"]): ToolResult {
  const { isError: _was, ...rest } = result;
  const { details, isError } = outcome;
  const isMarked = isError && !result.isError;
  const content: InputContent[] = [...outcome.content];
  if (isMarked && !content.some((block) => block.type === "text" && block.text.trim() !== ""))
    content.push({ type: "text", text: markedText });
  return { ...rest, content, ...(details === undefined ? {} : { details }), ...(isError ? { isError } : {}) };
}
