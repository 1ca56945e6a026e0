// What a session is made from. The SDK provides it; a session discovers nothing by itself.

import type { Clock } from "../base/clock.js";
import type { Log } from "../base/log.js";
import type { TextMask } from "../base/text-mask.js";
import type { ToolHooks } from "../loop/run.js";
import type { ChangeHistory } from "../pending/change-history.js";
import type { DecideContext } from "../pending/decide/decision.js";
import type { PendingActions } from "../pending/pending-actions.js";
import type { ChangeWriter } from "../plans/change-writer.js";
import type { AccessMode } from "../protocol/commands.js";
import type { AccessState, SandboxState } from "../protocol/data.js";
import type { FileMentionMessage } from "../protocol/messages.js";
import type { ThinkingLevel } from "../protocol/model.js";
import type { ProviderModel, StreamFunction } from "../provider/provider.js";
import type { NamedPageSource } from "../record/page-source.js";
import type { SessionRecord } from "../record/record.js";
import type { AnyTool, ArtifactSource } from "../tools/tool.js";
import type { ApprovalPolicy } from "./approval.js";
import type { BashRunOutcome, BashRunRequest } from "./bash/bash-execution.js";
import type { ProgramOutcome, ProgramRequest } from "./bash/program.js";
import type { Budget } from "./budget/budget.js";
import type { ModelSource } from "./models/model-source.js";
import type { PromptLibrary } from "./prompt-library.js";
import type { StreamRule } from "./rules/rule.js";
import type { SessionExtensions } from "./session-extensions.js";
import type { SessionSettings } from "./session-settings.js";
import type { TodoTracker } from "./todos/todo-tracker.js";

/** What the session itself lends to the tools that are made for it. */
export interface SessionToolDeps {
  readonly todos: TodoTracker;
  readonly artifacts: ArtifactSource;
  readonly pending: PendingActions;
  readonly changes: ChangeHistory;
}

/** How a session gets another record. Nothing is on the disk before a record's first message. */
export interface RecordSource {
  create(origin: { parentSession?: string }): SessionRecord;
  /** Throws for a file that is missing or no session, and leaves it as it is. */
  open(path: string): Promise<SessionRecord>;
}

/** How commands are confined at this moment. */
export interface SandboxView {
  /** As far as it is known. */
  readonly state: SandboxState;
  /** Finds out what this machine can do; undefined where there is nothing to find out. Never rejects. */
  learn(): Promise<void> | undefined;
}

/** What the agent may do with files and commands. A change holds from the next call on. */
export interface AccessControl {
  readonly mode: AccessMode | "custom";
  readonly staging: AccessState["staging"];
  choose(mode: AccessMode): void;
  /** Which calls the user is asked about. */
  readonly approval: "never" | "unconfined" | "ask" | "ask-writes";
}

export type { AccessMode };

export interface AgentSessionDeps {
  readonly cwd: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The secrets that nothing which leaves the session may hold; default: none are known. */
  readonly secrets?: TextMask;
  /** Masks what tools return; absent where the model may see it as it is. */
  readonly maskResult?: ((text: string) => string) | undefined;
  /** The record to begin with, and how to get another one. */
  readonly record: SessionRecord;
  readonly records: RecordSource;
  readonly models: ModelSource;
  /** All of its model calls, those of extensions included, are made through `budget`. */
  readonly stream: StreamFunction;
  readonly budget: Budget;
  createTools(own: SessionToolDeps): readonly AnyTool[];
  readonly hooks?: ToolHooks;
  /** Absent where there are none. */
  readonly extensions?: SessionExtensions | undefined;
  /** Prompts that are called by name; absent where there are none. */
  readonly library?: PromptLibrary | undefined;
  /** The files that a prompt mentions as `@path`. */
  readMentions?(text: string): Promise<FileMentionMessage["files"]>;
  /** Policy for every call that is about to run; default: all may. */
  readonly approve?: ApprovalPolicy | undefined;
  /** Writes plans to the disk. */
  readonly changes: ChangeWriter;
  /** Shows what the model wants to apply to the user; absent where no user can be asked. */
  confirm?: DecideContext["confirm"] | undefined;
  /** Asks the user whether protected paths may be written; absent where no user can be asked. */
  confirmProtected?: DecideContext["confirmProtected"] | undefined;
  /** How commands are confined; default: not at all. */
  readonly sandbox?: SandboxView;
  /** The working mode; absent: a session that has none. */
  readonly access?: AccessControl;
  /** Runs a command for the user; absent where there are no processes. */
  runBash?(request: BashRunRequest, artifacts: ArtifactSource): Promise<BashRunOutcome>;
  /** Runs a program for the user; absent where there are no processes. */
  runProgram?(request: ProgramRequest): Promise<ProgramOutcome>;
  /** Writes the session as an HTML page, and returns its absolute path. */
  exportPage(source: NamedPageSource, outputPath: string | undefined): Promise<string>;
  /** Ends what lives as long as the session; extensions get `modulesMs` for their shutdown. Never rejects. */
  release?(modulesMs?: number): Promise<void>;
  /** Built again when the active tools change. */
  systemPrompt(tools: readonly AnyTool[]): string;
  /** Finds out what the system prompt says about the surroundings; undefined once that is done. Never rejects. */
  learnSurroundings?(): Promise<void> | undefined;
  readonly model?: ProviderModel | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  /** For a record that says nothing; default: the same. */
  readonly usualThinkingLevel?: ThinkingLevel | undefined;
  /** What was named for this start; it wins over the record. */
  readonly named?: { readonly model: boolean; readonly level: boolean };
  readonly settings?: SessionSettings;
  /** The stream rules, asked for with the first prompt. */
  loadRules?(): Promise<readonly StreamRule[]>;
  /** For the jitter of retries; default Math.random. */
  readonly random?: () => number;
}
