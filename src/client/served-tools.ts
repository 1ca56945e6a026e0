// Tools that live in the host: the agent calls, the host executes, every call ends with one result or is cancelled.

import { messageOf } from "../base/errors.js";
import { isObject, type JsonObject } from "../base/json.js";
import type { TypedObject } from "../base/ndjson.js";
import type { ToolResult } from "../protocol/events.js";
import type { HostToolDefinition } from "../protocol/frames.js";

/** What a tool returns; a string is one block of text. */
export type HostToolOutput = string | ToolResult;

export interface HostToolContext {
  toolCallId: string;
  /** Fires when the agent cancels the call or ends. What is returned after that is not sent. */
  signal: AbortSignal;
  /** Shows progress; each update replaces the one before, and is dropped when the agent is too slow. */
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
  /**
   * The list that the agent has, and behind it newer ones that it may have: a call may overtake the answer, and a
   * caller that has given up does not know it. The newest tool of a name wins.
   */
  readonly lists: (readonly HostTool[])[];
  readonly #pipe: HostToolPipe;
  readonly #calls = new Map<unknown, AbortController>();

  constructor(pipe: HostToolPipe, list: readonly HostTool[]) {
    this.#pipe = pipe;
    this.lists = [list];
  }

  see(frame: TypedObject): void {
    if (frame.type === "host_tool_call")
      this.#call(frame).catch(() => {}); // the pipe is closed: the call ends with the agent
    else if (frame.type === "host_tool_cancel") this.#cancel(frame.targetId);
  }

  cancelAll(): void {
    for (const id of this.#calls.keys()) this.#cancel(id);
  }

  #cancel(id: unknown): void {
    this.#calls.get(id)?.abort();
    this.#calls.delete(id); // another process may use the id again while this call is still ending
  }

  async #call({ id, toolCallId, toolName, arguments: params }: TypedObject): Promise<void> {
    if (typeof id !== "string") return; // it could not be answered
    const controller = new AbortController();
    this.#calls.set(id, controller);
    const isOpen = () => this.#calls.get(id) === controller;
    const sendUpdate = (partial: HostToolOutput) => {
      if (isOpen() && !this.#pipe.isClogged())
        this.#pipe.send({ type: "host_tool_update", id, partialResult: resultOf(partial) });
    };
    const finish = (answer: { result: unknown; isError?: true | undefined }) =>
      this.#pipe.send({ type: "host_tool_result", id, ...answer });
    let answer: Parameters<typeof finish>[0];
    try {
      const tool = this.lists.flat().findLast(({ name }) => name.trim() === toolName);
      if (!tool) throw new Error(`Host tool "${toolName}" is not registered`);
      const context = { toolCallId: String(toolCallId), signal: controller.signal, sendUpdate };
      const result = resultOf(await tool.execute(isObject(params) ? params : {}, context));
      if (!isObject(result) || !Array.isArray(result.content))
        throw new Error(`Host tool "${toolName}" returned a malformed result`);
      answer = { result, isError: result.isError === true || undefined };
    } catch (thrown) {
      answer = failed(thrown);
    }
    if (!isOpen()) return;
    this.#calls.delete(id);
    try {
      finish(answer);
    } catch (thrown) {
      finish(failed(thrown)); // no JSON, or too much: without this result the call would never end
    }
  }
}

function failed(thrown: unknown): { result: ToolResult; isError: true } {
  return { result: { content: [{ type: "text", text: messageOf(thrown) }] }, isError: true };
}

function resultOf(output: unknown): unknown {
  return typeof output === "string" ? { content: [{ type: "text", text: output }] } : output;
}
