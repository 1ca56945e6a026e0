// Tools that live in the host: the agent calls, the host executes, every call ends with one result or is taken back.

import { messageOf } from "../base/errors.js";
import { isObject, type JsonObject } from "../base/json.js";
import type { TypedObject } from "../base/ndjson.js";
import type { ToolResult } from "../protocol/events.js";
import type { HostToolDefinition } from "../protocol/frames.js";

/** What a tool hands back; a string is one block of text. */
export type HostToolOutput = string | ToolResult;

export interface HostToolContext {
  toolCallId: string;
  /** Fires when the agent takes the call back or ends. What is returned after that is not sent. */
  signal: AbortSignal;
  /** Shows progress; each update replaces the one before, and one that the agent is too slow for is left out. */
  sendUpdate(partialResult: HostToolOutput): void;
}

export interface HostTool extends HostToolDefinition {
  execute(params: JsonObject, context: HostToolContext): HostToolOutput | Promise<HostToolOutput>;
}

export interface HostToolPipe {
  send(frame: object): void;
  /** The agent has not read what was sent so far. */
  isClogged(): boolean;
}

export class HostTools {
  readonly #pipe: HostToolPipe;
  readonly #calls = new Map<string, AbortController>();
  #tools = new Map<string, HostTool>();

  constructor(pipe: HostToolPipe) {
    this.#pipe = pipe;
  }

  get list(): HostTool[] {
    return [...this.#tools.values()];
  }

  set list(tools: readonly HostTool[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name.trim(), tool]));
  }

  /** What the agent is told of the tools. */
  static definitions(tools: readonly HostTool[]): HostToolDefinition[] {
    return tools.map(({ execute: _, ...definition }) => definition);
  }

  see(frame: TypedObject): void {
    if (frame.type === "host_tool_call") void this.#call(frame);
    else if (frame.type === "host_tool_cancel") this.#calls.get(String(frame.targetId))?.abort();
  }

  abortAll(): void {
    for (const controller of this.#calls.values()) controller.abort();
  }

  async #call({ id, toolCallId, toolName, arguments: params }: TypedObject): Promise<void> {
    if (typeof id !== "string") return; // nothing could be answered
    const controller = new AbortController();
    const { signal } = controller;
    this.#calls.set(id, controller);
    const sendUpdate = (partial: HostToolOutput) => {
      if (signal.aborted || !this.#calls.has(id) || this.#pipe.isClogged()) return;
      this.#pipe.send({ type: "host_tool_update", id, partialResult: resultOf(partial) });
    };
    let answer: { result: unknown; isError?: true };
    try {
      const tool = this.#tools.get(String(toolName));
      if (!tool) throw new Error(`Host tool "${toolName}" is not registered`);
      const context = { toolCallId: String(toolCallId), signal, sendUpdate };
      const result = resultOf(await tool.execute(isObject(params) ? params : {}, context));
      if (!isObject(result) || !Array.isArray(result.content))
        throw new Error(`Host tool "${toolName}" returned a malformed result`);
      answer = { result, ...(result.isError === true ? { isError: true } : {}) };
    } catch (thrown) {
      answer = failed(thrown);
    }
    this.#calls.delete(id);
    if (signal.aborted) return;
    try {
      this.#pipe.send({ type: "host_tool_result", id, ...answer });
    } catch (thrown) {
      // No JSON, or too much of it: the model reads that, or the call would never end.
      this.#pipe.send({ type: "host_tool_result", id, ...failed(thrown) });
    }
  }
}

function failed(thrown: unknown): { result: ToolResult; isError: true } {
  return { result: { content: [{ type: "text", text: messageOf(thrown) }] }, isError: true };
}

function resultOf(output: unknown): unknown {
  return typeof output === "string" ? { content: [{ type: "text", text: output }] } : output;
}
