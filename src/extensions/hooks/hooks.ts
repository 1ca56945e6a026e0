// What extensions are told, what they may answer, and what the session gets after all of them have answered. The names
// and members are those that published extensions were written for.

import type { ImageContent, InputContent } from "../../protocol/content.js";
import type { BranchSummaryEntry, CompactionEntry } from "../../protocol/entries.js";
import type { AgentSessionEvent, CompactionResult } from "../../protocol/events.js";
import type { AgentMessage } from "../../protocol/messages.js";
import type { ThinkingLevel } from "../../protocol/model.js";
import type {
  CompactionPlan,
  CompactionPreparation,
  TreePreparation,
} from "../../session/compaction/compaction-extensions.js";
import type { CustomMessageInput } from "../../session/session-messages.js";

export type { CompactionPreparation, TreePreparation };

/** The result of a user's command, where an extension ran it. */
export interface UserBashResult {
  readonly output: string;
  readonly exitCode?: number | undefined;
  readonly cancelled?: boolean;
  readonly truncated?: boolean;
}

/** How an extension runs commands somewhere else. */
export interface UserBashOperations {
  exec(command: string, cwd: string, options: object): Promise<{ exitCode: number | null }>;
}

export interface FoundPath {
  readonly path: string;
  /** An extension of the project named it. */
  readonly needsTrust: boolean;
}

export type DiscoveredResources = { readonly [Kind in "skills" | "prompts" | "themes"]: readonly FoundPath[] };

export interface SystemPromptOptions {
  readonly cwd: string;
  /** The names of the active tools. */
  readonly selectedTools: readonly string[];
  readonly contextFiles: readonly { readonly path: string; readonly content: string }[];
  readonly skills: readonly { readonly name: string; readonly description: string; readonly filePath: string }[];
}

interface ModelName {
  readonly id: string;
  readonly provider: string;
}

type SwitchReason = "new" | "resume" | "fork";

/** By name: what handlers are shown, beside `type`. */
export interface HookEvents {
  session_start: {
    readonly reason?: "startup" | "new" | "resume" | "fork" | "reload";
    readonly previousSessionFile?: string | undefined;
  };
  session_shutdown: { readonly reason?: SwitchReason | "reload" | "quit"; readonly targetSessionFile?: string };
  session_before_switch: { readonly reason: SwitchReason; readonly targetSessionFile?: string };
  session_switch: { readonly reason: SwitchReason; readonly previousSessionFile: string | undefined };
  session_before_branch: { readonly entryId: string; readonly position: "before" | "at" };
  session_branch: { readonly previousSessionFile: string | undefined };
  session_before_tree: { readonly preparation: TreePreparation; readonly signal: AbortSignal };
  session_tree: {
    readonly newLeafId: string | null;
    readonly oldLeafId: string | null;
    readonly summaryEntry?: BranchSummaryEntry;
  };
  session_before_compact: CompactionPlan;
  "session.compacting": { readonly sessionId: string; readonly messages: readonly AgentMessage[] };
  session_compact: { readonly compactionEntry: CompactionEntry; readonly fromExtension: boolean };
  input: {
    readonly text: string;
    readonly images?: readonly ImageContent[];
    readonly source: "interactive" | "rpc" | "extension";
  };
  before_agent_start: {
    readonly prompt: string;
    readonly images?: readonly ImageContent[];
    readonly systemPrompt: string;
    readonly systemPromptOptions: SystemPromptOptions;
  };
  context: { readonly messages: AgentMessage[] };
  /** `input` is the handler's own copy; its changes to it count. */
  tool_call: { readonly toolName: string; readonly toolCallId: string; input: Record<string, unknown> };
  tool_result: {
    readonly toolName: string;
    readonly toolCallId: string;
    readonly input: Record<string, unknown>;
    readonly content: readonly InputContent[];
    readonly details: unknown;
    readonly isError: boolean;
  };
  model_select: {
    readonly model: ModelName;
    readonly previousModel: ModelName | undefined;
    readonly source: "set" | "cycle" | "restore";
  };
  thinking_level_select: { readonly level: ThinkingLevel; readonly previousLevel: ThinkingLevel };
  user_bash: { readonly command: string; readonly excludeFromContext: boolean; readonly cwd: string };
  project_trust: { readonly cwd: string };
  /** The body as it is about to be sent; the handler's changes to its copy count. */
  before_provider_request: { readonly payload: Record<string, unknown> };
  after_provider_response: { readonly status: number; readonly headers: Readonly<Record<string, string>> };
  resources_discover: { readonly cwd: string; readonly reason: "startup" | "reload" };
  session_info_changed: { readonly name: string | undefined };
  session_compact_failed: {
    readonly reason: "manual" | "threshold" | "overflow";
    readonly errorMessage?: string | undefined;
    readonly aborted: boolean;
    readonly willRetry: boolean;
    readonly fromExtension: boolean;
  };
}

export type HookName = keyof HookEvents;
export type HookEvent<Name extends HookName = HookName> = { [N in Name]: { readonly type: N } & HookEvents[N] }[Name];

/** Everything an extension can listen to. */
export type ExtensionEvent = HookEvent | AgentSessionEvent;

interface Veto {
  cancel?: boolean;
}

/** By name: what a handler may return. Where a name is missing, nothing is read. */
export interface HookAnswers {
  session_before_switch: Veto;
  session_before_branch: Veto & { skipConversationRestore?: boolean };
  session_before_tree: Veto & { summary?: BranchNote };
  session_before_compact: Veto & { compaction?: CompactionResult };
  "session.compacting": { context?: string[]; prompt?: string; preserveData?: Record<string, unknown> };
  input: {
    handled?: boolean;
    action?: "continue" | "transform" | "handled";
    text?: string;
    images?: readonly ImageContent[];
  };
  before_agent_start: { message?: CustomMessageInput; systemPrompt?: string };
  context: { messages?: readonly AgentMessage[] };
  tool_call: { block?: boolean; reason?: string; input?: Record<string, unknown> };
  tool_result: { content?: readonly InputContent[]; details?: unknown; isError?: boolean };
  user_bash: { result?: UserBashResult; operations?: UserBashOperations };
  /** What is sent instead. */
  before_provider_request: Record<string, unknown>;
  resources_discover: { skillPaths?: string[]; promptPaths?: string[]; themePaths?: string[] };
  project_trust: { trusted: "yes" | "no" | "undecided"; remember?: boolean };
}

export interface BranchNote {
  summary: string;
  details?: unknown;
}

/** By name: the combined outcome of all answers. */
export interface HookOutcomes {
  session_before_switch: { readonly cancel: boolean };
  session_before_branch: { readonly cancel: boolean; readonly skipConversationRestore: boolean };
  session_before_tree: { readonly cancel: boolean; readonly summary?: BranchNote };
  session_before_compact: { readonly cancel: boolean; readonly compaction?: CompactionResult };
  "session.compacting": HookAnswers["session.compacting"];
  input: { readonly handled: boolean; readonly text: string; readonly images?: readonly ImageContent[] };
  before_agent_start: { readonly messages: readonly CustomMessageInput[]; readonly systemPrompt: string };
  context: { readonly messages: AgentMessage[] };
  /** `block` is the reason; `isRevised` says that `input` is no longer what it was. */
  tool_call: { readonly block?: string; readonly input: Record<string, unknown>; readonly isRevised: boolean };
  tool_result: { readonly content: readonly InputContent[]; readonly details: unknown; readonly isError: boolean };
  user_bash: { readonly result?: UserBashResult; readonly operations?: UserBashOperations };
  before_provider_request: { readonly payload: Record<string, unknown> };
  resources_discover: DiscoveredResources;
  project_trust: { readonly trusted: "yes" | "no" | "undecided"; readonly remember: boolean };
}

export type DecidingHook = keyof HookOutcomes;

export type OutcomeOf<Type extends string> = Type extends DecidingHook ? HookOutcomes[Type] : undefined;

/** Other names for the same thing. */
export const hookAliases: ReadonlyMap<string, string> = new Map([
  ["session_before_fork", "session_before_branch"],
  ["session_fork", "session_branch"],
]);
