// What one run needs, travelling as one object. The loop does no I/O of its own: everything that reaches outside is
// a function handed in here by the session.

import type { Clock } from "../base/clock.js";
import type { Log } from "../base/log.js";
import type { TextMask } from "../base/text-mask.js";
import type { ToolCall } from "../protocol/content.js";
import type {
  AgentEvent,
  AgentSessionEvent,
  AssistantMessageEvent,
  ContinueReason,
  ToolResult,
} from "../protocol/events.js";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../protocol/messages.js";
import type { ModelMessage, ProviderModel, StreamEvent, StreamFunction, StreamOptions } from "../provider/provider.js";
import type { AnyTool, ToolContext } from "../tools/tool.js";
import type { EventStream } from "./event-stream.js";
import type { MessageQueues } from "./message-queues.js";
import type { ToolChoiceQueue } from "./tool-choice-queue.js";

/** Hooks of extensions around a tool call. Each may be slow; each may throw, which fails that call only. */
export interface ToolHooks {
  /** After validation, for example to put real values where the model saw placeholders. */
  transformArguments?(call: ToolCall, args: Record<string, unknown>): Record<string, unknown>;
  /** Then: refuses the call, or replaces its arguments, which are checked again before anything else sees them. */
  reviseCall?(
    tool: AnyTool,
    call: ToolCall,
    args: Record<string, unknown>,
  ): Promise<{ block: string | true } | { args: Record<string, unknown> } | undefined>;
  /** The one gate before a tool runs. `block` is the reason the model is told. After `signal` its answer is ignored. */
  beforeToolCall?(
    tool: AnyTool,
    call: ToolCall,
    args: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<{ block: string | true } | undefined>;
  /** Of a call that ran: what ran, and with which arguments. */
  afterToolCall?(
    call: ToolCall,
    result: ToolResult,
    ran: { readonly tool: AnyTool; readonly args: Record<string, unknown> },
  ): Promise<ToolResult>;
}

/** Looks at a reply as it comes. */
export interface ReplyWatch {
  turnStart(): void;
  /** A sentence stops the reply here; its turn closes as an aborted one does. */
  update(event: AssistantMessageEvent): string | undefined;
}

export interface RunContext {
  readonly events: EventStream<AgentSessionEvent>;
  readonly queues: MessageQueues;
  readonly toolChoice: ToolChoiceQueue;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The clock for the grace period of tools that ignore their signal; default: the same. */
  readonly graceClock?: Clock;
  readonly log: Log;
  /** Fixed for the run, so that signatures are replayed to the model that made them. */
  readonly model: ProviderModel;
  readonly stream: StreamFunction;
  readonly hooks: ToolHooks;
  /** What no event and no message may hold; default: nothing. */
  readonly mask?: TextMask | undefined;
  /** Masks results, keys known by their shape included; absent where the user wants the model to see them. */
  readonly maskResult?: ((text: string) => string) | undefined;
  readonly watch?: ReplyWatch | undefined;
  readonly toolContext: ToolContext;
  /** The sentence of a failed reply. */
  failureText(event: Extract<StreamEvent, { type: "error" }>): string;
  /** Asked before every model call: why it is not made, as its stream would say it; undefined where it may be. */
  mayAsk?(): Extract<StreamEvent, { type: "error" }> | undefined;
  /** Asked before every model call, because keys may be short-lived. */
  streamOptions(): Promise<Omit<StreamOptions, "signal" | "toolChoice">>;
  /** Live: a tool or prompt that changes during a run counts from the next model call on. */
  systemPrompt(): string;
  tools(): readonly AnyTool[];
  /** The conversation in the form a model takes. */
  modelMessages(): readonly ModelMessage[];
  /** The messages that replace the context for one model call; undefined to keep it. */
  reviseMessages?(): Promise<readonly ModelMessage[]> | undefined;
  /** Makes the message part of the session; it is in memory when this returns. Never throws: the session handles a failing disk. */
  append(message: AgentMessage): void;
  /** Called for every reply right after its `message_end`, before anything else is sent. */
  replied(message: AssistantMessage): void;
  /** After the tools of a turn that went well: what the model should be reminded of, which is worth another turn. */
  turnBoundary?(): readonly AgentMessage[];
  /** Decides, before `agent_end` is sent, whether another run of the same prompt follows. Never throws. */
  decideEnd(end: RunEnd): { isTerminal: true } | { isTerminal: false; continueReason: ContinueReason };
}

/** How a run ended: the last assistant message tells why. */
export interface RunEnd {
  readonly stopReason: AssistantMessage["stopReason"];
  readonly message: AssistantMessage;
}

/** What a tool call needs of its run; also made for a call that no model asked for. */
export interface CallRun {
  readonly context: Pick<
    RunContext,
    "events" | "signal" | "clock" | "graceClock" | "log" | "hooks" | "toolContext" | "mask" | "maskResult"
  >;
  readonly offeredTools: readonly AnyTool[];
  emit(event: AgentEvent): void;
}

export class Run implements CallRun {
  readonly context: RunContext;
  /** Everything this run added, in order. */
  readonly added: AgentMessage[] = [];
  /** The tools that the last model call was offered: its calls are served by these, whatever changes meanwhile. */
  offeredTools: readonly AnyTool[] = [];
  #isTurnOpen = false;

  constructor(context: RunContext) {
    this.context = context;
  }

  emit(event: AgentEvent): void {
    this.context.events.emit(event);
  }

  /** First into the session, then announced: a subscriber to `message_end` finds the message there. */
  append(message: AgentMessage): void {
    this.context.append(message);
    this.added.push(message);
  }

  deliver(message: AgentMessage): void {
    this.emit({ type: "message_start", message });
    this.append(message);
    this.emit({ type: "message_end", message });
  }

  openTurn(): void {
    this.#isTurnOpen = true;
    this.emit({ type: "turn_start" });
  }

  closeTurn(message: AssistantMessage, toolResults: ToolResultMessage[]): void {
    this.#isTurnOpen = false;
    this.emit({ type: "turn_end", message, toolResults });
  }

  get isTurnOpen(): boolean {
    return this.#isTurnOpen;
  }
}
