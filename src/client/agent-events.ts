// What the agent reports by itself: listeners by type, listeners for everything, iterators, and the last few events. A
// listener that throws does not affect the others.

import type { TypedObject } from "../base/ndjson.js";
import type { OutboundFrame, ReadyFrame, RpcChunk, RpcResponse } from "../protocol/frames.js";
import { RpcError } from "./rpc-error.js";

/** Everything a host can be told besides the answers to its requests. */
export type AgentEvent = Exclude<OutboundFrame, RpcResponse | ReadyFrame | RpcChunk>;
export type AgentEventType = AgentEvent["type"];
export type AgentEventOf<T extends AgentEventType> = Extract<AgentEvent, { type: T }>;

/** Every type that can come; a test compares it with the schema. */
const known =
  /^(agent_(start|end|settled)|(turn|compaction|auto_(compaction|retry))_(start|end)|(message|tool_execution)_(start|update|end)|retry_fallback_(applied|succeeded)|budget_exceeded|session_moved|ttsr_triggered|todo_(reminder|auto_clear)|queue_update|pending_action_(added|changed|resolved|stalled)|extension_(ui_request|error)|host_tool_(call|cancel)|available_commands_update|thinking_level_changed|session_info_changed|prompt_result|session_settled|rpc_frame_error)$/;

export function isAgentEvent(frame: TypedObject): frame is AgentEvent & TypedObject {
  return known.test(frame.type);
}

/** A set of listeners. Each is called in turn; what one throws goes to `report`. */
export class Listeners<T> {
  readonly #listeners = new Set<(value: T) => unknown>();
  readonly #report: (thrown: unknown) => void;

  constructor(report: (thrown: unknown) => void) {
    this.#report = report;
  }

  get size(): number {
    return this.#listeners.size;
  }

  add(listener: (value: T) => unknown): () => void {
    const own = (value: T) => listener(value); // so that the same function added twice is called twice
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  call(value: T): void {
    for (const listener of [...this.#listeners])
      try {
        const outcome = listener(value);
        if (outcome instanceof Promise) outcome.catch(this.#report);
      } catch (thrown) {
        this.#report(thrown);
      }
  }
}

/** Events as a loop reads them. A loop that falls behind by more than `limit` gets an error, never a gap. */
export class EventQueue implements AsyncIterableIterator<AgentEvent> {
  readonly #limit: number;
  readonly #onReturn: () => void;
  #waiting: AgentEvent[] = [];
  #end: { error?: RpcError | undefined } | undefined;
  #wakers: (() => void)[] = [];

  constructor(limit: number, onReturn: () => void) {
    this.#limit = limit;
    this.#onReturn = onReturn;
  }

  push(event: AgentEvent): void {
    if (this.#end) return;
    this.#waiting.push(event);
    if (this.#waiting.length > this.#limit) {
      this.#waiting = [];
      this.end(new RpcError("overflow", `More than ${this.#limit} events wait to be read`));
    }
    this.#wake();
  }

  /** Waiting events are still read first. */
  end(error?: RpcError): void {
    this.#end ??= { error };
    this.#onReturn();
    this.#wake();
  }

  async next(): Promise<IteratorResult<AgentEvent, undefined>> {
    for (;;) {
      const value = this.#waiting.shift();
      if (value) return { value, done: false };
      if (this.#end) {
        const { error } = this.#end;
        this.#end = {};
        if (error) throw error;
        return { value: undefined, done: true };
      }
      await new Promise<void>((resolve) => this.#wakers.push(resolve));
    }
  }

  async return(): Promise<IteratorResult<AgentEvent, undefined>> {
    this.#waiting = [];
    this.end();
    return { value: undefined, done: true };
  }

  #wake(): void {
    for (const wake of this.#wakers.splice(0)) wake();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
