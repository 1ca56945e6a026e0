// What a successful response carries, command by command. The record says it to programs, the type of the same name
// to the compiler: a handler for command C returns RpcData[C], and `void` means that the response has no `data`.

import Type, { type Static, type TSchema } from "typebox";
import { AccessMode, InterruptMode, QueueMode, type RpcCommandType } from "./commands.js";
import { DiffPage } from "./diff.js";
import { EntryBase } from "./entries.js";
import { CompactionResult } from "./events.js";
import { AgentMessage } from "./messages.js";
import { Model, ThinkingLevel } from "./model.js";
import { Change, FileChangeKind, PendingAction, PendingActionView, PendingOutcome } from "./pending.js";
import { TodoPhase } from "./todos.js";

const count = Type.Integer({ minimum: 0 });
const numberOrNull = Type.Union([Type.Number(), Type.Null()]);
const stringOrNull = Type.Union([Type.String(), Type.Null()]);

/**
 * What became of a message: a run begins with it, it waits for a run, or no run comes of it (a command took it, or a
 * failure follows).
 */
export const Disposition = Type.Union([Type.Literal("started"), Type.Literal("queued"), Type.Literal("handled")]);
export type Disposition = Static<typeof Disposition>;

/** `tokens` and `percent` are null right after a compaction, until the next reply tells. */
export const ContextUsage = Type.Object({
  tokens: numberOrNull,
  contextWindow: Type.Number(),
  percent: numberOrNull,
  /** Why the context is above its limit and was not compacted, as a sentence. */
  compactionSkipped: Type.Optional(Type.String()),
});
export type ContextUsage = Static<typeof ContextUsage>;

/**
 * How commands are confined; `reason` says why it is weaker than asked. `stage`: how a command is run that changes nothing
 * before it is applied.
 */
export const SandboxState = Type.Object({
  mode: Type.Union([Type.Literal("workspace"), Type.Literal("read-only"), Type.Literal("off")]),
  mechanism: Type.String(),
  network: Type.Union([Type.Literal("off"), Type.Literal("hosts"), Type.Literal("on")]),
  stage: Type.Object({
    mechanism: Type.Union([Type.Literal("overlay"), Type.Literal("copy"), Type.Literal("none")]),
    reason: Type.Optional(Type.String()),
  }),
  reason: Type.Optional(Type.String()),
});
export type SandboxState = Static<typeof SandboxState>;

/** The working mode that holds; `custom` where the settings make none of the four. */
export const AccessName = Type.Union([AccessMode, Type.Literal("custom")]);
export type AccessName = Static<typeof AccessName>;

/** What the agent may do with files and commands. */
export const AccessState = Type.Object({
  access: AccessName,
  staging: Type.Union([Type.Literal("off"), Type.Literal("auto"), Type.Literal("all")]),
  sandbox: SandboxState,
});
export type AccessState = Static<typeof AccessState>;

export const SessionState = Type.Object({
  model: Type.Optional(Model),
  thinkingLevel: ThinkingLevel,
  isStreaming: Type.Boolean(),
  isCompacting: Type.Boolean(),
  steeringMode: QueueMode,
  followUpMode: QueueMode,
  interruptMode: InterruptMode,
  sessionFile: Type.Optional(Type.String()),
  sessionId: Type.String(),
  sessionName: Type.Optional(Type.String()),
  autoCompactionEnabled: Type.Boolean(),
  messageCount: count,
  queuedMessageCount: count,
  todoPhases: Type.Array(TodoPhase),
  systemPrompt: Type.Optional(Type.String()),
  dumpTools: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String(),
        description: Type.String(),
        parameters: Type.Record(Type.String(), Type.Unknown()),
      }),
    ),
  ),
  contextUsage: Type.Optional(ContextUsage),
  /** Always equal to `queuedMessageCount`: some hosts know it by this name. */
  pendingMessageCount: Type.Optional(count),
  autoRetryEnabled: Type.Optional(Type.Boolean()),
  isRetrying: Type.Optional(Type.Boolean()),
  pendingActionCount: Type.Optional(count),
  access: Type.Optional(AccessName),
  sandbox: Type.Optional(SandboxState),
  persistError: Type.Optional(Type.String()),
  /** Present where nothing keeps another program from writing the session file at the same time. */
  lockKind: Type.Optional(Type.Union([Type.Literal("none"), Type.Literal("held")])),
  readOnlyReason: Type.Optional(Type.String()),
  isSettled: Type.Optional(Type.Boolean()),
});
export type SessionState = Static<typeof SessionState>;

/** What a staged command did to files: nothing of it is on the disk. */
export const StagedEffects = Type.Object({
  /** Absent where nothing changed. */
  pendingId: Type.Optional(Type.String()),
  files: Type.Array(
    Type.Object({
      path: Type.String(),
      kind: FileChangeKind,
      type: Type.Optional(Type.Union([Type.Literal("symlink"), Type.Literal("directory")])),
      added: Type.Optional(count),
      removed: Type.Optional(count),
      /** What a link points to. */
      target: Type.Optional(Type.String()),
      renamedFrom: Type.Optional(Type.String()),
      protected: Type.Optional(Type.Literal(true)),
    }),
  ),
  notStaged: Type.Array(Type.Object({ path: Type.String(), why: Type.String() })),
  /** Ignored files that are in the view only. */
  kept: Type.Object({ files: count, bytes: count }),
  view: Type.Union([Type.Literal("overlay"), Type.Literal("copy")]),
});
export type StagedEffects = Static<typeof StagedEffects>;

/** A non-zero exit is a result, not a failure; `exitCode` is absent when the command was cancelled or timed out. */
export const BashResult = Type.Object({
  output: Type.String(),
  exitCode: Type.Optional(Type.Integer()),
  cancelled: Type.Boolean(),
  truncated: Type.Boolean(),
  totalLines: count,
  totalBytes: count,
  outputLines: count,
  outputBytes: count,
  artifactId: Type.Optional(Type.String()),
  newCwd: Type.Optional(Type.String()),
  fullOutputPath: Type.Optional(Type.String()),
  /** Of a staged command only. */
  ...Type.Partial(StagedEffects).properties,
});
export type BashResult = Static<typeof BashResult>;

export const TokenTotals = Type.Object({
  input: Type.Number(),
  output: Type.Number(),
  cacheRead: Type.Number(),
  cacheWrite: Type.Number(),
  total: Type.Number(),
});
export type TokenTotals = Static<typeof TokenTotals>;

/** The limits that are set, and what the session used since this process opened it. */
export const BudgetState = Type.Object({
  maxCost: Type.Optional(Type.Number()),
  maxTurns: Type.Optional(Type.Integer()),
  maxTokens: Type.Optional(Type.Integer()),
  used: Type.Object({ cost: Type.Number(), turns: count, tokens: Type.Number() }),
});
export type BudgetState = Static<typeof BudgetState>;

/** Messages are counted in the context; tokens and dollars over everything the session file was billed for. */
export const SessionStats = Type.Object({
  sessionFile: Type.Optional(Type.String()),
  sessionId: Type.String(),
  userMessages: count,
  assistantMessages: count,
  toolCalls: count,
  toolResults: count,
  totalMessages: count,
  tokens: TokenTotals,
  premiumRequests: Type.Number(),
  cost: Type.Number(),
  contextUsage: Type.Optional(ContextUsage),
  compactions: Type.Optional(count),
  /** By `provider/id`. */
  byModel: Type.Optional(Type.Record(Type.String(), Type.Object({ tokens: TokenTotals, cost: Type.Number() }))),
  budget: Type.Optional(BudgetState),
});
export type SessionStats = Static<typeof SessionStats>;

export const EntryTree = Type.Cyclic(
  {
    EntryTree: Type.Object({
      entry: EntryBase,
      children: Type.Array(Type.Ref("EntryTree")),
      label: Type.Optional(Type.String()),
    }),
  },
  "EntryTree",
);
export type EntryTree = Static<typeof EntryTree>;

/** A `/name` that a prompt may start with. */
export const SlashCommand = Type.Object({
  name: Type.String(),
  description: Type.Optional(Type.String()),
  source: Type.Union([Type.Literal("extension"), Type.Literal("prompt"), Type.Literal("skill")]),
  sourceInfo: Type.Record(Type.String(), Type.Unknown()),
});
export type SlashCommand = Static<typeof SlashCommand>;

export const AvailableCommand = Type.Object({
  name: Type.String(),
  description: Type.Optional(Type.String()),
  source: Type.String(),
});
export type AvailableCommand = Static<typeof AvailableCommand>;

/** The metadata of a settled action; with `all` or several ids, one line of results per action instead. */
export const ResolveDetails = Type.Union([
  Type.Object({
    action: Type.Union([Type.Literal("apply"), Type.Literal("discard")]),
    reason: Type.String(),
    sourceToolName: Type.String(),
    label: Type.String(),
    id: Type.String(),
    remaining: count,
    extra: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    sourceDetails: Type.Optional(Type.Unknown()),
    sourceResultDetails: Type.Optional(Type.Unknown()),
    partial: Type.Optional(Type.Literal(true)),
    settled: Type.Optional(
      Type.Array(Type.Object({ path: Type.String(), hunks: Type.Optional(Type.Array(Type.Integer())) })),
    ),
  }),
  Type.Object({
    action: Type.Union([Type.Literal("apply"), Type.Literal("discard")]),
    reason: Type.String(),
    results: Type.Array(
      Type.Object({
        id: Type.String(),
        outcome: PendingOutcome,
        label: Type.String(),
        error: Type.Optional(Type.String()),
        /** Of a plan that was applied by a change of its own. */
        changeId: Type.Optional(Type.String()),
        hardlinkBroken: Type.Optional(Type.Array(Type.String())),
      }),
    ),
  }),
]);
export type ResolveDetails = Static<typeof ResolveDetails>;

const cancelled = Type.Object({ cancelled: Type.Boolean() });
const branched = Type.Object({ text: Type.String(), cancelled: Type.Boolean() });
const branchPoints = Type.Object({
  messages: Type.Array(
    Type.Object({ entryId: Type.String(), text: Type.String(), onPath: Type.Optional(Type.Boolean()) }),
  ),
});
const undone = Type.Union([
  Type.Object({ action: PendingAction }),
  Type.Object({ details: ResolveDetails, text: Type.String(), change: Change }),
]);

export const RpcData = {
  negotiate_protocol: Type.Object({ protocolVersion: Type.Integer(), features: Type.Array(Type.String()) }),

  prompt: Type.Object({
    disposition: Disposition,
    /** Only with the feature `prompt-result`, and only when the prompt was dealt with before it was acknowledged. */
    agentInvoked: Type.Optional(Type.Literal(false)),
  }),
  steer: Type.Object({ disposition: Disposition }),
  follow_up: Type.Object({ disposition: Disposition }),
  abort: undefined,
  abort_and_prompt: undefined,
  new_session: cancelled,

  get_state: SessionState,
  set_todos: Type.Object({ todoPhases: Type.Array(TodoPhase) }),
  set_host_tools: Type.Object({ toolNames: Type.Array(Type.String()) }),
  set_event_filter: Type.Object({ events: Type.Union([Type.Array(Type.String()), Type.Null()]) }),
  get_commands: Type.Object({ commands: Type.Array(SlashCommand) }),
  get_available_commands: Type.Object({ commands: Type.Array(AvailableCommand) }),

  set_model: Model,
  cycle_model: Type.Union([
    Type.Object({ model: Model, thinkingLevel: ThinkingLevel, isScoped: Type.Boolean() }),
    Type.Null(),
  ]),
  get_available_models: Type.Object({ models: Type.Array(Model) }),
  set_thinking_level: undefined,
  cycle_thinking_level: Type.Union([Type.Object({ level: ThinkingLevel }), Type.Null()]),
  get_available_thinking_levels: Type.Object({ levels: Type.Array(ThinkingLevel) }),

  set_steering_mode: undefined,
  set_follow_up_mode: undefined,
  set_interrupt_mode: undefined,

  compact: CompactionResult,
  set_auto_compaction: undefined,
  set_auto_retry: undefined,
  abort_retry: undefined,

  set_budget: BudgetState,
  set_access: AccessState,

  bash: BashResult,
  abort_bash: undefined,

  get_session_stats: SessionStats,
  export_html: Type.Object({ path: Type.String() }),
  switch_session: Type.Object({ cancelled: Type.Boolean(), readOnlyReason: Type.Optional(Type.String()) }),
  branch: branched,
  fork: branched,
  clone: cancelled,
  get_branch_messages: branchPoints,
  get_fork_messages: branchPoints,
  get_entries: Type.Object({ entries: Type.Array(EntryBase), leafId: stringOrNull }),
  get_tree: Type.Object({ tree: Type.Array(EntryTree), leafId: stringOrNull }),
  /** Without a member in the place of pi, where there is no text. */
  get_last_assistant_text: Type.Object({ text: Type.Optional(stringOrNull) }),
  set_session_name: undefined,
  get_messages: Type.Object({ messages: Type.Array(AgentMessage) }),
  get_messages_page: Type.Object({
    messages: Type.Array(AgentMessage),
    nextCursor: Type.Optional(Type.String()),
    totalMessages: count,
  }),

  get_pending_actions: Type.Object({ actions: Type.Array(PendingActionView) }),
  resolve_pending_action: Type.Object({ details: ResolveDetails, text: Type.String() }),
  revise_pending_action: Type.Object({ action: PendingActionView }),
  /** `left`: the hunks that found their lines no more. */
  rebase_pending_action: Type.Object({
    action: PendingActionView,
    left: Type.Array(Type.Object({ path: Type.String(), hunks: Type.Array(Type.Integer()) })),
  }),
  get_diff: DiffPage,
  undo: undone,
  redo: undone,
  get_changes: Type.Object({ changes: Type.Array(Change) }),
} satisfies Record<RpcCommandType, TSchema | undefined>;

export type RpcData = { [C in RpcCommandType]: DataOf<(typeof RpcData)[C]> };

type DataOf<Data> = Data extends TSchema ? Static<Data> : void;
