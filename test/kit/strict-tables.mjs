// What a strict host accepts, member by member. Written by hand and kept apart from the schemas on purpose: a schema that
// says something else than hosts rely on is exactly what this has to notice.

import {
  anything,
  count,
  either,
  flag,
  integer,
  list,
  members,
  nothing,
  number,
  oneOf,
  record,
  tagged,
  text,
} from "./shapes.mjs";
import {
  assistant,
  change,
  compactionResult,
  decider,
  fileType,
  input,
  integerOrNull,
  message,
  model,
  numberOrNull,
  outcome,
  pendingAction,
  pendingView,
  requestId,
  resolveDetails,
  stampFields,
  textOrNull,
  texts,
  thinkingLevel,
  todoPhases,
  todoStatus,
  toolCall,
  toolResultMessage,
} from "./strict-shapes.mjs";

const result = members({
  content: list(input),
  "details?": anything,
  "isError?": flag,
  "isWarning?": flag,
  "terminate?": flag,
});
const call = { toolCallId: text, toolName: text };
const compaction = oneOf("context-full", "handoff");
const block = { contentIndex: count, partial: assistant };

/** `start`, `done` and `error` belong to the union that hosts know, but travel as message_start and message_end. */
const assistantEvent = tagged("type", {
  start: { partial: assistant },
  text_start: block,
  text_delta: { ...block, delta: text },
  text_end: { ...block, content: text },
  thinking_start: block,
  thinking_delta: { ...block, delta: text },
  thinking_end: { ...block, content: text },
  toolcall_start: block,
  toolcall_delta: { ...block, delta: text },
  toolcall_end: { ...block, toolCall, "complete?": oneOf(false) },
  done: { reason: oneOf("stop", "length", "toolUse"), message: assistant },
  error: { reason: oneOf("aborted", "error"), error: assistant },
});

const title = { title: text };
const timeout = { "timeout?": integer };
const dialog = tagged("method", {
  select: { ...title, options: texts, ...timeout, "optionDetails?": list(members({ "description?": text })) },
  confirm: { ...title, message: text, ...timeout },
  input: { ...title, "placeholder?": text, ...timeout },
  editor: { ...title, "prefill?": text, "promptStyle?": flag, ...timeout },
  cancel: { targetId: text },
  notify: { message: text, "notifyType?": oneOf("info", "warning", "error") },
  setStatus: { statusKey: text, "statusText?": text },
  setWidget: { widgetKey: text, "widgetLines?": texts, "widgetPlacement?": oneOf("aboveEditor", "belowEditor") },
  setTitle: title,
  set_editor_text: { text },
});

const queueMode = oneOf("all", "one-at-a-time");
const contextUsage = members({
  tokens: numberOrNull,
  contextWindow: number,
  percent: numberOrNull,
  "compactionSkipped?": text,
});
const access = oneOf("read-only", "stage", "workspace", "full", "custom");
const sandbox = members({
  mode: oneOf("workspace", "read-only", "off"),
  mechanism: text,
  network: oneOf("off", "hosts", "on"),
  stage: members({ mechanism: oneOf("overlay", "copy", "none"), "reason?": text }),
  "reason?": text,
});
const state = members({
  isStreaming: flag,
  isCompacting: flag,
  steeringMode: queueMode,
  followUpMode: queueMode,
  interruptMode: oneOf("immediate", "wait"),
  sessionId: text,
  autoCompactionEnabled: flag,
  messageCount: count,
  queuedMessageCount: count,
  todoPhases,
  systemPrompt: text,
  dumpTools: list(members({ name: text, description: text, parameters: record })),
  pendingMessageCount: count,
  autoRetryEnabled: flag,
  isRetrying: flag,
  pendingActionCount: count,
  "access?": access,
  "sandbox?": sandbox,
  "model?": model,
  thinkingLevel,
  "sessionFile?": text,
  "sessionName?": text,
  "contextUsage?": contextUsage,
  "persistError?": text,
  "lockKind?": oneOf("none", "held"),
  "readOnlyReason?": text,
  "isSettled?": flag,
});
const totals = { input: number, output: number, cacheRead: number, cacheWrite: number, total: number };
const budget = members({
  "maxCost?": number,
  "maxTurns?": count,
  "maxTokens?": count,
  used: members({ cost: number, turns: count, tokens: number }),
});
const stats = members({
  sessionId: text,
  userMessages: count,
  assistantMessages: count,
  toolCalls: count,
  toolResults: count,
  totalMessages: count,
  tokens: members(totals),
  premiumRequests: number,
  cost: number,
  "sessionFile?": text,
  "contextUsage?": contextUsage,
  "compactions?": count,
  "byModel?": record,
  "budget?": budget,
});
const bashResult = members({
  output: text,
  cancelled: flag,
  truncated: flag,
  totalLines: count,
  totalBytes: count,
  outputLines: count,
  outputBytes: count,
  "exitCode?": integerOrNull,
  "artifactId?": text,
  "newCwd?": text,
  "fullOutputPath?": text,
  "pendingId?": text,
  "files?": list(
    members({
      path: text,
      kind: oneOf("modify", "create", "delete", "rename"),
      "type?": oneOf("symlink", "directory"),
      "added?": count,
      "removed?": count,
      "target?": text,
      "renamedFrom?": text,
      "protected?": oneOf(true),
    }),
  ),
  "notStaged?": list(members({ path: text, why: text })),
  "kept?": members({ files: count, bytes: count }),
  "view?": oneOf("overlay", "copy"),
});

const disposition = oneOf("started", "queued", "handled");
const diffHunk = members({
  number: integer,
  oldStart: count,
  oldLines: count,
  newStart: count,
  newLines: count,
  lines: texts,
  "continued?": oneOf(true),
});
const diffFile = members({
  path: text,
  kind: oneOf("modify", "create", "delete", "rename"),
  "to?": text,
  "type?": fileType,
  "oldType?": fileType,
  "target?": text,
  "oldTarget?": text,
  "protected?": oneOf(true),
  "renamedFrom?": text,
  "oldMode?": integer,
  "newMode?": integer,
  "binary?": oneOf(true),
  "oldSize?": count,
  "newSize?": count,
  "lossy?": oneOf(true),
  "gone?": oneOf(true),
  hunks: list(diffHunk),
});

const cancelled = members({ cancelled: flag });
const branched = members({ text, cancelled: flag });
const branchPoints = members({ messages: list(members({ entryId: text, text, "onPath?": flag })) });
const messages = { messages: list(message) };
const undone = either(members({ action: pendingAction }), members({ details: resolveDetails, text, change }));
const leafId = textOrNull;
const entry = (value, path) =>
  members({ type: text, id: text, parentId: textOrNull, timestamp: text })(value, path, []);
const tree = (value, path, unlisted) => members({ entry, children: list(tree), "label?": text })(value, path, unlisted);

/** What a success carries. Undefined: no `data` at all. */
export const dataByCommand = {
  negotiate_protocol: members({ protocolVersion: integer, features: texts }),
  prompt: members({ disposition, "agentInvoked?": oneOf(false) }),
  steer: members({ disposition }),
  follow_up: members({ disposition }),
  abort: undefined,
  abort_and_prompt: undefined,
  new_session: cancelled,
  get_state: state,
  set_todos: members({ todoPhases }),
  set_host_tools: members({ toolNames: texts }),
  set_event_filter: members({ events: either(texts, nothing) }),
  get_commands: members({
    commands: list(
      members({ name: text, "description?": text, source: oneOf("extension", "prompt", "skill"), sourceInfo: record }),
    ),
  }),
  get_available_commands: members({ commands: list(members({ name: text, "description?": text, source: text })) }),
  set_model: model,
  cycle_model: either(members({ model, thinkingLevel, isScoped: flag }), nothing),
  get_available_models: members({ models: list(model) }),
  set_thinking_level: undefined,
  cycle_thinking_level: either(members({ level: thinkingLevel }), nothing),
  get_available_thinking_levels: members({ levels: list(thinkingLevel) }),
  set_steering_mode: undefined,
  set_follow_up_mode: undefined,
  set_interrupt_mode: undefined,
  compact: compactionResult,
  set_auto_compaction: undefined,
  set_auto_retry: undefined,
  abort_retry: undefined,
  set_budget: budget,
  set_access: members({ access, staging: oneOf("off", "auto", "all"), sandbox }),
  bash: bashResult,
  abort_bash: undefined,
  get_session_stats: stats,
  export_html: members({ path: text }),
  switch_session: members({ cancelled: flag, "readOnlyReason?": text }),
  branch: branched,
  fork: branched,
  clone: cancelled,
  get_branch_messages: branchPoints,
  get_fork_messages: branchPoints,
  get_entries: members({ entries: list(entry), leafId }),
  get_tree: members({ tree: list(tree), leafId }),
  get_last_assistant_text: members({ text: textOrNull }),
  set_session_name: undefined,
  get_messages: members(messages),
  get_messages_page: members({ ...messages, "nextCursor?": text, totalMessages: count }),
  get_pending_actions: members({ actions: list(pendingView) }),
  resolve_pending_action: members({ details: resolveDetails, text }),
  get_diff: members({ "revision?": integer, files: list(diffFile), "git?": text, "nextCursor?": text }),
  revise_pending_action: members({ action: pendingView }),
  rebase_pending_action: members({
    action: pendingView,
    left: list(members({ path: text, hunks: list(integer) })),
  }),
  undo: undone,
  redo: undone,
  get_changes: members({ changes: list(change) }),
};

/** Every frame but `response`, by its type. */
export const frames = {
  ready: {
    version: text,
    protocolVersion: oneOf(1),
    supportedProtocolVersions: list(integer),
    maxFrameBytes: oneOf(1_048_576),
    maxReassembledFrameBytes: oneOf(67_108_864),
    features: texts,
  },
  agent_start: {},
  agent_end: {
    ...messages,
    isTerminal: flag,
    "willRetry?": flag,
    "continueReason?": oneOf("retry", "overflow", "ttsr", "todo", "auto_continue", "queued"),
  },
  turn_start: {},
  turn_end: { message: assistant, toolResults: list(toolResultMessage) },
  message_start: { message, "messageId?": text },
  message_update: { message: assistant, assistantMessageEvent: assistantEvent, "messageId?": text },
  message_end: { message, "messageId?": text },
  tool_execution_start: { ...call, args: anything, "intent?": text },
  tool_execution_update: { ...call, args: anything, partialResult: result },
  tool_execution_end: { ...call, result, isError: flag, "isWarning?": flag },
  auto_compaction_start: { reason: oneOf("threshold", "overflow", "idle"), action: compaction },
  auto_compaction_end: {
    action: compaction,
    aborted: flag,
    willRetry: flag,
    "result?": compactionResult,
    "errorMessage?": text,
    "skipped?": flag,
  },
  compaction_start: { reason: oneOf("manual") },
  compaction_end: { reason: oneOf("manual"), aborted: flag, willRetry: oneOf(false), errorMessage: text },
  auto_retry_start: { attempt: integer, maxAttempts: integer, delayMs: number, errorMessage: text },
  auto_retry_end: { success: flag, attempt: integer, "finalError?": text },
  retry_fallback_applied: { from: text, to: text, role: text },
  retry_fallback_succeeded: { model: text, role: text },
  session_moved: { from: text, to: text, reason: text },
  budget_exceeded: { kind: oneOf("cost", "turns", "tokens"), limit: number, used: number },
  ttsr_triggered: {
    rules: list(
      members({
        name: text,
        path: text,
        "content?": text,
        "condition?": texts,
        "scope?": texts,
        "_source?": anything,
      }),
    ),
  },
  todo_reminder: {
    todos: list(members({ id: text, content: text, status: todoStatus })),
    attempt: integer,
    maxAttempts: integer,
  },
  todo_auto_clear: {},
  queue_update: { steering: texts, followUp: texts },
  agent_settled: {},
  pending_action_added: { action: pendingAction },
  pending_action_changed: {
    id: text,
    status: oneOf("pending", "applying", "stale"),
    revision: integer,
    "files?": list(members(stampFields)),
  },
  pending_action_resolved: {
    id: text,
    label: text,
    sourceToolName: text,
    outcome,
    by: decider,
    reason: text,
    "error?": text,
  },
  pending_action_stalled: { ids: texts },
  extension_error: { extensionPath: text, event: text, error: text },
  host_tool_call: { id: text, toolCallId: text, toolName: text, arguments: record },
  host_tool_cancel: { id: text, targetId: text },
  prompt_result: {
    "id?": requestId,
    agentInvoked: flag,
    status: oneOf("completed", "aborted", "error"),
    "error?": members({
      message: text,
      retryable: flag,
      "provider?": text,
      "model?": text,
      "httpStatus?": integer,
    }),
    sessionSettled: flag,
  },
  session_settled: {},
  thinking_level_changed: { level: thinkingLevel },
  session_info_changed: { "name?": text },
  available_commands_update: { commands: list(members({ name: text, "description?": text, source: text })) },
  rpc_chunk: { chunkId: text, index: count, count, byteLength: count, data: text },
  rpc_frame_error: { originalType: text, error: text },
};

/** A dialog's members hang on its method, so its own tag is looked at apart. */
export const uiRequest = (value, path, unlisted) => {
  const { type: _type, id, ...rest } = value;
  return text(id, `${path}.id`) ?? dialog(rest, path, unlisted);
};

/** Frames that exist only after a host asked for their feature. */
export const featureOfFrame = {
  queue_update: "queue-events",
  prompt_result: "prompt-result",
  session_settled: "prompt-result",
  thinking_level_changed: "state-events",
  session_info_changed: "state-events",
};
