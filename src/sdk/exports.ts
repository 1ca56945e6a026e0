// What the door `galley` offers beside `createAgentSession`. A file of its own, because the modules that a session loads
// are served it, and a session cannot import its own maker.

export { GalleyError } from "../base/errors.js";
export type { CustomCommand, CustomCommandFactory } from "../extend/custom-command.js";
export {
  type CustomTool,
  type CustomToolAPI,
  type CustomToolFactory,
  type CustomToolResult,
  type CustomToolSessionEvent,
  defineAgentTool,
  defineCustomTool,
  defineTool,
} from "../extend/custom-tool.js";
export type { CustomToolContext } from "../extend/custom-tool-context.js";
export type { ExtensionAPI, ExtensionFactory, ToolDefinition } from "../extend/extension.js";
export type { ExtensionCommandContext, ExtensionContext } from "../extend/extension-context.js";
export type { AgentSessionEvent } from "../protocol/events.js";
export type { AgentMessage, AssistantMessage } from "../protocol/messages.js";
export { toWireModel } from "../provider/model-registry.js";
export type { ProviderModel, StreamEvent, StreamFunction, StreamRequest } from "../provider/provider.js";
export { AgentSession, type PromptOptions } from "../session/agent-session.js";
export type { ApprovalPolicy, ApprovalRequest } from "../session/approval.js";
export type { ModelChoice } from "../session/model-source.js";
export type { PlanHands, PlanSession } from "../session/pending/plan-hands.js";
export { SessionManager, type SessionManagerOptions } from "../session/session-manager.js";
export { SessionIndex, type SessionInfo } from "../session/store-list.js";
export type { AgentTool, AnyTool, ApprovalTier, ToolContext } from "../tools/tool.js";
export type { ProcessEnd, Processes, ProcessRequest } from "../workspace/processes.js";
export type {
  DirectoryEntry,
  DirectoryListing,
  FileBytes,
  FileStat,
  Intent,
  ModifiedTimes,
  Permit,
  PermitQuestion,
  ReadOptions,
  RemoveRequest,
  Survey,
  SurveyedFile,
  Target,
  WalkOptions,
  Workspace,
  WriteOutcome,
  WriteRequest,
  WriteTarget,
} from "../workspace/workspace.js";
export { type AstChange, type AstEditOutcome, type AstEditPlace, type AstEditRequest, astEdit } from "./ast-edit.js";
export type { ContextFile } from "./context-files.js";
export type { Skill } from "./prompts/skill.js";
export type { PromptTemplate } from "./prompts/template.js";
export { queueResolveHandler, type ResolveHandler } from "./queue-resolve-handler.js";
export type { SessionUI } from "./session-ui.js";
export { Settings } from "./settings/settings.js";
