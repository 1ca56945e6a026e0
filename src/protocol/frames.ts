// Every line that crosses the pipe: responses, events, and the frames of the two conversations in which the host
// answers us (extension dialogs and host tools).

import Type, { type Static, type TProperties, type TSchema } from "typebox";
import { RequestId, RpcCommand, type RpcCommandType } from "./commands.js";
import { AvailableCommand, RpcData } from "./data.js";
import { AgentSessionEvent, ToolResult } from "./events.js";
import { ThinkingLevel } from "./model.js";

/** The first line on stdout. */
export const ReadyFrame = Type.Object({
  type: Type.Literal("ready"),
  version: Type.String(),
  protocolVersion: Type.Integer(),
  supportedProtocolVersions: Type.Array(Type.Integer()),
  maxFrameBytes: Type.Integer(),
  maxReassembledFrameBytes: Type.Integer(),
  features: Type.Array(Type.String()),
});
export type ReadyFrame = Static<typeof ReadyFrame>;

/** One member per command; `data` is there exactly when the command has a payload. */
export const RpcSuccess = Type.Union(
  Object.entries<TSchema | undefined>(RpcData).map(([command, data]) =>
    Type.Object({
      id: Type.Optional(RequestId),
      type: Type.Literal("response"),
      command: Type.Literal(command),
      success: Type.Literal(true),
      ...(data === undefined ? {} : { data }),
    }),
  ),
);
export type RpcSuccess = { [C in RpcCommandType]: RpcSuccessOf<C> }[RpcCommandType];

export type RpcSuccessOf<C extends RpcCommandType> = {
  id?: RequestId;
  type: "response";
  command: C;
  success: true;
} & (void extends RpcData[C] ? { data?: Exclude<RpcData[C], void> } : { data: RpcData[C] });

/** `requestId` and `requestCommand` name the request where `id` must stay away and `command` says something else. */
export const RpcFailure = Type.Object({
  id: Type.Optional(RequestId),
  type: Type.Literal("response"),
  command: Type.String(),
  success: Type.Literal(false),
  error: Type.String(),
  code: Type.Optional(Type.String()),
  /** With the code `depends`. */
  details: Type.Optional(
    Type.Object({
      actions: Type.Array(Type.Object({ id: Type.String(), label: Type.String(), files: Type.Array(Type.String()) })),
    }),
  ),
  requestId: Type.Optional(RequestId),
  requestCommand: Type.Optional(Type.String()),
});
export type RpcFailure = Static<typeof RpcFailure>;

export const RpcResponse = Type.Union([RpcSuccess, RpcFailure]);
export type RpcResponse = RpcSuccess | RpcFailure;

function uiRequest<Method extends string, Fields extends TProperties>(method: Method, fields: Fields) {
  return Type.Object({
    type: Type.Literal("extension_ui_request"),
    id: Type.String(),
    method: Type.Literal(method),
    ...fields,
  });
}

const title = Type.String();
const timeout = Type.Optional(Type.Integer({ minimum: 0 }));

/** The first four are dialogs and wait for an answer; `cancel` takes one back; the rest only show something. */
export const ExtensionUiRequest = Type.Union([
  uiRequest("select", {
    title,
    options: Type.Array(Type.String()),
    timeout,
    optionDetails: Type.Optional(Type.Array(Type.Object({ description: Type.Optional(Type.String()) }))),
  }),
  uiRequest("confirm", { title, message: Type.String(), timeout }),
  uiRequest("input", { title, placeholder: Type.Optional(Type.String()), timeout }),
  uiRequest("editor", { title, prefill: Type.Optional(Type.String()), promptStyle: Type.Optional(Type.Boolean()) }),
  uiRequest("cancel", { targetId: Type.String() }),
  uiRequest("notify", {
    message: Type.String(),
    notifyType: Type.Optional(Type.Union([Type.Literal("info"), Type.Literal("warning"), Type.Literal("error")])),
  }),
  uiRequest("setStatus", { statusKey: Type.String(), statusText: Type.Optional(Type.String()) }),
  uiRequest("setWidget", {
    widgetKey: Type.String(),
    widgetLines: Type.Optional(Type.Array(Type.String())),
    widgetPlacement: Type.Optional(Type.Union([Type.Literal("aboveEditor"), Type.Literal("belowEditor")])),
  }),
  uiRequest("setTitle", { title }),
  uiRequest("set_editor_text", { text: Type.String() }),
]);
export type ExtensionUiRequest = Static<typeof ExtensionUiRequest>;

const answer = { type: Type.Literal("extension_ui_response"), id: Type.String() };

export const ExtensionUiResponse = Type.Union([
  Type.Object({ ...answer, value: Type.String() }),
  Type.Object({ ...answer, confirmed: Type.Boolean() }),
  Type.Object({ ...answer, cancelled: Type.Literal(true), timedOut: Type.Optional(Type.Boolean()) }),
]);
export type ExtensionUiResponse = Static<typeof ExtensionUiResponse>;

/** A tool that lives in the host; `parameters` is a JSON Schema. */
export const HostToolDefinition = Type.Object({
  name: Type.String(),
  label: Type.Optional(Type.String()),
  description: Type.String(),
  parameters: Type.Record(Type.String(), Type.Unknown()),
  hidden: Type.Optional(Type.Boolean()),
  timeoutMs: Type.Optional(Type.Number()),
});
export type HostToolDefinition = Static<typeof HostToolDefinition>;

export const HostToolCall = Type.Object({
  type: Type.Literal("host_tool_call"),
  id: Type.String(),
  toolCallId: Type.String(),
  toolName: Type.String(),
  arguments: Type.Record(Type.String(), Type.Unknown()),
});
export type HostToolCall = Static<typeof HostToolCall>;

export const HostToolCancel = Type.Object({
  type: Type.Literal("host_tool_cancel"),
  id: Type.String(),
  targetId: Type.String(),
});
export type HostToolCancel = Static<typeof HostToolCancel>;

export const HostToolUpdate = Type.Object({
  type: Type.Literal("host_tool_update"),
  id: Type.String(),
  partialResult: ToolResult,
});
export type HostToolUpdate = Static<typeof HostToolUpdate>;

export const HostToolResult = Type.Object({
  type: Type.Literal("host_tool_result"),
  id: Type.String(),
  result: ToolResult,
  isError: Type.Optional(Type.Boolean()),
});
export type HostToolResult = Static<typeof HostToolResult>;

export const ExtensionError = Type.Object({
  type: Type.Literal("extension_error"),
  extensionPath: Type.String(),
  event: Type.String(),
  error: Type.String(),
});
export type ExtensionError = Static<typeof ExtensionError>;

/** The `/name` words that a prompt may begin with, once a host agreed on version 2 and whenever they change. */
export const AvailableCommandsUpdate = Type.Object({
  type: Type.Literal("available_commands_update"),
  commands: Type.Array(AvailableCommand),
});
export type AvailableCommandsUpdate = Static<typeof AvailableCommandsUpdate>;

/** Sent once per accepted prompt, with the feature `prompt-result`. */
export const PromptResult = Type.Object({
  type: Type.Literal("prompt_result"),
  id: Type.Optional(RequestId),
  agentInvoked: Type.Boolean(),
  status: Type.Union([Type.Literal("completed"), Type.Literal("aborted"), Type.Literal("error")]),
  error: Type.Optional(
    Type.Object({
      message: Type.String(),
      provider: Type.Optional(Type.String()),
      model: Type.Optional(Type.String()),
      httpStatus: Type.Optional(Type.Integer()),
      retryable: Type.Boolean(),
    }),
  ),
  sessionSettled: Type.Boolean(),
});
export type PromptResult = Static<typeof PromptResult>;

/** By the feature `state-events`. */
export const ThinkingLevelChanged = Type.Object({ type: Type.Literal("thinking_level_changed"), level: ThinkingLevel });
export const SessionInfoChanged = Type.Object({
  type: Type.Literal("session_info_changed"),
  name: Type.Optional(Type.String()),
});

export const SessionSettled = Type.Object({ type: Type.Literal("session_settled") });
export type SessionSettled = Static<typeof SessionSettled>;

/** A piece of a frame that is too large for one line: base64 of at most 262144 bytes of its JSON text. */
export const RpcChunk = Type.Object({
  type: Type.Literal("rpc_chunk"),
  chunkId: Type.String(),
  index: Type.Integer({ minimum: 0 }),
  count: Type.Integer({ minimum: 2 }),
  byteLength: Type.Integer({ minimum: 1_048_576 }),
  data: Type.String(),
});
export type RpcChunk = Static<typeof RpcChunk>;

/** Stands in for a frame that is too large even in pieces. */
export const RpcFrameError = Type.Object({
  type: Type.Literal("rpc_frame_error"),
  originalType: Type.String(),
  error: Type.String(),
});
export type RpcFrameError = Static<typeof RpcFrameError>;

export const InboundFrame = Type.Union([RpcCommand, ExtensionUiResponse, HostToolUpdate, HostToolResult]);
export type InboundFrame = RpcCommand | ExtensionUiResponse | HostToolUpdate | HostToolResult;

const reports = [
  ReadyFrame,
  AgentSessionEvent,
  ExtensionUiRequest,
  ExtensionError,
  HostToolCall,
  HostToolCancel,
  AvailableCommandsUpdate,
  ThinkingLevelChanged,
  SessionInfoChanged,
  PromptResult,
  SessionSettled,
  RpcChunk,
  RpcFrameError,
] as const;

export const OutboundFrame = Type.Union([RpcResponse, ...reports]);
export type OutboundFrame = RpcResponse | Static<(typeof reports)[number]>;
