// What `createAgentSession` takes. Everything is optional: what is omitted is discovered.

import type { Clock } from "../base/clock.js";
import type { Ids } from "../base/ids.js";
import type { Log } from "../base/log.js";
import type { ContextFile } from "../config/context-files.js";
import type { PromptTextOptions } from "../config/prompts/find-prompt-texts.js";
import type { Assignment } from "../config/settings/assignment.js";
import type { Settings } from "../config/settings/settings.js";
import type { Workspace } from "../files/workspace.js";
import type { ToolHooks } from "../loop/run.js";
import type { ChangeWriter } from "../plans/change-writer.js";
import type { Processes } from "../processes/processes.js";
import type { Environment } from "../provider/credentials.js";
import type { StreamFunction } from "../provider/provider.js";
import type { SessionRecord } from "../record/record.js";
import type { ApprovalPolicy } from "../session/approval.js";
import type { BudgetLimits } from "../session/budget/budget.js";
import type { StreamRule } from "../session/rules/rule.js";
import type { ApprovalTier } from "../tools/tool.js";
import type { AccessMode } from "./access/access-mode.js";
import type { ApprovalMode } from "./access/approval-policy.js";
import type { Resume } from "./choose-record.js";
import type { GivenTool } from "./custom-tools.js";
import type { ExtensionOptions } from "./extensions/load-session-extensions.js";
import type { NoModelReason } from "./no-model.js";
import type { FileBefore } from "./run-report/written-files.js";
import type { ModelOptions } from "./session-models.js";
import type { QuestionOptions } from "./session-ui.js";

export interface CreateAgentSessionOptions extends ModelOptions, ExtensionOptions, PromptTextOptions, QuestionOptions {
  cwd?: string;
  agentDir?: string;
  env?: Environment;
  /** Replaces the default prompt, or is made from it. */
  systemPrompt?: string | ((standard: string) => string);
  /** What the model is told about the user's and the project's wishes, after the prompt; default: found on disk. */
  contextFiles?: readonly ContextFile[];
  /** The built-in tools that are active; default: those that the settings leave on. */
  toolNames?: readonly string[];
  /** Which tools there may be, built-in ones and those of modules; default: all. */
  allowsTool?: ((name: string) => boolean) | undefined;
  /** Always active. The name of a built-in tool is refused, unless it is to be replaced. */
  customTools?: readonly GivenTool[];
  overrideBuiltins?: boolean;
  hooks?: ToolHooks | undefined;
  /** Do not wait for custom tools and extensions: `session.whenReady()` does, and a prompt. */
  deferModules?: boolean;
  /**
   * What extensions are told about how the session is driven; default `print`. Where it is named `print` or `json`, the
   * model is not reminded of open todos unless the user set `todo.reminders`.
   */
  mode?: "interactive" | "rpc" | "print" | "json";
  /** What extensions get in place of exports of the component library: the themes of a terminal. */
  components?: () => Promise<object>;
  /** An extension wants the program to end; default: it does not. */
  onShutdownRequest?: () => void;
  /** How much may be asked of models from now on, by whatever part of the session; default: as the settings say. */
  budget?: BudgetLimits;
  /** No language model can be asked, and none was asked for. Default: a warning in the log, if one was set up. */
  onNoModel?: (reason: NoModelReason) => void;
  /** Replaces the provider layer (tests, proxies); then no keys are needed. */
  streamFn?: StreamFunction;
  /**
   * The files that the session works on; default: those on the disk, by the rules of the settings. What tools, plans
   * and exports write goes through it. It has no journal: see docs/workspace.md. Programs are a matter of `processes`.
   */
  workspace?: Workspace;
  /** What starts programs; default: the system's. */
  processes?: Processes;
  /** Told of the files that the session writes: by tools at once, by plans when they are applied. For reports. */
  onFilesWritten?: (files: readonly FileBefore[]) => void;
  /** How plans are written; default: through `workspace` where one is given, else through the journal of the project. */
  changeWriter?: ChangeWriter;
  /** Policy for every tool call that is about to run; default: all may. */
  approve?: ApprovalPolicy;
  /** What the agent may do; default: as the settings say, else `defaultAccess`. `session.setAccess` changes it. */
  access?: AccessMode;
  /** What the agent may do unless the settings or `access` say something; default `full`. */
  defaultAccess?: AccessMode;
  /** Which calls the user is asked about, unless the user set `approval.mode`; default `never`. */
  approval?: ApprovalMode;
  /** Calls of these tiers are asked about, whatever the settings say, by a choice of `ui`; what declares none counts as `exec`. */
  askTiers?: readonly ApprovalTier[] | undefined;
  /** Commands may run although every change is staged; their own changes are not staged. */
  allowExec?: boolean;
  /** Keep the session in a file below the agent directory, or in `sessionDir`; default: in memory only. */
  persist?: boolean;
  sessionDir?: string;
  sessionName?: string | undefined;
  /** Begin with an earlier session instead of a new one; in memory only, with a copy of it. */
  resume?: Resume;
  /** A record that is already open. */
  sessionManager?: SessionRecord;
  /** Default: the user's and the project's files, with `assignments` on top. */
  settings?: Settings;
  /** What the command line says about settings. */
  assignments?: readonly Assignment[];
  /** Workflow settings keep their built-in values, whatever the files say: programs that drive galley rely on them. */
  resetWorkflowSettings?: boolean;
  /** Stream rules; default: those in the configuration directories, a project's once it is trusted. */
  rules?: readonly StreamRule[];
  /** The same, called with the first prompt. */
  loadRules?: () => Promise<readonly StreamRule[]>;
  /** For the jitter of retries. */
  random?: () => number;
  clock?: Clock;
  ids?: Ids;
  log?: Log;
}
