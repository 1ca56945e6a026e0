// Everything a session reports while it works. On the wire and in process these are the same objects; an object
// given to a subscriber never changes afterwards.

import Type, { type Static, type TSchema } from "typebox";
import { compactionFields } from "./compaction-fields.js";
import { InputContent, ToolCall } from "./content.js";
import { AgentMessage, AssistantMessage, ToolResultMessage } from "./messages.js";
import { Decider, FileStamp, PendingAction, PendingOutcome, PendingStatus } from "./pending.js";
import { TodoStatus } from "./todos.js";

const contentIndex = Type.Integer({ minimum: 0 });
const delta = Type.String();
const partial = AssistantMessage;

function block<Name extends string, Extra extends Record<string, TSchema>>(name: Name, extra: Extra) {
  return Type.Object({ type: Type.Literal(name), contentIndex, partial, ...extra });
}

/** `start`, `done` and `error` exist in the union because clients validate it; they never ride in a message_update. */
export const AssistantMessageEvent = Type.Union([
  Type.Object({ type: Type.Literal("start"), partial }),
  block("text_start", {}),
  block("text_delta", { delta }),
  block("text_end", { content: Type.String() }),
  block("thinking_start", {}),
  block("thinking_delta", { delta }),
  block("thinking_end", { content: Type.String() }),
  block("toolcall_start", {}),
  block("toolcall_delta", { delta }),
  // `complete: false`: the argument text ended before it was whole JSON, so the arguments are what could be made of it.
  block("toolcall_end", { toolCall: ToolCall, complete: Type.Optional(Type.Literal(false)) }),
  Type.Object({
    type: Type.Literal("done"),
    reason: Type.Union([Type.Literal("stop"), Type.Literal("length"), Type.Literal("toolUse")]),
    message: AssistantMessage,
  }),
  Type.Object({
    type: Type.Literal("error"),
    reason: Type.Union([Type.Literal("aborted"), Type.Literal("error")]),
    error: AssistantMessage,
  }),
]);
export type AssistantMessageEvent = Static<typeof AssistantMessageEvent>;

/** What a tool hands back: `content` is for the model, `details` for people and programs. */
export const ToolResult = Type.Object({
  content: Type.Array(InputContent),
  details: Type.Optional(Type.Unknown()),
  isError: Type.Optional(Type.Boolean()),
  isWarning: Type.Optional(Type.Boolean()),
  terminate: Type.Optional(Type.Boolean()),
});
export type ToolResult = Static<typeof ToolResult>;

const call = { toolCallId: Type.String(), toolName: Type.String() };
const messageId = Type.Optional(Type.String());

export const ContinueReason = Type.Union([
  Type.Literal("retry"),
  Type.Literal("overflow"),
  Type.Literal("ttsr"),
  Type.Literal("todo"),
  Type.Literal("auto_continue"),
  Type.Literal("queued"),
]);
export type ContinueReason = Static<typeof ContinueReason>;

export const AgentEvent = Type.Union([
  Type.Object({ type: Type.Literal("agent_start") }),
  Type.Object({
    type: Type.Literal("agent_end"),
    messages: Type.Array(AgentMessage),
    isTerminal: Type.Boolean(),
    /** `false` by the feature `state-events` alone. */
    willRetry: Type.Optional(Type.Boolean()),
    continueReason: Type.Optional(ContinueReason),
  }),
  Type.Object({ type: Type.Literal("turn_start") }),
  Type.Object({
    type: Type.Literal("turn_end"),
    message: AssistantMessage,
    toolResults: Type.Array(ToolResultMessage),
  }),
  Type.Object({ type: Type.Literal("message_start"), message: AgentMessage, messageId }),
  Type.Object({
    type: Type.Literal("message_update"),
    message: AssistantMessage,
    assistantMessageEvent: AssistantMessageEvent,
    messageId,
  }),
  Type.Object({ type: Type.Literal("message_end"), message: AgentMessage, messageId }),
  Type.Object({
    type: Type.Literal("tool_execution_start"),
    ...call,
    args: Type.Unknown(),
    intent: Type.Optional(Type.String()),
  }),
  Type.Object({
    type: Type.Literal("tool_execution_update"),
    ...call,
    args: Type.Unknown(),
    partialResult: ToolResult,
  }),
  Type.Object({
    type: Type.Literal("tool_execution_end"),
    ...call,
    result: ToolResult,
    isError: Type.Boolean(),
    isWarning: Type.Optional(Type.Boolean()),
  }),
]);
export type AgentEvent = Static<typeof AgentEvent>;

export const CompactionResult = Type.Object(compactionFields);
export type CompactionResult = Static<typeof CompactionResult>;

const compactionAction = Type.Union([Type.Literal("context-full"), Type.Literal("handoff")]);

/** A stream rule as it is announced; the members beyond name and path depend on where the rule came from. */
export const TriggeredRule = Type.Object({
  name: Type.String(),
  path: Type.String(),
  content: Type.Optional(Type.String()),
  condition: Type.Optional(Type.Array(Type.String())),
  scope: Type.Optional(Type.Array(Type.String())),
});
export type TriggeredRule = Static<typeof TriggeredRule>;

/** Events of the session around the runs. */
export const SessionEvent = Type.Union([
  Type.Object({
    type: Type.Literal("auto_compaction_start"),
    reason: Type.Union([Type.Literal("threshold"), Type.Literal("overflow"), Type.Literal("idle")]),
    action: compactionAction,
  }),
  Type.Object({
    type: Type.Literal("auto_compaction_end"),
    action: compactionAction,
    result: Type.Optional(CompactionResult),
    aborted: Type.Boolean(),
    willRetry: Type.Boolean(),
    errorMessage: Type.Optional(Type.String()),
    skipped: Type.Optional(Type.Boolean()),
  }),
  /** A manual compaction that failed: both, then its answer. Of one that succeeds only the answer is told. */
  Type.Object({ type: Type.Literal("compaction_start"), reason: Type.Literal("manual") }),
  Type.Object({
    type: Type.Literal("compaction_end"),
    reason: Type.Literal("manual"),
    aborted: Type.Boolean(),
    willRetry: Type.Literal(false),
    errorMessage: Type.String(),
  }),
  Type.Object({
    type: Type.Literal("auto_retry_start"),
    attempt: Type.Integer(),
    maxAttempts: Type.Integer(),
    delayMs: Type.Number(),
    errorMessage: Type.String(),
  }),
  Type.Object({
    type: Type.Literal("auto_retry_end"),
    success: Type.Boolean(),
    attempt: Type.Integer(),
    finalError: Type.Optional(Type.String()),
  }),
  Type.Object({
    type: Type.Literal("retry_fallback_applied"),
    from: Type.String(),
    to: Type.String(),
    role: Type.String(),
  }),
  Type.Object({ type: Type.Literal("retry_fallback_succeeded"), model: Type.String(), role: Type.String() }),
  /** A limit of the budget is reached: the request that comes next is not sent. Once, until the limit is set again. */
  Type.Object({
    type: Type.Literal("budget_exceeded"),
    kind: Type.Union([Type.Literal("cost"), Type.Literal("turns"), Type.Literal("tokens")]),
    limit: Type.Number(),
    used: Type.Number(),
  }),
  /** The session file cannot be written, and the conversation goes on in another, under another id. */
  Type.Object({ type: Type.Literal("session_moved"), from: Type.String(), to: Type.String(), reason: Type.String() }),
  Type.Object({ type: Type.Literal("ttsr_triggered"), rules: Type.Array(TriggeredRule) }),
  Type.Object({
    type: Type.Literal("todo_reminder"),
    todos: Type.Array(Type.Object({ id: Type.String(), content: Type.String(), status: TodoStatus })),
    attempt: Type.Integer(),
    maxAttempts: Type.Integer(),
  }),
  Type.Object({ type: Type.Literal("todo_auto_clear") }),
  Type.Object({
    type: Type.Literal("queue_update"),
    steering: Type.Array(Type.String()),
    followUp: Type.Array(Type.String()),
  }),
  Type.Object({ type: Type.Literal("agent_settled") }),
  Type.Object({ type: Type.Literal("pending_action_added"), action: PendingAction }),
  /** `files`: those concerned. They made it stale, or a part of them was decided, edited or rebased. */
  Type.Object({
    type: Type.Literal("pending_action_changed"),
    id: Type.String(),
    status: PendingStatus,
    revision: Type.Integer({ minimum: 1 }),
    files: Type.Optional(Type.Array(FileStamp)),
  }),
  Type.Object({
    type: Type.Literal("pending_action_resolved"),
    id: Type.String(),
    label: Type.String(),
    sourceToolName: Type.String(),
    outcome: PendingOutcome,
    by: Decider,
    reason: Type.String(),
    error: Type.Optional(Type.String()),
  }),
  /** A run ended while these were still waiting for a decision. */
  Type.Object({ type: Type.Literal("pending_action_stalled"), ids: Type.Array(Type.String()) }),
]);
export type SessionEvent = Static<typeof SessionEvent>;

export const AgentSessionEvent = Type.Union([AgentEvent, SessionEvent]);
export type AgentSessionEvent = Static<typeof AgentSessionEvent>;
