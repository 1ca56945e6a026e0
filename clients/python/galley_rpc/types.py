"""Every shape that crosses the pipe. Written by generate.py from the schema; not to be edited."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Tuple, TypedDict, Union

COMMAND_TYPES: Tuple[str, ...] = (
    "negotiate_protocol",
    "prompt",
    "steer",
    "follow_up",
    "abort",
    "abort_and_prompt",
    "new_session",
    "get_state",
    "set_todos",
    "set_host_tools",
    "set_event_filter",
    "get_commands",
    "get_available_commands",
    "set_model",
    "cycle_model",
    "get_available_models",
    "set_thinking_level",
    "cycle_thinking_level",
    "get_available_thinking_levels",
    "set_steering_mode",
    "set_follow_up_mode",
    "set_interrupt_mode",
    "compact",
    "set_auto_compaction",
    "set_auto_retry",
    "abort_retry",
    "set_budget",
    "set_access",
    "bash",
    "abort_bash",
    "get_session_stats",
    "export_html",
    "switch_session",
    "branch",
    "fork",
    "clone",
    "get_branch_messages",
    "get_fork_messages",
    "get_entries",
    "get_tree",
    "get_last_assistant_text",
    "set_session_name",
    "get_messages",
    "get_messages_page",
    "get_pending_actions",
    "resolve_pending_action",
    "revise_pending_action",
    "rebase_pending_action",
    "get_diff",
    "undo",
    "redo",
    "get_changes",
)

EVENT_TYPES: Tuple[str, ...] = (
    "agent_end",
    "agent_settled",
    "agent_start",
    "auto_compaction_end",
    "auto_compaction_start",
    "auto_retry_end",
    "auto_retry_start",
    "available_commands_update",
    "budget_exceeded",
    "compaction_end",
    "compaction_start",
    "extension_error",
    "extension_ui_request",
    "host_tool_call",
    "host_tool_cancel",
    "message_end",
    "message_start",
    "message_update",
    "pending_action_added",
    "pending_action_changed",
    "pending_action_resolved",
    "pending_action_stalled",
    "prompt_result",
    "queue_update",
    "retry_fallback_applied",
    "retry_fallback_succeeded",
    "rpc_frame_error",
    "session_info_changed",
    "session_moved",
    "session_settled",
    "thinking_level_changed",
    "todo_auto_clear",
    "todo_reminder",
    "tool_execution_end",
    "tool_execution_start",
    "tool_execution_update",
    "ttsr_triggered",
    "turn_end",
    "turn_start",
)


class _AbortAndPromptCommandRequired(TypedDict):
    type: Literal["abort_and_prompt"]
    message: str


class AbortAndPromptCommand(_AbortAndPromptCommandRequired, total=False):
    id: "RequestId"
    images: List["ImageContent"]


class _AbortBashCommandRequired(TypedDict):
    type: Literal["abort_bash"]


class AbortBashCommand(_AbortBashCommandRequired, total=False):
    id: "RequestId"


class _AbortCommandRequired(TypedDict):
    type: Literal["abort"]


class AbortCommand(_AbortCommandRequired, total=False):
    id: "RequestId"


class _AbortRetryCommandRequired(TypedDict):
    type: Literal["abort_retry"]


class AbortRetryCommand(_AbortRetryCommandRequired, total=False):
    id: "RequestId"


AccessMode = Literal["read-only", "stage", "workspace", "full"]


AccessName = Union[Literal["custom"], "AccessMode"]


class AccessState(TypedDict):
    access: "AccessName"
    staging: Literal["off", "auto", "all"]
    sandbox: "SandboxState"


class ActionBelow(TypedDict):
    id: str
    files: List[str]


AgentEvent = Union["AgentStartEvent", "AgentEndEvent", "TurnStartEvent", "TurnEndEvent", "MessageStartEvent", "MessageUpdateEvent", "MessageEndEvent", "ToolExecutionStartEvent", "ToolExecutionUpdateEvent", "ToolExecutionEndEvent"]


class AgentStartEvent(TypedDict):
    type: Literal["agent_start"]


class _AgentEndEventRequired(TypedDict):
    type: Literal["agent_end"]
    messages: List["AgentMessage"]
    isTerminal: bool


class AgentEndEvent(_AgentEndEventRequired, total=False):
    willRetry: bool
    continueReason: "ContinueReason"


class TurnStartEvent(TypedDict):
    type: Literal["turn_start"]


class TurnEndEvent(TypedDict):
    type: Literal["turn_end"]
    message: "AssistantMessage"
    toolResults: List["ToolResultMessage"]


class _MessageStartEventRequired(TypedDict):
    type: Literal["message_start"]
    message: "AgentMessage"


class MessageStartEvent(_MessageStartEventRequired, total=False):
    messageId: str


class _MessageUpdateEventRequired(TypedDict):
    type: Literal["message_update"]
    message: "AssistantMessage"
    assistantMessageEvent: "AssistantMessageEvent"


class MessageUpdateEvent(_MessageUpdateEventRequired, total=False):
    messageId: str


class _MessageEndEventRequired(TypedDict):
    type: Literal["message_end"]
    message: "AgentMessage"


class MessageEndEvent(_MessageEndEventRequired, total=False):
    messageId: str


class _ToolExecutionStartEventRequired(TypedDict):
    type: Literal["tool_execution_start"]
    toolCallId: str
    toolName: str
    args: Any


class ToolExecutionStartEvent(_ToolExecutionStartEventRequired, total=False):
    intent: str


class ToolExecutionUpdateEvent(TypedDict):
    type: Literal["tool_execution_update"]
    toolCallId: str
    toolName: str
    args: Any
    partialResult: "ToolResult"


class _ToolExecutionEndEventRequired(TypedDict):
    type: Literal["tool_execution_end"]
    toolCallId: str
    toolName: str
    result: "ToolResult"
    isError: bool


class ToolExecutionEndEvent(_ToolExecutionEndEventRequired, total=False):
    isWarning: bool


AgentMessage = Union["UserMessage", "DeveloperMessage", "AssistantMessage", "ToolResultMessage", "BashExecutionMessage", "PythonExecutionMessage", "CustomMessage", "HookMessage", "CompactionSummaryMessage", "BranchSummaryMessage", "FileMentionMessage"]


AgentSessionEvent = Union["AgentEvent", "SessionEvent"]


AssistantContent = Union["TextContent", "ThinkingContent", "RedactedThinkingContent", "ToolCall"]


class _AssistantMessageRequired(TypedDict):
    role: Literal["assistant"]
    content: List["AssistantContent"]
    api: str
    provider: str
    model: str
    usage: "Usage"
    stopReason: "StopReason"
    timestamp: float


class AssistantMessage(_AssistantMessageRequired, total=False):
    errorMessage: str
    error: "ProviderFailure"
    responseId: str
    duration: float
    ttft: float
    providerPayload: Any


AssistantMessageEvent = Union["AssistantStart", "AssistantTextStart", "AssistantTextDelta", "AssistantTextEnd", "AssistantThinkingStart", "AssistantThinkingDelta", "AssistantThinkingEnd", "AssistantToolcallStart", "AssistantToolcallDelta", "AssistantToolcallEnd", "AssistantDone", "AssistantError"]


class AssistantStart(TypedDict):
    type: Literal["start"]
    partial: "AssistantMessage"


class AssistantTextStart(TypedDict):
    type: Literal["text_start"]
    contentIndex: int
    partial: "AssistantMessage"


class AssistantTextDelta(TypedDict):
    type: Literal["text_delta"]
    contentIndex: int
    partial: "AssistantMessage"
    delta: str


class AssistantTextEnd(TypedDict):
    type: Literal["text_end"]
    contentIndex: int
    partial: "AssistantMessage"
    content: str


class AssistantThinkingStart(TypedDict):
    type: Literal["thinking_start"]
    contentIndex: int
    partial: "AssistantMessage"


class AssistantThinkingDelta(TypedDict):
    type: Literal["thinking_delta"]
    contentIndex: int
    partial: "AssistantMessage"
    delta: str


class AssistantThinkingEnd(TypedDict):
    type: Literal["thinking_end"]
    contentIndex: int
    partial: "AssistantMessage"
    content: str


class AssistantToolcallStart(TypedDict):
    type: Literal["toolcall_start"]
    contentIndex: int
    partial: "AssistantMessage"


class AssistantToolcallDelta(TypedDict):
    type: Literal["toolcall_delta"]
    contentIndex: int
    partial: "AssistantMessage"
    delta: str


class _AssistantToolcallEndRequired(TypedDict):
    type: Literal["toolcall_end"]
    contentIndex: int
    partial: "AssistantMessage"
    toolCall: "ToolCall"


class AssistantToolcallEnd(_AssistantToolcallEndRequired, total=False):
    complete: Literal[False]


class AssistantDone(TypedDict):
    type: Literal["done"]
    reason: Literal["stop", "length", "toolUse"]
    message: "AssistantMessage"


class AssistantError(TypedDict):
    type: Literal["error"]
    reason: Literal["aborted", "error"]
    error: "AssistantMessage"


class _AvailableCommandRequired(TypedDict):
    name: str
    source: str


class AvailableCommand(_AvailableCommandRequired, total=False):
    description: str


class AvailableCommandsUpdate(TypedDict):
    type: Literal["available_commands_update"]
    commands: List["AvailableCommand"]


class _BashCommandRequired(TypedDict):
    type: Literal["bash"]
    command: str


class BashCommand(_BashCommandRequired, total=False):
    id: "RequestId"
    excludeFromContext: bool
    stage: bool
    unsandboxed: bool


class _BashExecutionMessageRequired(TypedDict):
    role: Literal["bashExecution"]
    command: str
    output: str
    cancelled: bool
    truncated: bool
    timestamp: float


class BashExecutionMessage(_BashExecutionMessageRequired, total=False):
    exitCode: int
    meta: Any
    excludeFromContext: bool


class _BashResultRequired(TypedDict):
    output: str
    cancelled: bool
    truncated: bool
    totalLines: int
    totalBytes: int
    outputLines: int
    outputBytes: int


class BashResult(_BashResultRequired, total=False):
    exitCode: int
    artifactId: str
    newCwd: str
    fullOutputPath: str
    pendingId: str
    files: List["BashResultFilesItem"]
    notStaged: List["BashResultNotStagedItem"]
    kept: "BashResultKept"
    view: Literal["overlay", "copy"]


class _BashResultFilesItemRequired(TypedDict):
    path: str
    kind: "FileChangeKind"


class BashResultFilesItem(_BashResultFilesItemRequired, total=False):
    type: Literal["symlink", "directory"]
    added: int
    removed: int
    target: str
    renamedFrom: str
    protected: Literal[True]


class BashResultNotStagedItem(TypedDict):
    path: str
    why: str


class BashResultKept(TypedDict):
    files: int
    bytes: int


class _BranchCommandRequired(TypedDict):
    type: Literal["branch"]
    entryId: str


class BranchCommand(_BranchCommandRequired, total=False):
    id: "RequestId"


class _BranchSummaryEntryRequired(TypedDict):
    type: Literal["branch_summary"]
    id: str
    parentId: Union[str, None]
    timestamp: str
    fromId: str
    summary: str


class BranchSummaryEntry(_BranchSummaryEntryRequired, total=False):
    details: Any
    fromExtension: bool


class BranchSummaryMessage(TypedDict):
    role: Literal["branchSummary"]
    summary: str
    fromId: str
    timestamp: float


class _BudgetStateRequired(TypedDict):
    used: "BudgetStateUsed"


class BudgetState(_BudgetStateRequired, total=False):
    maxCost: float
    maxTurns: int
    maxTokens: int


class BudgetStateUsed(TypedDict):
    cost: float
    turns: int
    tokens: float


class _ChangeRequired(TypedDict):
    id: str
    label: str
    sourceToolName: str
    by: "Decider"
    reason: str
    at: float
    files: List["ChangeFilesItem"]
    state: Literal["applied", "undone"]
    undoable: bool


class Change(_ChangeRequired, total=False):
    pendingId: str
    git: str


class _ChangeFilesItemRequired(TypedDict):
    path: str
    kind: "FileChangeKind"


class ChangeFilesItem(_ChangeFilesItemRequired, total=False):
    type: "FileType"
    isGitData: Literal[True]
    added: int
    removed: int
    diff: str


class _CloneCommandRequired(TypedDict):
    type: Literal["clone"]


class CloneCommand(_CloneCommandRequired, total=False):
    id: "RequestId"


class _CompactCommandRequired(TypedDict):
    type: Literal["compact"]


class CompactCommand(_CompactCommandRequired, total=False):
    id: "RequestId"
    customInstructions: str


class _CompactionEntryRequired(TypedDict):
    type: Literal["compaction"]
    id: str
    parentId: Union[str, None]
    timestamp: str
    summary: str
    firstKeptEntryId: str
    tokensBefore: float


class CompactionEntry(_CompactionEntryRequired, total=False):
    shortSummary: str
    details: Any
    preserveData: Any
    fromExtension: bool
    fromHook: bool


class _CompactionResultRequired(TypedDict):
    summary: str
    firstKeptEntryId: str
    tokensBefore: float


class CompactionResult(_CompactionResultRequired, total=False):
    shortSummary: str
    details: Any
    preserveData: Any
    fromExtension: bool


class _CompactionSummaryMessageRequired(TypedDict):
    role: Literal["compactionSummary"]
    summary: str
    tokensBefore: float
    timestamp: float


class CompactionSummaryMessage(_CompactionSummaryMessageRequired, total=False):
    shortSummary: str
    providerPayload: Any


class ContextChangeEntry(TypedDict):
    type: Literal["context_change"]
    id: str
    parentId: Union[str, None]
    timestamp: str
    contextName: str
    tenant: str
    namespace: str


class _ContextUsageRequired(TypedDict):
    tokens: Union[float, None]
    contextWindow: float
    percent: Union[float, None]


class ContextUsage(_ContextUsageRequired, total=False):
    compactionSkipped: str


ContinueReason = Literal["retry", "overflow", "ttsr", "todo", "auto_continue", "queued"]


class _CustomEntryRequired(TypedDict):
    type: Literal["custom"]
    id: str
    parentId: Union[str, None]
    timestamp: str
    customType: str


class CustomEntry(_CustomEntryRequired, total=False):
    data: Any


class _CustomMessageRequired(TypedDict):
    role: Literal["custom"]
    customType: str
    content: Union[str, List["InputContent"]]
    display: bool
    timestamp: float


class CustomMessage(_CustomMessageRequired, total=False):
    details: Any
    attribution: Literal["user", "agent"]


class _CustomMessageEntryRequired(TypedDict):
    type: Literal["custom_message"]
    id: str
    parentId: Union[str, None]
    timestamp: str
    customType: str
    content: Union[str, List["InputContent"]]
    display: bool


class CustomMessageEntry(_CustomMessageEntryRequired, total=False):
    details: Any
    attribution: Literal["user", "agent"]


class _CycleModelCommandRequired(TypedDict):
    type: Literal["cycle_model"]


class CycleModelCommand(_CycleModelCommandRequired, total=False):
    id: "RequestId"


class _CycleThinkingLevelCommandRequired(TypedDict):
    type: Literal["cycle_thinking_level"]


class CycleThinkingLevelCommand(_CycleThinkingLevelCommandRequired, total=False):
    id: "RequestId"


Decider = Literal["model", "user", "host", "runtime"]


class _DeveloperMessageRequired(TypedDict):
    role: Literal["developer"]
    content: Union[str, List["InputContent"]]
    timestamp: float


class DeveloperMessage(_DeveloperMessageRequired, total=False):
    attribution: Literal["user", "agent"]
    providerPayload: Any


Disposition = Literal["started", "queued", "handled"]


class EntryBase(TypedDict):
    type: str
    id: str
    parentId: Union[str, None]
    timestamp: str


class _EntryTreeRequired(TypedDict):
    entry: "EntryBase"
    children: List["EntryTree"]


class EntryTree(_EntryTreeRequired, total=False):
    label: str


class _ExportHtmlCommandRequired(TypedDict):
    type: Literal["export_html"]


class ExportHtmlCommand(_ExportHtmlCommandRequired, total=False):
    id: "RequestId"
    outputPath: str


class ExtensionError(TypedDict):
    type: Literal["extension_error"]
    extensionPath: str
    event: str
    error: str


ExtensionUiRequest = Union["SelectUiRequest", "ConfirmUiRequest", "InputUiRequest", "EditorUiRequest", "CancelUiRequest", "NotifyUiRequest", "SetStatusUiRequest", "SetWidgetUiRequest", "SetTitleUiRequest", "SetEditorTextUiRequest"]


class _SelectUiRequestRequired(TypedDict):
    type: Literal["extension_ui_request"]
    id: str
    method: Literal["select"]
    title: str
    options: List[str]


class SelectUiRequest(_SelectUiRequestRequired, total=False):
    timeout: int
    optionDetails: List["SelectUiRequestOptionDetailsItem"]


class SelectUiRequestOptionDetailsItem(TypedDict, total=False):
    description: str


class _ConfirmUiRequestRequired(TypedDict):
    type: Literal["extension_ui_request"]
    id: str
    method: Literal["confirm"]
    title: str
    message: str


class ConfirmUiRequest(_ConfirmUiRequestRequired, total=False):
    timeout: int


class _InputUiRequestRequired(TypedDict):
    type: Literal["extension_ui_request"]
    id: str
    method: Literal["input"]
    title: str


class InputUiRequest(_InputUiRequestRequired, total=False):
    placeholder: str
    timeout: int


class _EditorUiRequestRequired(TypedDict):
    type: Literal["extension_ui_request"]
    id: str
    method: Literal["editor"]
    title: str


class EditorUiRequest(_EditorUiRequestRequired, total=False):
    prefill: str
    promptStyle: bool


class CancelUiRequest(TypedDict):
    type: Literal["extension_ui_request"]
    id: str
    method: Literal["cancel"]
    targetId: str


class _NotifyUiRequestRequired(TypedDict):
    type: Literal["extension_ui_request"]
    id: str
    method: Literal["notify"]
    message: str


class NotifyUiRequest(_NotifyUiRequestRequired, total=False):
    notifyType: Literal["info", "warning", "error"]


class _SetStatusUiRequestRequired(TypedDict):
    type: Literal["extension_ui_request"]
    id: str
    method: Literal["setStatus"]
    statusKey: str


class SetStatusUiRequest(_SetStatusUiRequestRequired, total=False):
    statusText: str


class _SetWidgetUiRequestRequired(TypedDict):
    type: Literal["extension_ui_request"]
    id: str
    method: Literal["setWidget"]
    widgetKey: str


class SetWidgetUiRequest(_SetWidgetUiRequestRequired, total=False):
    widgetLines: List[str]
    widgetPlacement: Literal["aboveEditor", "belowEditor"]


class SetTitleUiRequest(TypedDict):
    type: Literal["extension_ui_request"]
    id: str
    method: Literal["setTitle"]
    title: str


class SetEditorTextUiRequest(TypedDict):
    type: Literal["extension_ui_request"]
    id: str
    method: Literal["set_editor_text"]
    text: str


ExtensionUiResponse = Union["ExtensionUiResponse1", "ExtensionUiResponse2", "ExtensionUiResponse3"]


class ExtensionUiResponse1(TypedDict):
    type: Literal["extension_ui_response"]
    id: str
    value: str


class ExtensionUiResponse2(TypedDict):
    type: Literal["extension_ui_response"]
    id: str
    confirmed: bool


class _ExtensionUiResponse3Required(TypedDict):
    type: Literal["extension_ui_response"]
    id: str
    cancelled: Literal[True]


class ExtensionUiResponse3(_ExtensionUiResponse3Required, total=False):
    timedOut: bool


FileChangeKind = Literal["modify", "create", "delete", "rename"]


class FileMentionMessage(TypedDict):
    role: Literal["fileMention"]
    files: List["FileMentionMessageFilesItem"]
    timestamp: float


class _FileMentionMessageFilesItemRequired(TypedDict):
    path: str
    content: str


class FileMentionMessageFilesItem(_FileMentionMessageFilesItemRequired, total=False):
    lineCount: int
    byteSize: int
    skippedReason: Literal["tooLarge"]
    image: "ImageContent"


class _FileStampRequired(TypedDict):
    path: str
    exists: bool
    size: int
    sha256: str
    mode: int


class FileStamp(_FileStampRequired, total=False):
    type: "FileType"


FileType = Literal["file", "symlink", "directory"]


class _FollowUpCommandRequired(TypedDict):
    type: Literal["follow_up"]
    message: str


class FollowUpCommand(_FollowUpCommandRequired, total=False):
    id: "RequestId"
    images: List["ImageContent"]


class _ForkCommandRequired(TypedDict):
    type: Literal["fork"]
    entryId: str


class ForkCommand(_ForkCommandRequired, total=False):
    id: "RequestId"


class _GetAvailableCommandsCommandRequired(TypedDict):
    type: Literal["get_available_commands"]


class GetAvailableCommandsCommand(_GetAvailableCommandsCommandRequired, total=False):
    id: "RequestId"


class _GetAvailableModelsCommandRequired(TypedDict):
    type: Literal["get_available_models"]


class GetAvailableModelsCommand(_GetAvailableModelsCommandRequired, total=False):
    id: "RequestId"


class _GetAvailableThinkingLevelsCommandRequired(TypedDict):
    type: Literal["get_available_thinking_levels"]


class GetAvailableThinkingLevelsCommand(_GetAvailableThinkingLevelsCommandRequired, total=False):
    id: "RequestId"


class _GetBranchMessagesCommandRequired(TypedDict):
    type: Literal["get_branch_messages"]


class GetBranchMessagesCommand(_GetBranchMessagesCommandRequired, total=False):
    id: "RequestId"


class _GetChangesCommandRequired(TypedDict):
    type: Literal["get_changes"]


class GetChangesCommand(_GetChangesCommandRequired, total=False):
    id: "RequestId"
    all: bool
    diff: bool
    limit: int


class _GetCommandsCommandRequired(TypedDict):
    type: Literal["get_commands"]


class GetCommandsCommand(_GetCommandsCommandRequired, total=False):
    id: "RequestId"


class _GetDiffCommandRequired(TypedDict):
    type: Literal["get_diff"]


class GetDiffCommand(_GetDiffCommandRequired, total=False):
    id: "RequestId"
    pendingId: str
    changeId: str
    paths: List[str]
    cursor: str
    context: int


class _GetEntriesCommandRequired(TypedDict):
    type: Literal["get_entries"]


class GetEntriesCommand(_GetEntriesCommandRequired, total=False):
    id: "RequestId"
    since: str


class _GetForkMessagesCommandRequired(TypedDict):
    type: Literal["get_fork_messages"]


class GetForkMessagesCommand(_GetForkMessagesCommandRequired, total=False):
    id: "RequestId"


class _GetLastAssistantTextCommandRequired(TypedDict):
    type: Literal["get_last_assistant_text"]


class GetLastAssistantTextCommand(_GetLastAssistantTextCommandRequired, total=False):
    id: "RequestId"


class _GetMessagesCommandRequired(TypedDict):
    type: Literal["get_messages"]


class GetMessagesCommand(_GetMessagesCommandRequired, total=False):
    id: "RequestId"


class _GetMessagesPageCommandRequired(TypedDict):
    type: Literal["get_messages_page"]


class GetMessagesPageCommand(_GetMessagesPageCommandRequired, total=False):
    id: "RequestId"
    cursor: str
    limit: float


class _GetPendingActionsCommandRequired(TypedDict):
    type: Literal["get_pending_actions"]


class GetPendingActionsCommand(_GetPendingActionsCommandRequired, total=False):
    id: "RequestId"
    ids: List[str]
    diff: bool
    check: bool


class _GetSessionStatsCommandRequired(TypedDict):
    type: Literal["get_session_stats"]


class GetSessionStatsCommand(_GetSessionStatsCommandRequired, total=False):
    id: "RequestId"


class _GetStateCommandRequired(TypedDict):
    type: Literal["get_state"]


class GetStateCommand(_GetStateCommandRequired, total=False):
    id: "RequestId"


class _GetTreeCommandRequired(TypedDict):
    type: Literal["get_tree"]


class GetTreeCommand(_GetTreeCommandRequired, total=False):
    id: "RequestId"


class _HookMessageRequired(TypedDict):
    role: Literal["hookMessage"]
    customType: str
    content: Union[str, List["InputContent"]]
    display: bool
    timestamp: float


class HookMessage(_HookMessageRequired, total=False):
    details: Any
    attribution: Literal["user", "agent"]


class HostToolCall(TypedDict):
    type: Literal["host_tool_call"]
    id: str
    toolCallId: str
    toolName: str
    arguments: Dict[str, Any]


class HostToolCancel(TypedDict):
    type: Literal["host_tool_cancel"]
    id: str
    targetId: str


class _HostToolDefinitionRequired(TypedDict):
    name: str
    description: str
    parameters: Dict[str, Any]


class HostToolDefinition(_HostToolDefinitionRequired, total=False):
    label: str
    hidden: bool
    timeoutMs: float


class _HostToolResultRequired(TypedDict):
    type: Literal["host_tool_result"]
    id: str
    result: "ToolResult"


class HostToolResult(_HostToolResultRequired, total=False):
    isError: bool


class HostToolUpdate(TypedDict):
    type: Literal["host_tool_update"]
    id: str
    partialResult: "ToolResult"


class ImageContent(TypedDict):
    type: Literal["image"]
    data: str
    mimeType: str


InputContent = Union["TextContent", "ImageContent"]


InterruptMode = Literal["immediate", "wait"]


class _LabelEntryRequired(TypedDict):
    type: Literal["label"]
    id: str
    parentId: Union[str, None]
    timestamp: str
    targetId: str


class LabelEntry(_LabelEntryRequired, total=False):
    label: str


class LeafEntry(TypedDict):
    type: Literal["leaf"]
    id: str
    parentId: Union[str, None]
    timestamp: str
    targetId: Union[str, None]


class McpToolSelectionEntry(TypedDict):
    type: Literal["mcp_tool_selection"]
    id: str
    parentId: Union[str, None]
    timestamp: str
    selectedToolNames: List[str]


class MessageEntry(TypedDict):
    type: Literal["message"]
    id: str
    parentId: Union[str, None]
    timestamp: str
    message: "AgentMessage"


class _ModeChangeEntryRequired(TypedDict):
    type: Literal["mode_change"]
    id: str
    parentId: Union[str, None]
    timestamp: str
    mode: str


class ModeChangeEntry(_ModeChangeEntryRequired, total=False):
    data: Any


class _ModelRequired(TypedDict):
    id: str
    name: str
    api: str
    provider: str
    baseUrl: str
    reasoning: bool
    input: List[Literal["text", "image"]]
    cost: "ModelCost"
    contextWindow: int
    maxTokens: int


class Model(_ModelRequired, total=False):
    thinking: "ModelThinking"
    premiumMultiplier: float
    preferWebsockets: bool
    contextPromotionTarget: str
    priority: float
    compat: Dict[str, Any]


class ModelThinking(TypedDict):
    minLevel: Literal["minimal", "low", "medium", "high", "xhigh"]
    maxLevel: Literal["minimal", "low", "medium", "high", "xhigh"]
    mode: Literal["effort", "budget", "google-level", "anthropic-adaptive", "anthropic-budget-effort"]


ModelChangeEntry = Union["ModelChangeEntry1", "ModelChangeEntry2"]


class _ModelChangeEntry1Required(TypedDict):
    type: Literal["model_change"]
    id: str
    parentId: Union[str, None]
    timestamp: str
    model: str


class ModelChangeEntry1(_ModelChangeEntry1Required, total=False):
    provider: str
    modelId: str
    role: str


class ModelChangeEntry2(TypedDict):
    type: Literal["model_change"]
    id: str
    parentId: Union[str, None]
    timestamp: str
    provider: str
    modelId: str


class ModelCost(TypedDict):
    input: float
    output: float
    cacheRead: float
    cacheWrite: float


class _NegotiateProtocolCommandRequired(TypedDict):
    type: Literal["negotiate_protocol"]
    protocolVersion: float


class NegotiateProtocolCommand(_NegotiateProtocolCommandRequired, total=False):
    id: "RequestId"
    features: List[str]


class _NewSessionCommandRequired(TypedDict):
    type: Literal["new_session"]


class NewSessionCommand(_NewSessionCommandRequired, total=False):
    id: "RequestId"
    parentSession: str


class _PendingActionRequired(TypedDict):
    id: str
    label: str
    sourceToolName: str
    kind: Literal["plan", "closure"]
    createdAt: float
    status: "PendingStatus"
    revision: int
    attempts: int


class PendingAction(_PendingActionRequired, total=False):
    toolCallId: str
    details: Any
    preview: "PendingActionPreview"
    expiresAt: float
    entryId: str
    lastError: str
    dependsOn: List[str]
    files: List["FileStamp"]


class PendingActionPreview(TypedDict, total=False):
    text: str
    diff: str


class _PendingActionViewRequired(TypedDict):
    id: str
    label: str
    sourceToolName: str
    kind: Literal["plan", "closure"]
    createdAt: float
    status: "PendingStatus"
    revision: int
    attempts: int


class PendingActionView(_PendingActionViewRequired, total=False):
    toolCallId: str
    details: Any
    preview: "PendingActionViewPreview"
    expiresAt: float
    entryId: str
    lastError: str
    dependsOn: List[str]
    files: List["PendingActionViewFilesItem"]
    diffTruncated: Literal[True]
    restsOn: List["ActionBelow"]
    git: str


class PendingActionViewPreview(TypedDict, total=False):
    text: str
    diff: str


class _PendingActionViewFilesItemRequired(TypedDict):
    path: str
    exists: bool
    size: int
    sha256: str
    mode: int


class PendingActionViewFilesItem(_PendingActionViewFilesItemRequired, total=False):
    type: "FileType"
    kind: "FileChangeKind"
    newType: "FileType"
    newMode: int
    target: str
    protected: Literal[True]
    renamedFrom: str
    isGitData: Literal[True]
    to: str
    added: int
    removed: int
    hunks: int
    diff: str
    stale: Literal[True]
    editedBy: "Decider"


PendingOutcome = Literal["applied", "discarded", "failed", "stale", "expired", "orphaned"]


PendingStatus = Literal["pending", "applying", "stale"]


class _PromptCommandRequired(TypedDict):
    type: Literal["prompt"]
    message: str


class PromptCommand(_PromptCommandRequired, total=False):
    id: "RequestId"
    images: List["ImageContent"]
    streamingBehavior: Literal["steer", "followUp"]


class _PromptResultRequired(TypedDict):
    type: Literal["prompt_result"]
    agentInvoked: bool
    status: Literal["completed", "aborted", "error"]
    sessionSettled: bool


class PromptResult(_PromptResultRequired, total=False):
    id: "RequestId"
    error: "PromptResultError"


class _PromptResultErrorRequired(TypedDict):
    message: str
    retryable: bool


class PromptResultError(_PromptResultErrorRequired, total=False):
    provider: str
    model: str
    httpStatus: int


class _ProviderFailureRequired(TypedDict):
    kind: Literal["rate_limit", "overloaded", "server", "network", "usage_limit", "auth", "invalid_request", "refusal", "content_filter", "overflow", "limit", "unknown"]


class ProviderFailure(_ProviderFailureRequired, total=False):
    status: int
    code: str
    retryAfterMs: float


class PruneEntry(TypedDict):
    type: Literal["prune"]
    id: str
    parentId: Union[str, None]
    timestamp: str
    entryIds: List[str]


class _PythonExecutionMessageRequired(TypedDict):
    role: Literal["pythonExecution"]
    code: str
    output: str
    cancelled: bool
    truncated: bool
    timestamp: float


class PythonExecutionMessage(_PythonExecutionMessageRequired, total=False):
    exitCode: int
    meta: Any
    excludeFromContext: bool


QueueMode = Literal["all", "one-at-a-time"]


class ReadyFrame(TypedDict):
    type: Literal["ready"]
    version: str
    protocolVersion: int
    supportedProtocolVersions: List[int]
    maxFrameBytes: int
    maxReassembledFrameBytes: int
    features: List[str]


class _RebasePendingActionCommandRequired(TypedDict):
    type: Literal["rebase_pending_action"]
    pendingId: str


class RebasePendingActionCommand(_RebasePendingActionCommandRequired, total=False):
    id: "RequestId"
    revision: int
    partial: bool


class RedactedThinkingContent(TypedDict):
    type: Literal["redactedThinking"]
    data: str


class _RedoCommandRequired(TypedDict):
    type: Literal["redo"]


class RedoCommand(_RedoCommandRequired, total=False):
    id: "RequestId"
    apply: bool


RequestId = Union[str, int]


ResolveDetails = Union["ResolveDetails1", "ResolveDetails2"]


class _ResolveDetails1Required(TypedDict):
    action: Literal["apply", "discard"]
    reason: str
    sourceToolName: str
    label: str
    id: str
    remaining: int


class ResolveDetails1(_ResolveDetails1Required, total=False):
    extra: Dict[str, Any]
    sourceDetails: Any
    sourceResultDetails: Any
    partial: Literal[True]
    settled: List["ResolveDetails1SettledItem"]


class _ResolveDetails1SettledItemRequired(TypedDict):
    path: str


class ResolveDetails1SettledItem(_ResolveDetails1SettledItemRequired, total=False):
    hunks: List[int]


class ResolveDetails2(TypedDict):
    action: Literal["apply", "discard"]
    reason: str
    results: List["ResolveDetails2ResultsItem"]


class _ResolveDetails2ResultsItemRequired(TypedDict):
    id: str
    outcome: "PendingOutcome"
    label: str


class ResolveDetails2ResultsItem(_ResolveDetails2ResultsItemRequired, total=False):
    error: str
    changeId: str
    hardlinkBroken: List[str]


class _ResolvePendingActionCommandRequired(TypedDict):
    type: Literal["resolve_pending_action"]
    action: Literal["apply", "discard"]
    reason: str


class ResolvePendingActionCommand(_ResolvePendingActionCommandRequired, total=False):
    id: "RequestId"
    pendingId: str
    pendingIds: List[str]
    all: bool
    extra: Dict[str, Any]
    files: List[str]
    hunks: Dict[str, List[int]]
    withDeps: bool
    protected: bool
    revision: int


class _RevisePendingActionCommandRequired(TypedDict):
    type: Literal["revise_pending_action"]
    pendingId: str
    revision: int
    path: str
    hunk: int
    text: str


class RevisePendingActionCommand(_RevisePendingActionCommandRequired, total=False):
    id: "RequestId"


class RpcChunk(TypedDict):
    type: Literal["rpc_chunk"]
    chunkId: str
    index: int
    count: int
    byteLength: int
    data: str


RpcCommand = Union["NegotiateProtocolCommand", "PromptCommand", "SteerCommand", "FollowUpCommand", "AbortCommand", "AbortAndPromptCommand", "NewSessionCommand", "GetStateCommand", "SetTodosCommand", "SetHostToolsCommand", "SetEventFilterCommand", "GetCommandsCommand", "GetAvailableCommandsCommand", "SetModelCommand", "CycleModelCommand", "GetAvailableModelsCommand", "SetThinkingLevelCommand", "CycleThinkingLevelCommand", "GetAvailableThinkingLevelsCommand", "SetSteeringModeCommand", "SetFollowUpModeCommand", "SetInterruptModeCommand", "CompactCommand", "SetAutoCompactionCommand", "SetAutoRetryCommand", "AbortRetryCommand", "SetBudgetCommand", "SetAccessCommand", "BashCommand", "AbortBashCommand", "GetSessionStatsCommand", "ExportHtmlCommand", "SwitchSessionCommand", "BranchCommand", "ForkCommand", "CloneCommand", "GetBranchMessagesCommand", "GetForkMessagesCommand", "GetEntriesCommand", "GetTreeCommand", "GetLastAssistantTextCommand", "SetSessionNameCommand", "GetMessagesCommand", "GetMessagesPageCommand", "GetPendingActionsCommand", "ResolvePendingActionCommand", "RevisePendingActionCommand", "RebasePendingActionCommand", "GetDiffCommand", "UndoCommand", "RedoCommand", "GetChangesCommand"]


class _RpcFailureRequired(TypedDict):
    type: Literal["response"]
    command: str
    success: Literal[False]
    error: str


class RpcFailure(_RpcFailureRequired, total=False):
    id: "RequestId"
    code: str
    details: "RpcFailureDetails"
    requestId: "RequestId"
    requestCommand: str


class RpcFailureDetails(TypedDict):
    actions: List["RpcFailureDetailsActionsItem"]


class RpcFailureDetailsActionsItem(TypedDict):
    id: str
    label: str
    files: List[str]


class RpcFrameError(TypedDict):
    type: Literal["rpc_frame_error"]
    originalType: str
    error: str


class _SandboxStateRequired(TypedDict):
    mode: Literal["workspace", "read-only", "off"]
    mechanism: str
    network: Literal["off", "hosts", "on"]
    stage: "SandboxStateStage"


class SandboxState(_SandboxStateRequired, total=False):
    reason: str


class _SandboxStateStageRequired(TypedDict):
    mechanism: Literal["overlay", "copy", "none"]


class SandboxStateStage(_SandboxStateStageRequired, total=False):
    reason: str


class ServiceTierChangeEntry(TypedDict):
    type: Literal["service_tier_change"]
    id: str
    parentId: Union[str, None]
    timestamp: str
    serviceTier: Union[str, None]


SessionEntry = Union["MessageEntry", "ModelChangeEntry", "ThinkingLevelChangeEntry", "ServiceTierChangeEntry", "CompactionEntry", "BranchSummaryEntry", "CustomEntry", "CustomMessageEntry", "LabelEntry", "TtsrInjectionEntry", "McpToolSelectionEntry", "SessionInitEntry", "ModeChangeEntry", "ContextChangeEntry", "SessionInfoEntry", "LeafEntry", "PruneEntry"]


SessionEvent = Union["AutoCompactionStartEvent", "AutoCompactionEndEvent", "CompactionStartEvent", "CompactionEndEvent", "AutoRetryStartEvent", "AutoRetryEndEvent", "RetryFallbackAppliedEvent", "RetryFallbackSucceededEvent", "BudgetExceededEvent", "SessionMovedEvent", "TtsrTriggeredEvent", "TodoReminderEvent", "TodoAutoClearEvent", "QueueUpdateEvent", "AgentSettledEvent", "PendingActionAddedEvent", "PendingActionChangedEvent", "PendingActionResolvedEvent", "PendingActionStalledEvent"]


class AutoCompactionStartEvent(TypedDict):
    type: Literal["auto_compaction_start"]
    reason: Literal["threshold", "overflow", "idle"]
    action: Literal["context-full", "handoff"]


class _AutoCompactionEndEventRequired(TypedDict):
    type: Literal["auto_compaction_end"]
    action: Literal["context-full", "handoff"]
    aborted: bool
    willRetry: bool


class AutoCompactionEndEvent(_AutoCompactionEndEventRequired, total=False):
    result: "CompactionResult"
    errorMessage: str
    skipped: bool


class CompactionStartEvent(TypedDict):
    type: Literal["compaction_start"]
    reason: Literal["manual"]


class CompactionEndEvent(TypedDict):
    type: Literal["compaction_end"]
    reason: Literal["manual"]
    aborted: bool
    willRetry: Literal[False]
    errorMessage: str


class AutoRetryStartEvent(TypedDict):
    type: Literal["auto_retry_start"]
    attempt: int
    maxAttempts: int
    delayMs: float
    errorMessage: str


class _AutoRetryEndEventRequired(TypedDict):
    type: Literal["auto_retry_end"]
    success: bool
    attempt: int


class AutoRetryEndEvent(_AutoRetryEndEventRequired, total=False):
    finalError: str


RetryFallbackAppliedEvent = TypedDict("RetryFallbackAppliedEvent", {"type": Literal["retry_fallback_applied"], "from": str, "to": str, "role": str})


class RetryFallbackSucceededEvent(TypedDict):
    type: Literal["retry_fallback_succeeded"]
    model: str
    role: str


class BudgetExceededEvent(TypedDict):
    type: Literal["budget_exceeded"]
    kind: Literal["cost", "turns", "tokens"]
    limit: float
    used: float


SessionMovedEvent = TypedDict("SessionMovedEvent", {"type": Literal["session_moved"], "from": str, "to": str, "reason": str})


class TtsrTriggeredEvent(TypedDict):
    type: Literal["ttsr_triggered"]
    rules: List["TriggeredRule"]


class TodoReminderEvent(TypedDict):
    type: Literal["todo_reminder"]
    todos: List["TodoReminderEventTodosItem"]
    attempt: int
    maxAttempts: int


class TodoReminderEventTodosItem(TypedDict):
    id: str
    content: str
    status: "TodoStatus"


class TodoAutoClearEvent(TypedDict):
    type: Literal["todo_auto_clear"]


class QueueUpdateEvent(TypedDict):
    type: Literal["queue_update"]
    steering: List[str]
    followUp: List[str]


class AgentSettledEvent(TypedDict):
    type: Literal["agent_settled"]


class PendingActionAddedEvent(TypedDict):
    type: Literal["pending_action_added"]
    action: "PendingAction"


class _PendingActionChangedEventRequired(TypedDict):
    type: Literal["pending_action_changed"]
    id: str
    status: "PendingStatus"
    revision: int


class PendingActionChangedEvent(_PendingActionChangedEventRequired, total=False):
    files: List["FileStamp"]


class _PendingActionResolvedEventRequired(TypedDict):
    type: Literal["pending_action_resolved"]
    id: str
    label: str
    sourceToolName: str
    outcome: "PendingOutcome"
    by: "Decider"
    reason: str


class PendingActionResolvedEvent(_PendingActionResolvedEventRequired, total=False):
    error: str


class PendingActionStalledEvent(TypedDict):
    type: Literal["pending_action_stalled"]
    ids: List[str]


class _SessionHeaderRequired(TypedDict):
    type: Literal["session"]
    id: str
    timestamp: str
    cwd: str


class SessionHeader(_SessionHeaderRequired, total=False):
    version: int
    parentSession: str
    parentSessionId: str
    title: str
    titleSource: Literal["auto", "user"]


class _SessionInfoChangedRequired(TypedDict):
    type: Literal["session_info_changed"]


class SessionInfoChanged(_SessionInfoChangedRequired, total=False):
    name: str


class _SessionInfoEntryRequired(TypedDict):
    type: Literal["session_info"]
    id: str
    parentId: Union[str, None]
    timestamp: str
    name: str


class SessionInfoEntry(_SessionInfoEntryRequired, total=False):
    source: Literal["auto", "user"]


class _SessionInitEntryRequired(TypedDict):
    type: Literal["session_init"]
    id: str
    parentId: Union[str, None]
    timestamp: str
    systemPrompt: str
    task: str
    tools: List[str]


class SessionInitEntry(_SessionInitEntryRequired, total=False):
    outputSchema: Any


class SessionSettled(TypedDict):
    type: Literal["session_settled"]


class _SessionStateRequired(TypedDict):
    thinkingLevel: "ThinkingLevel"
    isStreaming: bool
    isCompacting: bool
    steeringMode: "QueueMode"
    followUpMode: "QueueMode"
    interruptMode: "InterruptMode"
    sessionId: str
    autoCompactionEnabled: bool
    messageCount: int
    queuedMessageCount: int
    todoPhases: List["TodoPhase"]


class SessionState(_SessionStateRequired, total=False):
    model: "Model"
    sessionFile: str
    sessionName: str
    systemPrompt: str
    dumpTools: List["SessionStateDumpToolsItem"]
    contextUsage: "ContextUsage"
    pendingMessageCount: int
    autoRetryEnabled: bool
    isRetrying: bool
    pendingActionCount: int
    access: "AccessName"
    sandbox: "SandboxState"
    persistError: str
    lockKind: Literal["none", "held"]
    readOnlyReason: str
    isSettled: bool


class SessionStateDumpToolsItem(TypedDict):
    name: str
    description: str
    parameters: Dict[str, Any]


class _SessionStatsRequired(TypedDict):
    sessionId: str
    userMessages: int
    assistantMessages: int
    toolCalls: int
    toolResults: int
    totalMessages: int
    tokens: "TokenTotals"
    premiumRequests: float
    cost: float


class SessionStats(_SessionStatsRequired, total=False):
    sessionFile: str
    contextUsage: "ContextUsage"
    compactions: int
    byModel: Dict[str, "SessionStatsByModelValue"]
    budget: "BudgetState"


class SessionStatsByModelValue(TypedDict):
    tokens: "TokenTotals"
    cost: float


class _SetAccessCommandRequired(TypedDict):
    type: Literal["set_access"]
    access: "AccessMode"


class SetAccessCommand(_SetAccessCommandRequired, total=False):
    id: "RequestId"


class _SetAutoCompactionCommandRequired(TypedDict):
    type: Literal["set_auto_compaction"]
    enabled: bool


class SetAutoCompactionCommand(_SetAutoCompactionCommandRequired, total=False):
    id: "RequestId"


class _SetAutoRetryCommandRequired(TypedDict):
    type: Literal["set_auto_retry"]
    enabled: bool


class SetAutoRetryCommand(_SetAutoRetryCommandRequired, total=False):
    id: "RequestId"


class _SetBudgetCommandRequired(TypedDict):
    type: Literal["set_budget"]


class SetBudgetCommand(_SetBudgetCommandRequired, total=False):
    id: "RequestId"
    maxCost: Union[float, None]
    maxTurns: Union[int, None]
    maxTokens: Union[int, None]


class _SetEventFilterCommandRequired(TypedDict):
    type: Literal["set_event_filter"]
    events: Union[List[str], None]


class SetEventFilterCommand(_SetEventFilterCommandRequired, total=False):
    id: "RequestId"


class _SetFollowUpModeCommandRequired(TypedDict):
    type: Literal["set_follow_up_mode"]
    mode: "QueueMode"


class SetFollowUpModeCommand(_SetFollowUpModeCommandRequired, total=False):
    id: "RequestId"


class _SetHostToolsCommandRequired(TypedDict):
    type: Literal["set_host_tools"]
    tools: List[Any]


class SetHostToolsCommand(_SetHostToolsCommandRequired, total=False):
    id: "RequestId"


class _SetInterruptModeCommandRequired(TypedDict):
    type: Literal["set_interrupt_mode"]
    mode: "InterruptMode"


class SetInterruptModeCommand(_SetInterruptModeCommandRequired, total=False):
    id: "RequestId"


class _SetModelCommandRequired(TypedDict):
    type: Literal["set_model"]
    provider: str
    modelId: str


class SetModelCommand(_SetModelCommandRequired, total=False):
    id: "RequestId"


class _SetSessionNameCommandRequired(TypedDict):
    type: Literal["set_session_name"]
    name: str


class SetSessionNameCommand(_SetSessionNameCommandRequired, total=False):
    id: "RequestId"


class _SetSteeringModeCommandRequired(TypedDict):
    type: Literal["set_steering_mode"]
    mode: "QueueMode"


class SetSteeringModeCommand(_SetSteeringModeCommandRequired, total=False):
    id: "RequestId"


class _SetThinkingLevelCommandRequired(TypedDict):
    type: Literal["set_thinking_level"]
    level: Union[Literal["max", "inherit"], "ThinkingLevel"]


class SetThinkingLevelCommand(_SetThinkingLevelCommandRequired, total=False):
    id: "RequestId"


class _SetTodosCommandRequired(TypedDict):
    type: Literal["set_todos"]
    phases: List["TodoPhaseInput"]


class SetTodosCommand(_SetTodosCommandRequired, total=False):
    id: "RequestId"


class _SlashCommandRequired(TypedDict):
    name: str
    source: Literal["extension", "prompt", "skill"]
    sourceInfo: Dict[str, Any]


class SlashCommand(_SlashCommandRequired, total=False):
    description: str


class _StagedEffectsRequired(TypedDict):
    files: List["StagedEffectsFilesItem"]
    notStaged: List["StagedEffectsNotStagedItem"]
    kept: "StagedEffectsKept"
    view: Literal["overlay", "copy"]


class StagedEffects(_StagedEffectsRequired, total=False):
    pendingId: str


class _StagedEffectsFilesItemRequired(TypedDict):
    path: str
    kind: "FileChangeKind"


class StagedEffectsFilesItem(_StagedEffectsFilesItemRequired, total=False):
    type: Literal["symlink", "directory"]
    added: int
    removed: int
    target: str
    renamedFrom: str
    protected: Literal[True]


class StagedEffectsNotStagedItem(TypedDict):
    path: str
    why: str


class StagedEffectsKept(TypedDict):
    files: int
    bytes: int


class _SteerCommandRequired(TypedDict):
    type: Literal["steer"]
    message: str


class SteerCommand(_SteerCommandRequired, total=False):
    id: "RequestId"
    images: List["ImageContent"]


StopReason = Literal["stop", "length", "toolUse", "error", "aborted"]


class _SwitchSessionCommandRequired(TypedDict):
    type: Literal["switch_session"]
    sessionPath: str


class SwitchSessionCommand(_SwitchSessionCommandRequired, total=False):
    id: "RequestId"


class _TextContentRequired(TypedDict):
    type: Literal["text"]
    text: str


class TextContent(_TextContentRequired, total=False):
    textSignature: str


class _ThinkingContentRequired(TypedDict):
    type: Literal["thinking"]
    thinking: str


class ThinkingContent(_ThinkingContentRequired, total=False):
    thinkingSignature: str


ThinkingLevel = Literal["off", "minimal", "low", "medium", "high", "xhigh"]


class ThinkingLevelChangeEntry(TypedDict):
    type: Literal["thinking_level_change"]
    id: str
    parentId: Union[str, None]
    timestamp: str
    thinkingLevel: Union[str, None]


class ThinkingLevelChanged(TypedDict):
    type: Literal["thinking_level_changed"]
    level: "ThinkingLevel"


class TodoPhase(TypedDict):
    id: str
    name: str
    tasks: List["TodoTask"]


class _TodoPhaseInputRequired(TypedDict):
    name: str


class TodoPhaseInput(_TodoPhaseInputRequired, total=False):
    id: str
    tasks: List["TodoPhaseInputTasksItem"]


class _TodoPhaseInputTasksItemRequired(TypedDict):
    content: str


class TodoPhaseInputTasksItem(_TodoPhaseInputTasksItemRequired, total=False):
    id: str
    status: "TodoStatus"
    notes: str
    details: str


TodoStatus = Literal["pending", "in_progress", "completed", "abandoned"]


class _TodoTaskRequired(TypedDict):
    id: str
    content: str
    status: "TodoStatus"


class TodoTask(_TodoTaskRequired, total=False):
    notes: str
    details: str


class TokenTotals(TypedDict):
    input: float
    output: float
    cacheRead: float
    cacheWrite: float
    total: float


class _ToolCallRequired(TypedDict):
    type: Literal["toolCall"]
    id: str
    name: str
    arguments: Dict[str, Any]


class ToolCall(_ToolCallRequired, total=False):
    thoughtSignature: str
    intent: str


class _ToolResultRequired(TypedDict):
    content: List["InputContent"]


class ToolResult(_ToolResultRequired, total=False):
    details: Any
    isError: bool
    isWarning: bool
    terminate: bool


class _ToolResultMessageRequired(TypedDict):
    role: Literal["toolResult"]
    toolCallId: str
    toolName: str
    content: List["InputContent"]
    isError: bool
    timestamp: float


class ToolResultMessage(_ToolResultMessageRequired, total=False):
    details: Any
    isWarning: bool
    attribution: Literal["user", "agent"]
    prunedAt: float


class _TriggeredRuleRequired(TypedDict):
    name: str
    path: str


class TriggeredRule(_TriggeredRuleRequired, total=False):
    content: str
    condition: List[str]
    scope: List[str]


class TtsrInjectionEntry(TypedDict):
    type: Literal["ttsr_injection"]
    id: str
    parentId: Union[str, None]
    timestamp: str
    injectedRules: List[str]


class _UndoCommandRequired(TypedDict):
    type: Literal["undo"]


class UndoCommand(_UndoCommandRequired, total=False):
    id: "RequestId"
    changeId: str
    apply: bool


class _UsageRequired(TypedDict):
    input: float
    output: float
    cacheRead: float
    cacheWrite: float
    totalTokens: float
    cost: "TokenTotals"


class Usage(_UsageRequired, total=False):
    reasoning: float
    premiumRequests: float


class _UserMessageRequired(TypedDict):
    role: Literal["user"]
    content: Union[str, List["InputContent"]]
    timestamp: float


class UserMessage(_UserMessageRequired, total=False):
    attribution: Literal["user", "agent"]
    synthetic: bool
    providerPayload: Any


class NegotiateProtocolData(TypedDict):
    protocolVersion: int
    features: List[str]


class _PromptDataRequired(TypedDict):
    disposition: "Disposition"


class PromptData(_PromptDataRequired, total=False):
    agentInvoked: Literal[False]


class SteerData(TypedDict):
    disposition: "Disposition"


class FollowUpData(TypedDict):
    disposition: "Disposition"


class NewSessionData(TypedDict):
    cancelled: bool


class SetTodosData(TypedDict):
    todoPhases: List["TodoPhase"]


class SetHostToolsData(TypedDict):
    toolNames: List[str]


class SetEventFilterData(TypedDict):
    events: Union[List[str], None]


class GetCommandsData(TypedDict):
    commands: List["SlashCommand"]


class GetAvailableCommandsData(TypedDict):
    commands: List["AvailableCommand"]


class CycleModelData1(TypedDict):
    model: "Model"
    thinkingLevel: "ThinkingLevel"
    isScoped: bool


class GetAvailableModelsData(TypedDict):
    models: List["Model"]


class CycleThinkingLevelData1(TypedDict):
    level: "ThinkingLevel"


class GetAvailableThinkingLevelsData(TypedDict):
    levels: List["ThinkingLevel"]


class ExportHtmlData(TypedDict):
    path: str


class _SwitchSessionDataRequired(TypedDict):
    cancelled: bool


class SwitchSessionData(_SwitchSessionDataRequired, total=False):
    readOnlyReason: str


class BranchData(TypedDict):
    text: str
    cancelled: bool


class ForkData(TypedDict):
    text: str
    cancelled: bool


class CloneData(TypedDict):
    cancelled: bool


class GetBranchMessagesData(TypedDict):
    messages: List["GetBranchMessagesDataMessagesItem"]


class _GetBranchMessagesDataMessagesItemRequired(TypedDict):
    entryId: str
    text: str


class GetBranchMessagesDataMessagesItem(_GetBranchMessagesDataMessagesItemRequired, total=False):
    onPath: bool


class GetForkMessagesData(TypedDict):
    messages: List["GetForkMessagesDataMessagesItem"]


class _GetForkMessagesDataMessagesItemRequired(TypedDict):
    entryId: str
    text: str


class GetForkMessagesDataMessagesItem(_GetForkMessagesDataMessagesItemRequired, total=False):
    onPath: bool


class GetEntriesData(TypedDict):
    entries: List["EntryBase"]
    leafId: Union[str, None]


class GetTreeData(TypedDict):
    tree: List["EntryTree"]
    leafId: Union[str, None]


class GetLastAssistantTextData(TypedDict, total=False):
    text: Union[str, None]


class GetMessagesData(TypedDict):
    messages: List["AgentMessage"]


class _GetMessagesPageDataRequired(TypedDict):
    messages: List["AgentMessage"]
    totalMessages: int


class GetMessagesPageData(_GetMessagesPageDataRequired, total=False):
    nextCursor: str


class GetPendingActionsData(TypedDict):
    actions: List["PendingActionView"]


class ResolvePendingActionData(TypedDict):
    details: "ResolveDetails"
    text: str


class RevisePendingActionData(TypedDict):
    action: "PendingActionView"


class RebasePendingActionData(TypedDict):
    action: "PendingActionView"
    left: List["RebasePendingActionDataLeftItem"]


class RebasePendingActionDataLeftItem(TypedDict):
    path: str
    hunks: List[int]


class _GetDiffDataRequired(TypedDict):
    files: List["GetDiffDataFilesItem"]


class GetDiffData(_GetDiffDataRequired, total=False):
    revision: int
    git: str
    nextCursor: str


class _GetDiffDataFilesItemRequired(TypedDict):
    path: str
    kind: "FileChangeKind"
    hunks: List["GetDiffDataFilesItemHunksItem"]


class GetDiffDataFilesItem(_GetDiffDataFilesItemRequired, total=False):
    to: str
    type: "FileType"
    oldType: "FileType"
    target: str
    oldTarget: str
    protected: Literal[True]
    renamedFrom: str
    oldMode: int
    newMode: int
    binary: Literal[True]
    oldSize: int
    newSize: int
    lossy: Literal[True]
    gone: Literal[True]


class _GetDiffDataFilesItemHunksItemRequired(TypedDict):
    number: int
    oldStart: int
    oldLines: int
    newStart: int
    newLines: int
    lines: List[str]


class GetDiffDataFilesItemHunksItem(_GetDiffDataFilesItemHunksItemRequired, total=False):
    continued: Literal[True]


class UndoData1(TypedDict):
    action: "PendingAction"


class UndoData2(TypedDict):
    details: "ResolveDetails"
    text: str
    change: "Change"


class RedoData1(TypedDict):
    action: "PendingAction"


class RedoData2(TypedDict):
    details: "ResolveDetails"
    text: str
    change: "Change"


class GetChangesData(TypedDict):
    changes: List["Change"]


Event = Union["AgentSessionEvent", "ExtensionUiRequest", "ExtensionError", "HostToolCall", "HostToolCancel", "AvailableCommandsUpdate", "ThinkingLevelChanged", "SessionInfoChanged", "PromptResult", "SessionSettled", "RpcFrameError"]
