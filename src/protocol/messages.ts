// Every message a context can hold. `timestamp` is Unix milliseconds.

import Type, { type Static } from "typebox";
import { AssistantContent, ImageContent, InputContent } from "./content.js";

const timestamp = Type.Number();
const contentOrText = Type.Union([Type.String(), Type.Array(InputContent)]);
const attribution = Type.Optional(Type.Union([Type.Literal("user"), Type.Literal("agent")]));

export const Usage = Type.Object({
  input: Type.Number(),
  output: Type.Number(),
  cacheRead: Type.Number(),
  cacheWrite: Type.Number(),
  totalTokens: Type.Number(),
  /** The part of `output` that the model spent on thinking, where the service tells. */
  reasoning: Type.Optional(Type.Number()),
  premiumRequests: Type.Optional(Type.Number()),
  cost: Type.Object({
    input: Type.Number(),
    output: Type.Number(),
    cacheRead: Type.Number(),
    cacheWrite: Type.Number(),
    total: Type.Number(),
  }),
});
export type Usage = Static<typeof Usage>;

export const StopReason = Type.Union([
  Type.Literal("stop"),
  Type.Literal("length"),
  Type.Literal("toolUse"),
  Type.Literal("error"),
  Type.Literal("aborted"),
]);
export type StopReason = Static<typeof StopReason>;

/** Why a model call failed, as data; who retries branches on `kind`, never on the sentence. */
export const ProviderFailure = Type.Object({
  kind: Type.Union([
    Type.Literal("rate_limit"),
    Type.Literal("overloaded"),
    Type.Literal("server"),
    Type.Literal("network"),
    Type.Literal("usage_limit"),
    Type.Literal("auth"),
    Type.Literal("invalid_request"),
    Type.Literal("refusal"),
    Type.Literal("content_filter"),
    Type.Literal("overflow"),
    Type.Literal("limit"),
    Type.Literal("unknown"),
  ]),
  status: Type.Optional(Type.Integer()),
  code: Type.Optional(Type.String()),
  retryAfterMs: Type.Optional(Type.Number()),
});
export type ProviderFailure = Static<typeof ProviderFailure>;

export const UserMessage = Type.Object({
  role: Type.Literal("user"),
  content: contentOrText,
  attribution,
  synthetic: Type.Optional(Type.Boolean()),
  providerPayload: Type.Optional(Type.Unknown()),
  timestamp,
});
export type UserMessage = Static<typeof UserMessage>;

export const DeveloperMessage = Type.Object({
  role: Type.Literal("developer"),
  content: contentOrText,
  attribution,
  providerPayload: Type.Optional(Type.Unknown()),
  timestamp,
});
export type DeveloperMessage = Static<typeof DeveloperMessage>;

export const AssistantMessage = Type.Object({
  role: Type.Literal("assistant"),
  content: Type.Array(AssistantContent),
  api: Type.String(),
  provider: Type.String(),
  model: Type.String(),
  usage: Usage,
  stopReason: StopReason,
  errorMessage: Type.Optional(Type.String()),
  error: Type.Optional(ProviderFailure),
  responseId: Type.Optional(Type.String()),
  duration: Type.Optional(Type.Number()),
  ttft: Type.Optional(Type.Number()),
  providerPayload: Type.Optional(Type.Unknown()),
  timestamp,
});
export type AssistantMessage = Static<typeof AssistantMessage>;

export const ToolResultMessage = Type.Object({
  role: Type.Literal("toolResult"),
  toolCallId: Type.String(),
  toolName: Type.String(),
  content: Type.Array(InputContent),
  details: Type.Optional(Type.Unknown()),
  isError: Type.Boolean(),
  isWarning: Type.Optional(Type.Boolean()),
  attribution,
  prunedAt: Type.Optional(Type.Number()),
  timestamp,
});
export type ToolResultMessage = Static<typeof ToolResultMessage>;

const executionFields = {
  output: Type.String(),
  exitCode: Type.Optional(Type.Integer()),
  cancelled: Type.Boolean(),
  truncated: Type.Boolean(),
  meta: Type.Optional(Type.Unknown()),
  excludeFromContext: Type.Optional(Type.Boolean()),
  timestamp,
};

export const BashExecutionMessage = Type.Object({
  role: Type.Literal("bashExecution"),
  command: Type.String(),
  ...executionFields,
});
export type BashExecutionMessage = Static<typeof BashExecutionMessage>;

export const PythonExecutionMessage = Type.Object({
  role: Type.Literal("pythonExecution"),
  code: Type.String(),
  ...executionFields,
});
export type PythonExecutionMessage = Static<typeof PythonExecutionMessage>;

const customFields = {
  customType: Type.String(),
  content: contentOrText,
  display: Type.Boolean(),
  details: Type.Optional(Type.Unknown()),
  attribution,
  timestamp,
};

export const CustomMessage = Type.Object({ role: Type.Literal("custom"), ...customFields });
export type CustomMessage = Static<typeof CustomMessage>;

/** Legacy spelling of `custom`: read, never produced. */
export const HookMessage = Type.Object({ role: Type.Literal("hookMessage"), ...customFields });
export type HookMessage = Static<typeof HookMessage>;

export const CompactionSummaryMessage = Type.Object({
  role: Type.Literal("compactionSummary"),
  summary: Type.String(),
  shortSummary: Type.Optional(Type.String()),
  tokensBefore: Type.Number(),
  providerPayload: Type.Optional(Type.Unknown()),
  timestamp,
});
export type CompactionSummaryMessage = Static<typeof CompactionSummaryMessage>;

export const BranchSummaryMessage = Type.Object({
  role: Type.Literal("branchSummary"),
  summary: Type.String(),
  fromId: Type.String(),
  timestamp,
});
export type BranchSummaryMessage = Static<typeof BranchSummaryMessage>;

export const FileMentionMessage = Type.Object({
  role: Type.Literal("fileMention"),
  files: Type.Array(
    Type.Object({
      path: Type.String(),
      content: Type.String(),
      lineCount: Type.Optional(Type.Integer()),
      byteSize: Type.Optional(Type.Integer()),
      skippedReason: Type.Optional(Type.Literal("tooLarge")),
      image: Type.Optional(ImageContent),
    }),
  ),
  timestamp,
});
export type FileMentionMessage = Static<typeof FileMentionMessage>;

export const AgentMessage = Type.Union([
  UserMessage,
  DeveloperMessage,
  AssistantMessage,
  ToolResultMessage,
  BashExecutionMessage,
  PythonExecutionMessage,
  CustomMessage,
  HookMessage,
  CompactionSummaryMessage,
  BranchSummaryMessage,
  FileMentionMessage,
]);
export type AgentMessage = Static<typeof AgentMessage>;
