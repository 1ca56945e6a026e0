// The package entry `galley/client`: what a TypeScript host uses to drive the agent.

export type { PromptOutcome } from "./activity.js";
export type { AgentEvent, AgentEventOf, AgentEventType, EventQueue } from "./agent-events.js";
export type { CommandFields, CommandOptions } from "./command-methods.js";
export type { CallOptions } from "./deadline.js";
export type { DialogContext, HeadlessAnswers, UiHandlers, UiRequestOf } from "./dialogs.js";
export { RpcClient, type RpcClientOptions } from "./rpc-client.js";
export { RpcError, type RpcErrorKind } from "./rpc-error.js";
export type { ClientExit } from "./rpc-events.js";
export type { HostTool, HostToolContext, HostToolOutput } from "./served-tools.js";
