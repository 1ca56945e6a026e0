// Tools that live in the host, as the loop sees any tool. Promises: every call ends once, by its result, its signal,
// its timeout or the end of the input; a call is sent after the event that announces it; a frame for a call that is not
// open changes nothing.

import type { Clock } from "../base/clock.js";
import { isObject } from "../base/json.js";
import type { Log } from "../base/log.js";
import type { TypedObject } from "../base/ndjson.js";
import { copyOpen } from "../protocol/check-command.js";
import type { AgentSessionEvent, ToolResult } from "../protocol/events.js";
import { type AgentTool, type OnUpdate, toolFailure } from "../tools/tool.js";
import type { HostToolDefinition } from "./host-tool-definitions.js";

export interface HostToolsDeps {
  send(frame: object): void;
  readonly clock: Clock;
  readonly log: Log;
  /** A call waits for the host. */
  onOpened?(): void;
}

interface OpenCall {
  readonly name: string;
  readonly onUpdate: OnUpdate;
  succeed(result: ToolResult): void;
  fail(sentence: string): void;
}

const disconnectedText = "RPC client disconnected before host tool execution completed";

export class HostTools {
  /** Frames for no open call. */
  ignoredAnswers = 0;
  readonly #deps: HostToolsDeps;
  readonly #announcements = new CallAnnouncements();
  readonly #open = new Map<string, OpenCall>();
  readonly #noted = new Set<string>();
  #names = new Set<string>();
  #calls = 0;
  #cancels = 0;
  #isDisconnected = false;

  constructor(deps: HostToolsDeps) {
    this.#deps = deps;
  }

  get hasOpen(): boolean {
    return this.#open.size > 0;
  }

  /** The session has these tools now, and no others of the host. */
  lend(definitions: readonly HostToolDefinition[]): void {
    this.#names = new Set(definitions.map(({ name }) => name));
  }

  toolFor(definition: HostToolDefinition): AgentTool<Record<string, unknown>> {
    const { name, label, description, parameters } = definition;
    return {
      name,
      label,
      description,
      parameters,
      givesAway: true,
      execute: async (toolCallId, args, signal, onUpdate) => {
        // The reply may have been under way when the host withdrew the tool.
        if (!this.#names.has(name)) throw toolFailure(`Tool ${name} not found`);
        await this.#announcements.whenStarted(toolCallId, signal);
        if (this.#isDisconnected) throw toolFailure(disconnectedText);
        if (signal?.aborted) throw toolFailure(abortedText(name));
        return this.#call(definition, { toolCallId, args, signal, onUpdate });
      },
    };
  }

  /** Every event of the session, right after it was sent. */
  see(event: AgentSessionEvent): void {
    this.#announcements.see(event);
  }

  /** A `host_tool_update` or `host_tool_result`. */
  receive(frame: TypedObject): void {
    const { id, type } = frame;
    if (typeof id !== "string") return this.#note(`a ${type} without an id`);
    const call = this.#open.get(id);
    if (!call) this.ignoredAnswers++;
    else if (type === "host_tool_update") this.#update(call, frame.partialResult);
    else if (!hasContent(frame.result)) call.fail(`Host tool "${call.name}" returned a malformed result`);
    else call.succeed(resultOf(frame.result, frame.isError === true));
  }

  /** The host is gone and answers no more. */
  disconnect(): void {
    this.#isDisconnected = true;
    for (const call of [...this.#open.values()]) call.fail(disconnectedText);
  }

  #call(
    { name, timeoutMs }: HostToolDefinition,
    { toolCallId, args, signal, onUpdate }: CallRequest,
  ): Promise<ToolResult> {
    const { clock, send, onOpened } = this.#deps;
    const id = `host_${++this.#calls}`;
    return new Promise((resolve, reject) => {
      const end = () => {
        this.#open.delete(id);
        cancelTimer();
        signal?.removeEventListener("abort", onAbort);
      };
      const fail = (sentence: string) => {
        end();
        reject(toolFailure(sentence));
      };
      const takeBack = (sentence: string) => {
        send({ type: "host_tool_cancel", id: `host_cancel_${++this.#cancels}`, targetId: id });
        fail(sentence);
      };
      const onAbort = () => takeBack(abortedText(name));
      const onLate = () => takeBack(`Host tool "${name}" timed out after ${timeoutMs} ms`);
      const succeed = (result: ToolResult) => {
        end();
        resolve(result);
      };
      const cancelTimer = timeoutMs === undefined ? () => {} : clock.after(timeoutMs, onLate);
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#open.set(id, { name, onUpdate, succeed, fail });
      send({ type: "host_tool_call", id, toolCallId, toolName: name, arguments: args });
      onOpened?.();
    });
  }

  #update({ name, onUpdate }: OpenCall, partial: unknown): void {
    if (hasContent(partial)) onUpdate(copyOpen(partial) as ToolResult);
    else this.#note(`an update of the host tool "${name}" without content`);
  }

  /** Once for each kind: a host that does it once does it a thousand times. */
  #note(what: string): void {
    this.ignoredAnswers++;
    if (this.#noted.has(what)) return;
    this.#noted.add(what);
    this.#deps.log.warn(`${what} was ignored`);
  }
}

interface CallRequest {
  readonly toolCallId: string;
  readonly args: Record<string, unknown>;
  readonly signal: AbortSignal | undefined;
  readonly onUpdate: OnUpdate;
}

function abortedText(name: string): string {
  return `Host tool "${name}" was aborted`;
}

type WithContent = Record<string, unknown> & { content: unknown[] };

function hasContent(value: unknown): value is WithContent {
  return isObject(value) && Array.isArray(value.content);
}

/** Blocks of an unknown shape are handled by the loop, as for any tool. */
function resultOf(result: WithContent, isFailed: boolean): ToolResult {
  const copy = copyOpen(result) as WithContent & ToolResult;
  if (!isFailed && copy.isError !== true) return copy;
  const hasText = copy.content.some(
    (block) => isObject(block) && block.type === "text" && typeof block.text === "string",
  );
  const content = hasText
    ? copy.content
    : [...copy.content, { type: "text" as const, text: "Host tool execution failed" }];
  return { ...copy, content, isError: true };
}

// Which tool calls the host has been told about. The event stream may be behind the run, and a host must not be called
// for a call that it was not told about.

class CallAnnouncements {
  /** Started and not ended, by call. Models repeat ids, so it is a number. */
  readonly #started = new Map<string, number>();
  readonly #waiting = new Map<string, Set<() => void>>();

  see(event: AgentSessionEvent): void {
    if (event.type === "tool_execution_start") {
      this.#started.set(event.toolCallId, (this.#started.get(event.toolCallId) ?? 0) + 1);
      for (const wake of this.#waiting.get(event.toolCallId) ?? []) wake();
    } else if (event.type === "tool_execution_end") {
      const rest = (this.#started.get(event.toolCallId) ?? 1) - 1;
      if (rest > 0) this.#started.set(event.toolCallId, rest);
      else this.#started.delete(event.toolCallId);
    }
  }

  /** Resolves as soon as the event was sent, or the signal fires. */
  async whenStarted(toolCallId: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#started.has(toolCallId) || signal?.aborted) return;
    const waiting = this.#waiting.get(toolCallId) ?? new Set();
    this.#waiting.set(toolCallId, waiting);
    let wake = () => {};
    await new Promise<void>((resolve) => {
      wake = resolve;
      waiting.add(wake);
      signal?.addEventListener("abort", wake, { once: true });
    });
    signal?.removeEventListener("abort", wake);
    waiting.delete(wake);
    if (waiting.size === 0) this.#waiting.delete(toolCallId);
  }
}
