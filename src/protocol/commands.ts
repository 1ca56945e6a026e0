// Every command a host may send. The keyword `expectation` on a field holds the words that finish the sentence
// "Invalid <command>: <field> must be <expectation>"; the server checks frames against these schemas as plain data
// (check-command.ts), so a field without an expectation has no error message.

import Type, { type Static, type TProperties, type TSchema } from "typebox";
import { ImageContent } from "./content.js";
import { ThinkingLevel } from "./model.js";
import { TodoPhaseInput } from "./todos.js";

/** Repeated by the response. Ids need not be unique; a string beyond 512 bytes counts as absent. */
export const RequestId = Type.Union([Type.String(), Type.Integer()]);
export type RequestId = Static<typeof RequestId>;

export const QueueMode = Type.Union([Type.Literal("all"), Type.Literal("one-at-a-time")], {
  expectation: '"all" or "one-at-a-time"',
});
export type QueueMode = Static<typeof QueueMode>;

export const InterruptMode = Type.Union([Type.Literal("immediate"), Type.Literal("wait")], {
  expectation: '"immediate" or "wait"',
});
export type InterruptMode = Static<typeof InterruptMode>;

export const AccessMode = Type.Union(
  [Type.Literal("read-only"), Type.Literal("stage"), Type.Literal("workspace"), Type.Literal("full")],
  { expectation: "one of read-only, stage, workspace, full" },
);
export type AccessMode = Static<typeof AccessMode>;

const text = Type.String({ expectation: "a string" });
const flag = Type.Boolean({ expectation: "a boolean" });
const ordinal = Type.Integer({ minimum: 1, expectation: "a whole number from 1" });
const texts = Type.Array(Type.String(), { expectation: "an array of strings" });
const message = {
  message: text,
  images: Type.Optional(Type.Array(ImageContent, { expectation: "an array of image blocks" })),
};

function command<Name extends string, Fields extends TProperties>(name: Name, fields: Fields) {
  return Type.Object({ id: Type.Optional(RequestId), type: Type.Literal(name), ...fields });
}

function limit<Value extends TSchema>(value: Value, expectation: string) {
  return Type.Optional(Type.Union([value, Type.Null()], { expectation }));
}

export const commandSchemaByType = {
  negotiate_protocol: command("negotiate_protocol", {
    protocolVersion: Type.Number({ expectation: "a number" }),
    features: Type.Optional(texts),
  }),

  prompt: command("prompt", {
    ...message,
    streamingBehavior: Type.Optional(
      Type.Union([Type.Literal("steer"), Type.Literal("followUp")], { expectation: '"steer" or "followUp"' }),
    ),
  }),
  steer: command("steer", message),
  follow_up: command("follow_up", message),
  abort: command("abort", {}),
  abort_and_prompt: command("abort_and_prompt", message),
  new_session: command("new_session", { parentSession: Type.Optional(text) }),

  get_state: command("get_state", {}),
  set_todos: command("set_todos", { phases: Type.Array(TodoPhaseInput, { expectation: "an array" }) }),
  /** The definitions have error messages of their own, so they are checked when they are registered. */
  set_host_tools: command("set_host_tools", { tools: Type.Array(Type.Unknown(), { expectation: "an array" }) }),
  /** `null` removes the filter. */
  set_event_filter: command("set_event_filter", {
    events: Type.Union([Type.Array(Type.String()), Type.Null()], { expectation: "an array of strings or null" }),
  }),
  get_commands: command("get_commands", {}),
  get_available_commands: command("get_available_commands", {}),

  set_model: command("set_model", { provider: text, modelId: text }),
  cycle_model: command("cycle_model", {}),
  get_available_models: command("get_available_models", {}),
  /** `inherit` means: no explicit level. `max` is the highest of the model. */
  set_thinking_level: command("set_thinking_level", {
    level: Type.Union([ThinkingLevel, Type.Literal("max"), Type.Literal("inherit")], {
      expectation: "one of off, minimal, low, medium, high, xhigh",
    }),
  }),
  cycle_thinking_level: command("cycle_thinking_level", {}),
  get_available_thinking_levels: command("get_available_thinking_levels", {}),

  set_steering_mode: command("set_steering_mode", { mode: QueueMode }),
  set_follow_up_mode: command("set_follow_up_mode", { mode: QueueMode }),
  set_interrupt_mode: command("set_interrupt_mode", { mode: InterruptMode }),

  compact: command("compact", { customInstructions: Type.Optional(text) }),
  set_auto_compaction: command("set_auto_compaction", { enabled: flag }),
  set_auto_retry: command("set_auto_retry", { enabled: flag }),
  abort_retry: command("abort_retry", {}),

  /** Null removes a limit; one that is absent stays. */
  set_budget: command("set_budget", {
    maxCost: limit(Type.Number({ minimum: 0.0001 }), "a number of dollars from 0.0001, or null"),
    maxTurns: limit(Type.Integer({ minimum: 1 }), "a whole number from 1, or null"),
    maxTokens: limit(Type.Integer({ minimum: 1 }), "a whole number from 1, or null"),
  }),

  /** From the next call on. */
  set_access: command("set_access", { access: AccessMode }),

  /** `stage`: what it does to files is staged. `unsandboxed`: with the user's rights, whatever the access mode. */
  bash: command("bash", {
    command: text,
    excludeFromContext: Type.Optional(flag),
    stage: Type.Optional(flag),
    unsandboxed: Type.Optional(flag),
  }),
  abort_bash: command("abort_bash", {}),

  get_session_stats: command("get_session_stats", {}),
  export_html: command("export_html", { outputPath: Type.Optional(text) }),
  switch_session: command("switch_session", { sessionPath: text }),
  branch: command("branch", { entryId: text }),
  fork: command("fork", { entryId: text }),
  clone: command("clone", {}),
  get_branch_messages: command("get_branch_messages", {}),
  get_fork_messages: command("get_fork_messages", {}),
  get_entries: command("get_entries", { since: Type.Optional(text) }),
  get_tree: command("get_tree", {}),
  get_last_assistant_text: command("get_last_assistant_text", {}),
  set_session_name: command("set_session_name", { name: text }),
  get_messages: command("get_messages", {}),
  /** The limit's range has a sentence of its own. */
  get_messages_page: command("get_messages_page", {
    cursor: Type.Optional(text),
    limit: Type.Optional(Type.Number({ expectation: "a number" })),
  }),

  get_pending_actions: command("get_pending_actions", {
    ids: Type.Optional(texts),
    diff: Type.Optional(flag),
    check: Type.Optional(flag),
  }),
  resolve_pending_action: command("resolve_pending_action", {
    action: Type.Union([Type.Literal("apply"), Type.Literal("discard")], { expectation: '"apply" or "discard"' }),
    reason: text,
    pendingId: Type.Optional(text),
    pendingIds: Type.Optional(texts),
    all: Type.Optional(flag),
    extra: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { expectation: "an object" })),
    files: Type.Optional(texts),
    hunks: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.Integer({ minimum: 1 })), {
        expectation: "an object of hunk numbers by path",
      }),
    ),
    withDeps: Type.Optional(flag),
    protected: Type.Optional(flag),
    revision: Type.Optional(ordinal),
  }),
  revise_pending_action: command("revise_pending_action", {
    pendingId: text,
    revision: ordinal,
    path: text,
    hunk: ordinal,
    text,
  }),
  rebase_pending_action: command("rebase_pending_action", {
    pendingId: text,
    revision: Type.Optional(ordinal),
    partial: Type.Optional(flag),
  }),
  get_diff: command("get_diff", {
    pendingId: Type.Optional(text),
    changeId: Type.Optional(text),
    paths: Type.Optional(texts),
    cursor: Type.Optional(text),
    context: Type.Optional(Type.Integer({ minimum: 0, expectation: "an integer from 0" })),
  }),
  undo: command("undo", { changeId: Type.Optional(text), apply: Type.Optional(flag) }),
  redo: command("redo", { apply: Type.Optional(flag) }),
  get_changes: command("get_changes", {
    all: Type.Optional(flag),
    diff: Type.Optional(flag),
    limit: Type.Optional(Type.Integer({ minimum: 1, expectation: "a positive integer" })),
  }),
};

export type RpcCommandType = keyof typeof commandSchemaByType;

export const RpcCommand = Type.Union(Object.values(commandSchemaByType));
export type RpcCommand = { [C in RpcCommandType]: Static<(typeof commandSchemaByType)[C]> }[RpcCommandType];
