// What `galley` exports besides `createAgentSession`. A file of its own, because it is served to the extensions that a
// session loads, and a session cannot import its own maker.

export { GalleyError } from "../base/errors.js";
export type { ContextFile } from "../config/context-files.js";
export type { Skill } from "../config/prompts/skill.js";
export type { PromptTemplate } from "../config/prompts/template.js";
export { Settings } from "../config/settings/settings.js";
export type { CustomCommand, CustomCommandFactory } from "../extensions/api/custom-command.js";
export {
  type CustomTool,
  type CustomToolAPI,
  type CustomToolFactory,
  type CustomToolResult,
  type CustomToolSessionEvent,
  defineAgentTool,
  defineCustomTool,
  defineTool,
} from "../extensions/api/custom-tool.js";
export type { CustomToolContext } from "../extensions/api/custom-tool-context.js";
export type { ExtensionAPI, ExtensionFactory, ToolDefinition } from "../extensions/api/extension.js";
export type { ExtensionCommandContext, ExtensionContext } from "../extensions/api/extension-context.js";
export type { RenderView, ToolRenderer } from "../extensions/api/render.js";
export { plainTheme, type Theme } from "../extensions/compat/theme.js";
export type { TrustQuestion } from "../extensions/trust/trust-question.js";
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
} from "../files/workspace.js";
export type { ChangeSession, ChangeWriter } from "../plans/change-writer.js";
export type { ProcessEnd, Processes, ProcessRequest } from "../processes/processes.js";
export type { AgentSessionEvent } from "../protocol/events.js";
export type { AgentMessage, AssistantMessage } from "../protocol/messages.js";
export { type AiSdkLanguageModel, type AiSdkModelOptions, aiSdkModel } from "../provider/ai-sdk-model.js";
export { toWireModel } from "../provider/models/wire-model.js";
export type { ProviderModel, StreamEvent, StreamFunction, StreamRequest } from "../provider/provider.js";
export { SessionIndex, type SessionInfo } from "../record/store/session-index.js";
export { AgentSession, type PromptOptions, type ToolRun, type ToolRunRequest } from "../session/agent-session.js";
export type { ApprovalPolicy, ApprovalRequest } from "../session/approval.js";
export type { BudgetExceeded, BudgetLimits } from "../session/budget/budget.js";
export type { ModelChoice } from "../session/models/model-source.js";
export type { AgentTool, AnyTool, ApprovalTier, ToolContext } from "../tools/tool.js";
export { type AccessMode, accessModes } from "./access/access-mode.js";
export { type ApprovalMode, approvalModes } from "./access/approval-policy.js";
export type { CallAnswer, CallQuestion } from "./access/call-approval.js";
export { type EscalationQuestion, escalationLines, escalationTitle } from "./access/escalation.js";
export {
  type AstChange,
  type AstEditLocation,
  type AstEditOutcome,
  type AstEditRequest,
  astEdit,
} from "./ast-edit-function.js";
export { queueResolveHandler, type ResolveHandler } from "./queue-resolve-handler.js";
export { SessionManager, type SessionManagerOptions } from "./session-manager.js";
export type { SessionUI } from "./session-ui.js";
