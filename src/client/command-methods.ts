// One method per command of the protocol: `set_model` is `setModel`. Required fields are the parameters, in the order
// of the protocol; optional ones travel in the last parameter, together with the deadline of the call. The methods are
// made from one table, because written out they would be a tenth of the client's size limit.

import type { JsonObject } from "../base/json.js";
import type { RpcCommand, RpcCommandType } from "../protocol/commands.js";
import type { RpcData } from "../protocol/data.js";
import type { CallOptions } from "./deadline.js";

export type CommandFields<C extends RpcCommandType> = Omit<Extract<RpcCommand, { type: C }>, "type" | "id">;

type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];

/** The optional fields of a command, and how long to wait for its answer. */
export type CommandOptions<C extends RpcCommandType> = {
  [K in OptionalKeys<CommandFields<C>>]?: CommandFields<C>[K] | undefined;
} & CallOptions;

type Field<C extends RpcCommandType, K extends keyof CommandFields<C>> = CommandFields<C>[K];
type Answer<C extends RpcCommandType> = Promise<RpcData[C]>;

/** Each command with its required fields; commands that need more than a request are in RpcClient. */
const table = `negotiate_protocol protocolVersion
steer message
follow_up message
abort
new_session
get_state
set_todos phases
set_event_filter events
get_commands
get_available_commands
set_model provider modelId
cycle_model
get_available_models
set_thinking_level level
cycle_thinking_level
get_available_thinking_levels
set_steering_mode mode
set_follow_up_mode mode
set_interrupt_mode mode
compact
set_auto_compaction enabled
set_auto_retry enabled
abort_retry
set_budget
set_access access
bash command
abort_bash
get_session_stats
export_html
switch_session sessionPath
branch entryId
fork entryId
clone
get_branch_messages
get_fork_messages
get_entries
get_tree
get_last_assistant_text
set_session_name name
get_messages
get_messages_page
get_pending_actions
resolve_pending_action action reason
revise_pending_action pendingId revision path hunk text
rebase_pending_action pendingId
get_diff
undo
redo
get_changes`;

export abstract class RpcCommands {
  declare readonly negotiateProtocol: (
    protocolVersion: number,
    options?: CommandOptions<"negotiate_protocol">,
  ) => Answer<"negotiate_protocol">;

  declare readonly steer: (message: string, options?: CommandOptions<"steer">) => Answer<"steer">;
  declare readonly followUp: (message: string, options?: CommandOptions<"follow_up">) => Answer<"follow_up">;
  declare readonly abort: (options?: CallOptions) => Answer<"abort">;
  declare readonly newSession: (options?: CommandOptions<"new_session">) => Answer<"new_session">;

  declare readonly getState: (options?: CallOptions) => Answer<"get_state">;
  declare readonly setTodos: (phases: Field<"set_todos", "phases">, options?: CallOptions) => Answer<"set_todos">;
  declare readonly setEventFilter: (
    events: Field<"set_event_filter", "events">,
    options?: CallOptions,
  ) => Answer<"set_event_filter">;
  declare readonly getCommands: (options?: CallOptions) => Answer<"get_commands">;
  declare readonly getAvailableCommands: (options?: CallOptions) => Answer<"get_available_commands">;

  declare readonly setModel: (provider: string, modelId: string, options?: CallOptions) => Answer<"set_model">;
  declare readonly cycleModel: (options?: CallOptions) => Answer<"cycle_model">;
  declare readonly getAvailableModels: (options?: CallOptions) => Answer<"get_available_models">;
  declare readonly setThinkingLevel: (
    level: Field<"set_thinking_level", "level">,
    options?: CallOptions,
  ) => Answer<"set_thinking_level">;
  declare readonly cycleThinkingLevel: (options?: CallOptions) => Answer<"cycle_thinking_level">;
  declare readonly getAvailableThinkingLevels: (options?: CallOptions) => Answer<"get_available_thinking_levels">;
  declare readonly setSteeringMode: (
    mode: Field<"set_steering_mode", "mode">,
    options?: CallOptions,
  ) => Answer<"set_steering_mode">;
  declare readonly setFollowUpMode: (
    mode: Field<"set_follow_up_mode", "mode">,
    options?: CallOptions,
  ) => Answer<"set_follow_up_mode">;
  declare readonly setInterruptMode: (
    mode: Field<"set_interrupt_mode", "mode">,
    options?: CallOptions,
  ) => Answer<"set_interrupt_mode">;

  declare readonly compact: (options?: CommandOptions<"compact">) => Answer<"compact">;
  declare readonly setAutoCompaction: (enabled: boolean, options?: CallOptions) => Answer<"set_auto_compaction">;
  declare readonly setAutoRetry: (enabled: boolean, options?: CallOptions) => Answer<"set_auto_retry">;
  declare readonly abortRetry: (options?: CallOptions) => Answer<"abort_retry">;
  declare readonly setBudget: (options?: CommandOptions<"set_budget">) => Answer<"set_budget">;
  declare readonly setAccess: (
    access: Field<"set_access", "access">,
    options?: CommandOptions<"set_access">,
  ) => Answer<"set_access">;
  declare readonly bash: (command: string, options?: CommandOptions<"bash">) => Answer<"bash">;
  declare readonly abortBash: (options?: CallOptions) => Answer<"abort_bash">;

  declare readonly getSessionStats: (options?: CallOptions) => Answer<"get_session_stats">;
  declare readonly exportHtml: (options?: CommandOptions<"export_html">) => Answer<"export_html">;
  declare readonly switchSession: (sessionPath: string, options?: CallOptions) => Answer<"switch_session">;
  declare readonly branch: (entryId: string, options?: CallOptions) => Answer<"branch">;
  declare readonly fork: (entryId: string, options?: CallOptions) => Answer<"fork">;
  declare readonly clone: (options?: CallOptions) => Answer<"clone">;
  declare readonly getBranchMessages: (options?: CallOptions) => Answer<"get_branch_messages">;
  declare readonly getForkMessages: (options?: CallOptions) => Answer<"get_fork_messages">;
  declare readonly getEntries: (options?: CommandOptions<"get_entries">) => Answer<"get_entries">;
  declare readonly getTree: (options?: CallOptions) => Answer<"get_tree">;
  declare readonly getLastAssistantText: (options?: CallOptions) => Answer<"get_last_assistant_text">;
  declare readonly setSessionName: (name: string, options?: CallOptions) => Answer<"set_session_name">;
  declare readonly getMessages: (options?: CallOptions) => Answer<"get_messages">;
  declare readonly getMessagesPage: (options?: CommandOptions<"get_messages_page">) => Answer<"get_messages_page">;

  declare readonly getPendingActions: (
    options?: CommandOptions<"get_pending_actions">,
  ) => Answer<"get_pending_actions">;
  declare readonly revisePendingAction: (
    pendingId: Field<"revise_pending_action", "pendingId">,
    revision: Field<"revise_pending_action", "revision">,
    path: Field<"revise_pending_action", "path">,
    hunk: Field<"revise_pending_action", "hunk">,
    text: Field<"revise_pending_action", "text">,
  ) => Answer<"revise_pending_action">;
  declare readonly rebasePendingAction: (
    pendingId: Field<"rebase_pending_action", "pendingId">,
    options?: CommandOptions<"rebase_pending_action">,
  ) => Answer<"rebase_pending_action">;
  declare readonly resolvePendingAction: (
    action: Field<"resolve_pending_action", "action">,
    reason: string,
    options?: CommandOptions<"resolve_pending_action">,
  ) => Answer<"resolve_pending_action">;
  declare readonly getDiff: (options?: CommandOptions<"get_diff">) => Answer<"get_diff">;
  declare readonly undo: (options?: CommandOptions<"undo">) => Answer<"undo">;
  declare readonly redo: (options?: CommandOptions<"redo">) => Answer<"redo">;
  declare readonly getChanges: (options?: CommandOptions<"get_changes">) => Answer<"get_changes">;

  abstract request<C extends RpcCommandType>(type: C, fields: CommandFields<C>, options?: CallOptions): Answer<C>;

  static {
    for (const row of table.split("\n")) {
      const [type, ...required] = row.split(" ") as [RpcCommandType, ...string[]];
      const name = type.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
      const method = function (this: RpcCommands, ...values: unknown[]) {
        const { timeoutMs, signal, ...fields } = (values[required.length] ?? {}) as CallOptions & JsonObject;
        for (const [index, field] of required.entries()) fields[field] = values[index];
        return this.request(type, fields as never, { timeoutMs, signal });
      };
      Object.defineProperty(RpcCommands.prototype, name, { value: method });
    }
  }
}
