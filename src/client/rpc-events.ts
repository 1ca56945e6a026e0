// The ways to listen to an agent: listeners for everything, for one type, for unknown frames and failures; loops; and
// the last few events. What no call can report is reported here, and nothing is lost silently.

import { messageOf } from "../base/errors.js";
import type { TypedObject } from "../base/ndjson.js";
import type { ExtensionError, ExtensionUiRequest } from "../protocol/frames.js";
import {
  type AgentEvent,
  type AgentEventOf,
  type AgentEventType,
  EventQueue,
  isAgentEvent,
  Listeners,
} from "./agent-events.js";
import { RpcCommands } from "./command-methods.js";
import type { AgentExit } from "./connection.js";
import { RpcError } from "./rpc-error.js";

export interface EventOptions {
  /** How many events `history` keeps; 256. */
  maxEventHistory?: number | undefined;
  /** How many events a slow loop over `events()` may leave unread; 10,000. */
  maxUnreadEvents?: number | undefined;
}

export interface ClientExit extends AgentExit {
  /** `stop()` or `kill()` was called. */
  isExpected: boolean;
}

/** Each of the functions that add a listener returns a function that removes it. */
export abstract class RpcEvents extends RpcCommands {
  abstract readonly isRunning: boolean;
  readonly #options: EventOptions;
  readonly #problems = new Listeners<RpcError>(() => {}); // a failing problem listener is ignored
  readonly #frames = this.#listeners<TypedObject>();
  readonly #events = this.#listeners<AgentEvent>();
  readonly #unknown = this.#listeners<TypedObject>();
  readonly #uiRequests = this.#listeners<ExtensionUiRequest>();
  readonly #exits = this.#listeners<ClientExit>();
  readonly #queues = new Set<EventQueue>();
  readonly #history: AgentEvent[] = [];

  constructor(options: EventOptions) {
    super();
    this.#options = options;
  }

  /** Every event the client knows. */
  onEvent(listener: (event: AgentEvent) => unknown): () => void {
    return this.#events.add(listener);
  }

  on<T extends AgentEventType>(type: T, listener: (event: AgentEventOf<T>) => unknown): () => void {
    return this.#events.add((event) => event.type === type && listener(event as AgentEventOf<T>));
  }

  /** Dialogs and notices of extensions. With such a listener and without handlers, the listener has to answer. */
  onUiRequest(listener: (request: ExtensionUiRequest) => unknown): () => void {
    return this.#uiRequests.add(listener);
  }

  onExtensionError(listener: (error: ExtensionError) => unknown): () => void {
    return this.on("extension_error", listener);
  }

  /** Frames of a type this client does not know. */
  onUnknown(listener: (frame: TypedObject) => unknown): () => void {
    return this.#unknown.add(listener);
  }

  /** Every frame that is no answer to a request of this client. */
  onFrame(listener: (frame: TypedObject) => unknown): () => void {
    return this.#frames.add(listener);
  }

  onExit(listener: (exit: ClientExit) => unknown): () => void {
    return this.#exits.add(listener);
  }

  /** What no call can report: unreadable lines, failures of no request, late failures, throwing listeners. */
  onProtocolError(listener: (error: RpcError) => unknown): () => void {
    return this.#problems.add(listener);
  }

  /** Events from now on, until the agent ends or the loop is left. */
  events(): EventQueue {
    const queue = new EventQueue(this.#options.maxUnreadEvents ?? 10_000, () => this.#queues.delete(queue));
    if (this.isRunning) this.#queues.add(queue);
    else queue.end();
    return queue;
  }

  /** The last events, oldest first. */
  get history(): readonly AgentEvent[] {
    return [...this.#history];
  }

  protected get isUiLeftToHost(): boolean {
    return this.#uiRequests.size > 0;
  }

  protected deliver(frame: TypedObject): void {
    this.#frames.call(frame);
    if (frame.type === "response") return;
    if (!isAgentEvent(frame)) return this.#unknown.call(frame);
    this.#history.push(frame);
    if (this.#history.length > (this.#options.maxEventHistory ?? 256)) this.#history.shift();
    for (const queue of this.#queues) queue.push(frame);
    if (frame.type === "extension_ui_request") this.#uiRequests.call(frame);
    this.#events.call(frame);
  }

  protected endEvents(exit: ClientExit): void {
    for (const queue of this.#queues) queue.end();
    this.#exits.call(exit);
  }

  /** Without a listener it becomes a process warning. */
  protected tell(error: RpcError): void {
    if (this.#problems.size > 0) this.#problems.call(error);
    else process.emitWarning(error);
  }

  protected tellThrown(cause: unknown): void {
    this.tell(new RpcError("listener", `A listener threw: ${messageOf(cause)}`, { cause }));
  }

  #listeners<T>(): Listeners<T> {
    return new Listeners<T>((thrown) => this.tellThrown(thrown));
  }
}
