"""One method per command. Written by generate.py from the schema; not to be edited.

Required fields are the parameters, in the order of the protocol; optional ones are keywords, and `None` leaves them out,
except where `None` has a meaning: there `UNSET` does.
`timeout` is in seconds; `None` takes the usual deadline, `math.inf` waits for ever.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Dict, List, Literal, Optional, Union

from . import types


class Unset(Enum):
    UNSET = "unset"


UNSET = Unset.UNSET


def given(fields: Dict[str, Any], absent: Any = None) -> Dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not absent}


class SyncCommands:
    def request(self, command: str, fields: Optional[Dict[str, Any]] = None, *, timeout: Optional[float] = None) -> Any:
        raise NotImplementedError

    def negotiate_protocol(self, protocol_version: float, *, features: Optional[List[str]] = None, timeout: Optional[float] = None) -> types.NegotiateProtocolData:
        return self.request("negotiate_protocol", {"protocolVersion": protocol_version, **given({"features": features})}, timeout=timeout)

    def steer(self, message: str, *, images: Optional[List[types.ImageContent]] = None, timeout: Optional[float] = None) -> types.SteerData:
        return self.request("steer", {"message": message, **given({"images": images})}, timeout=timeout)

    def follow_up(self, message: str, *, images: Optional[List[types.ImageContent]] = None, timeout: Optional[float] = None) -> types.FollowUpData:
        return self.request("follow_up", {"message": message, **given({"images": images})}, timeout=timeout)

    def abort(self, *, timeout: Optional[float] = None) -> None:
        return self.request("abort", {}, timeout=timeout)

    def new_session(self, *, parent_session: Optional[str] = None, timeout: Optional[float] = None) -> types.NewSessionData:
        return self.request("new_session", {**given({"parentSession": parent_session})}, timeout=timeout)

    def get_state(self, *, timeout: Optional[float] = None) -> types.SessionState:
        return self.request("get_state", {}, timeout=timeout)

    def set_todos(self, phases: List[types.TodoPhaseInput], *, timeout: Optional[float] = None) -> types.SetTodosData:
        return self.request("set_todos", {"phases": phases}, timeout=timeout)

    def set_event_filter(self, events: Union[List[str], None], *, timeout: Optional[float] = None) -> types.SetEventFilterData:
        return self.request("set_event_filter", {"events": events}, timeout=timeout)

    def get_commands(self, *, timeout: Optional[float] = None) -> types.GetCommandsData:
        return self.request("get_commands", {}, timeout=timeout)

    def get_available_commands(self, *, timeout: Optional[float] = None) -> types.GetAvailableCommandsData:
        return self.request("get_available_commands", {}, timeout=timeout)

    def set_model(self, provider: str, model_id: str, *, timeout: Optional[float] = None) -> types.Model:
        return self.request("set_model", {"provider": provider, "modelId": model_id}, timeout=timeout)

    def cycle_model(self, *, timeout: Optional[float] = None) -> Union[types.CycleModelData1, None]:
        return self.request("cycle_model", {}, timeout=timeout)

    def get_available_models(self, *, timeout: Optional[float] = None) -> types.GetAvailableModelsData:
        return self.request("get_available_models", {}, timeout=timeout)

    def set_thinking_level(self, level: Union[Literal["max", "inherit"], types.ThinkingLevel], *, timeout: Optional[float] = None) -> None:
        return self.request("set_thinking_level", {"level": level}, timeout=timeout)

    def cycle_thinking_level(self, *, timeout: Optional[float] = None) -> Union[types.CycleThinkingLevelData1, None]:
        return self.request("cycle_thinking_level", {}, timeout=timeout)

    def get_available_thinking_levels(self, *, timeout: Optional[float] = None) -> types.GetAvailableThinkingLevelsData:
        return self.request("get_available_thinking_levels", {}, timeout=timeout)

    def set_steering_mode(self, mode: types.QueueMode, *, timeout: Optional[float] = None) -> None:
        return self.request("set_steering_mode", {"mode": mode}, timeout=timeout)

    def set_follow_up_mode(self, mode: types.QueueMode, *, timeout: Optional[float] = None) -> None:
        return self.request("set_follow_up_mode", {"mode": mode}, timeout=timeout)

    def set_interrupt_mode(self, mode: types.InterruptMode, *, timeout: Optional[float] = None) -> None:
        return self.request("set_interrupt_mode", {"mode": mode}, timeout=timeout)

    def compact(self, *, custom_instructions: Optional[str] = None, timeout: Optional[float] = None) -> types.CompactionResult:
        return self.request("compact", {**given({"customInstructions": custom_instructions})}, timeout=timeout)

    def set_auto_compaction(self, enabled: bool, *, timeout: Optional[float] = None) -> None:
        return self.request("set_auto_compaction", {"enabled": enabled}, timeout=timeout)

    def set_auto_retry(self, enabled: bool, *, timeout: Optional[float] = None) -> None:
        return self.request("set_auto_retry", {"enabled": enabled}, timeout=timeout)

    def abort_retry(self, *, timeout: Optional[float] = None) -> None:
        return self.request("abort_retry", {}, timeout=timeout)

    def set_budget(self, *, max_cost: Union[float, None, Unset] = UNSET, max_turns: Union[int, None, Unset] = UNSET, max_tokens: Union[int, None, Unset] = UNSET, timeout: Optional[float] = None) -> types.BudgetState:
        return self.request("set_budget", {**given({"maxCost": max_cost, "maxTurns": max_turns, "maxTokens": max_tokens}, UNSET)}, timeout=timeout)

    def set_access(self, access: types.AccessMode, *, timeout: Optional[float] = None) -> types.AccessState:
        return self.request("set_access", {"access": access}, timeout=timeout)

    def bash(self, command: str, *, exclude_from_context: Optional[bool] = None, stage: Optional[bool] = None, unsandboxed: Optional[bool] = None, timeout: Optional[float] = None) -> types.BashResult:
        return self.request("bash", {"command": command, **given({"excludeFromContext": exclude_from_context, "stage": stage, "unsandboxed": unsandboxed})}, timeout=timeout)

    def abort_bash(self, *, timeout: Optional[float] = None) -> None:
        return self.request("abort_bash", {}, timeout=timeout)

    def get_session_stats(self, *, timeout: Optional[float] = None) -> types.SessionStats:
        return self.request("get_session_stats", {}, timeout=timeout)

    def export_html(self, *, output_path: Optional[str] = None, timeout: Optional[float] = None) -> types.ExportHtmlData:
        return self.request("export_html", {**given({"outputPath": output_path})}, timeout=timeout)

    def switch_session(self, session_path: str, *, timeout: Optional[float] = None) -> types.SwitchSessionData:
        return self.request("switch_session", {"sessionPath": session_path}, timeout=timeout)

    def branch(self, entry_id: str, *, timeout: Optional[float] = None) -> types.BranchData:
        return self.request("branch", {"entryId": entry_id}, timeout=timeout)

    def fork(self, entry_id: str, *, timeout: Optional[float] = None) -> types.ForkData:
        return self.request("fork", {"entryId": entry_id}, timeout=timeout)

    def clone(self, *, timeout: Optional[float] = None) -> types.CloneData:
        return self.request("clone", {}, timeout=timeout)

    def get_branch_messages(self, *, timeout: Optional[float] = None) -> types.GetBranchMessagesData:
        return self.request("get_branch_messages", {}, timeout=timeout)

    def get_fork_messages(self, *, timeout: Optional[float] = None) -> types.GetForkMessagesData:
        return self.request("get_fork_messages", {}, timeout=timeout)

    def get_entries(self, *, since: Optional[str] = None, timeout: Optional[float] = None) -> types.GetEntriesData:
        return self.request("get_entries", {**given({"since": since})}, timeout=timeout)

    def get_tree(self, *, timeout: Optional[float] = None) -> types.GetTreeData:
        return self.request("get_tree", {}, timeout=timeout)

    def get_last_assistant_text(self, *, timeout: Optional[float] = None) -> types.GetLastAssistantTextData:
        return self.request("get_last_assistant_text", {}, timeout=timeout)

    def set_session_name(self, name: str, *, timeout: Optional[float] = None) -> None:
        return self.request("set_session_name", {"name": name}, timeout=timeout)

    def get_messages(self, *, timeout: Optional[float] = None) -> types.GetMessagesData:
        return self.request("get_messages", {}, timeout=timeout)

    def get_messages_page(self, *, cursor: Optional[str] = None, limit: Optional[float] = None, timeout: Optional[float] = None) -> types.GetMessagesPageData:
        return self.request("get_messages_page", {**given({"cursor": cursor, "limit": limit})}, timeout=timeout)

    def get_pending_actions(self, *, ids: Optional[List[str]] = None, diff: Optional[bool] = None, check: Optional[bool] = None, timeout: Optional[float] = None) -> types.GetPendingActionsData:
        return self.request("get_pending_actions", {**given({"ids": ids, "diff": diff, "check": check})}, timeout=timeout)

    def resolve_pending_action(self, action: Literal["apply", "discard"], reason: str, *, pending_id: Optional[str] = None, pending_ids: Optional[List[str]] = None, all: Optional[bool] = None, extra: Optional[Dict[str, Any]] = None, files: Optional[List[str]] = None, hunks: Optional[Dict[str, List[int]]] = None, with_deps: Optional[bool] = None, protected: Optional[bool] = None, revision: Optional[int] = None, timeout: Optional[float] = None) -> types.ResolvePendingActionData:
        return self.request("resolve_pending_action", {"action": action, "reason": reason, **given({"pendingId": pending_id, "pendingIds": pending_ids, "all": all, "extra": extra, "files": files, "hunks": hunks, "withDeps": with_deps, "protected": protected, "revision": revision})}, timeout=timeout)

    def revise_pending_action(self, pending_id: str, revision: int, path: str, hunk: int, text: str, *, timeout: Optional[float] = None) -> types.RevisePendingActionData:
        return self.request("revise_pending_action", {"pendingId": pending_id, "revision": revision, "path": path, "hunk": hunk, "text": text}, timeout=timeout)

    def rebase_pending_action(self, pending_id: str, *, revision: Optional[int] = None, partial: Optional[bool] = None, timeout: Optional[float] = None) -> types.RebasePendingActionData:
        return self.request("rebase_pending_action", {"pendingId": pending_id, **given({"revision": revision, "partial": partial})}, timeout=timeout)

    def get_diff(self, *, pending_id: Optional[str] = None, change_id: Optional[str] = None, paths: Optional[List[str]] = None, cursor: Optional[str] = None, context: Optional[int] = None, timeout: Optional[float] = None) -> types.GetDiffData:
        return self.request("get_diff", {**given({"pendingId": pending_id, "changeId": change_id, "paths": paths, "cursor": cursor, "context": context})}, timeout=timeout)

    def undo(self, *, change_id: Optional[str] = None, apply: Optional[bool] = None, timeout: Optional[float] = None) -> Union[types.UndoData1, types.UndoData2]:
        return self.request("undo", {**given({"changeId": change_id, "apply": apply})}, timeout=timeout)

    def redo(self, *, apply: Optional[bool] = None, timeout: Optional[float] = None) -> Union[types.RedoData1, types.RedoData2]:
        return self.request("redo", {**given({"apply": apply})}, timeout=timeout)

    def get_changes(self, *, all: Optional[bool] = None, diff: Optional[bool] = None, limit: Optional[int] = None, timeout: Optional[float] = None) -> types.GetChangesData:
        return self.request("get_changes", {**given({"all": all, "diff": diff, "limit": limit})}, timeout=timeout)


class AsyncCommands:
    async def request(
        self, command: str, fields: Optional[Dict[str, Any]] = None, *, timeout: Optional[float] = None
    ) -> Any:
        raise NotImplementedError

    async def negotiate_protocol(self, protocol_version: float, *, features: Optional[List[str]] = None, timeout: Optional[float] = None) -> types.NegotiateProtocolData:
        return await self.request("negotiate_protocol", {"protocolVersion": protocol_version, **given({"features": features})}, timeout=timeout)

    async def steer(self, message: str, *, images: Optional[List[types.ImageContent]] = None, timeout: Optional[float] = None) -> types.SteerData:
        return await self.request("steer", {"message": message, **given({"images": images})}, timeout=timeout)

    async def follow_up(self, message: str, *, images: Optional[List[types.ImageContent]] = None, timeout: Optional[float] = None) -> types.FollowUpData:
        return await self.request("follow_up", {"message": message, **given({"images": images})}, timeout=timeout)

    async def abort(self, *, timeout: Optional[float] = None) -> None:
        return await self.request("abort", {}, timeout=timeout)

    async def new_session(self, *, parent_session: Optional[str] = None, timeout: Optional[float] = None) -> types.NewSessionData:
        return await self.request("new_session", {**given({"parentSession": parent_session})}, timeout=timeout)

    async def get_state(self, *, timeout: Optional[float] = None) -> types.SessionState:
        return await self.request("get_state", {}, timeout=timeout)

    async def set_todos(self, phases: List[types.TodoPhaseInput], *, timeout: Optional[float] = None) -> types.SetTodosData:
        return await self.request("set_todos", {"phases": phases}, timeout=timeout)

    async def set_event_filter(self, events: Union[List[str], None], *, timeout: Optional[float] = None) -> types.SetEventFilterData:
        return await self.request("set_event_filter", {"events": events}, timeout=timeout)

    async def get_commands(self, *, timeout: Optional[float] = None) -> types.GetCommandsData:
        return await self.request("get_commands", {}, timeout=timeout)

    async def get_available_commands(self, *, timeout: Optional[float] = None) -> types.GetAvailableCommandsData:
        return await self.request("get_available_commands", {}, timeout=timeout)

    async def set_model(self, provider: str, model_id: str, *, timeout: Optional[float] = None) -> types.Model:
        return await self.request("set_model", {"provider": provider, "modelId": model_id}, timeout=timeout)

    async def cycle_model(self, *, timeout: Optional[float] = None) -> Union[types.CycleModelData1, None]:
        return await self.request("cycle_model", {}, timeout=timeout)

    async def get_available_models(self, *, timeout: Optional[float] = None) -> types.GetAvailableModelsData:
        return await self.request("get_available_models", {}, timeout=timeout)

    async def set_thinking_level(self, level: Union[Literal["max", "inherit"], types.ThinkingLevel], *, timeout: Optional[float] = None) -> None:
        return await self.request("set_thinking_level", {"level": level}, timeout=timeout)

    async def cycle_thinking_level(self, *, timeout: Optional[float] = None) -> Union[types.CycleThinkingLevelData1, None]:
        return await self.request("cycle_thinking_level", {}, timeout=timeout)

    async def get_available_thinking_levels(self, *, timeout: Optional[float] = None) -> types.GetAvailableThinkingLevelsData:
        return await self.request("get_available_thinking_levels", {}, timeout=timeout)

    async def set_steering_mode(self, mode: types.QueueMode, *, timeout: Optional[float] = None) -> None:
        return await self.request("set_steering_mode", {"mode": mode}, timeout=timeout)

    async def set_follow_up_mode(self, mode: types.QueueMode, *, timeout: Optional[float] = None) -> None:
        return await self.request("set_follow_up_mode", {"mode": mode}, timeout=timeout)

    async def set_interrupt_mode(self, mode: types.InterruptMode, *, timeout: Optional[float] = None) -> None:
        return await self.request("set_interrupt_mode", {"mode": mode}, timeout=timeout)

    async def compact(self, *, custom_instructions: Optional[str] = None, timeout: Optional[float] = None) -> types.CompactionResult:
        return await self.request("compact", {**given({"customInstructions": custom_instructions})}, timeout=timeout)

    async def set_auto_compaction(self, enabled: bool, *, timeout: Optional[float] = None) -> None:
        return await self.request("set_auto_compaction", {"enabled": enabled}, timeout=timeout)

    async def set_auto_retry(self, enabled: bool, *, timeout: Optional[float] = None) -> None:
        return await self.request("set_auto_retry", {"enabled": enabled}, timeout=timeout)

    async def abort_retry(self, *, timeout: Optional[float] = None) -> None:
        return await self.request("abort_retry", {}, timeout=timeout)

    async def set_budget(self, *, max_cost: Union[float, None, Unset] = UNSET, max_turns: Union[int, None, Unset] = UNSET, max_tokens: Union[int, None, Unset] = UNSET, timeout: Optional[float] = None) -> types.BudgetState:
        return await self.request("set_budget", {**given({"maxCost": max_cost, "maxTurns": max_turns, "maxTokens": max_tokens}, UNSET)}, timeout=timeout)

    async def set_access(self, access: types.AccessMode, *, timeout: Optional[float] = None) -> types.AccessState:
        return await self.request("set_access", {"access": access}, timeout=timeout)

    async def bash(self, command: str, *, exclude_from_context: Optional[bool] = None, stage: Optional[bool] = None, unsandboxed: Optional[bool] = None, timeout: Optional[float] = None) -> types.BashResult:
        return await self.request("bash", {"command": command, **given({"excludeFromContext": exclude_from_context, "stage": stage, "unsandboxed": unsandboxed})}, timeout=timeout)

    async def abort_bash(self, *, timeout: Optional[float] = None) -> None:
        return await self.request("abort_bash", {}, timeout=timeout)

    async def get_session_stats(self, *, timeout: Optional[float] = None) -> types.SessionStats:
        return await self.request("get_session_stats", {}, timeout=timeout)

    async def export_html(self, *, output_path: Optional[str] = None, timeout: Optional[float] = None) -> types.ExportHtmlData:
        return await self.request("export_html", {**given({"outputPath": output_path})}, timeout=timeout)

    async def switch_session(self, session_path: str, *, timeout: Optional[float] = None) -> types.SwitchSessionData:
        return await self.request("switch_session", {"sessionPath": session_path}, timeout=timeout)

    async def branch(self, entry_id: str, *, timeout: Optional[float] = None) -> types.BranchData:
        return await self.request("branch", {"entryId": entry_id}, timeout=timeout)

    async def fork(self, entry_id: str, *, timeout: Optional[float] = None) -> types.ForkData:
        return await self.request("fork", {"entryId": entry_id}, timeout=timeout)

    async def clone(self, *, timeout: Optional[float] = None) -> types.CloneData:
        return await self.request("clone", {}, timeout=timeout)

    async def get_branch_messages(self, *, timeout: Optional[float] = None) -> types.GetBranchMessagesData:
        return await self.request("get_branch_messages", {}, timeout=timeout)

    async def get_fork_messages(self, *, timeout: Optional[float] = None) -> types.GetForkMessagesData:
        return await self.request("get_fork_messages", {}, timeout=timeout)

    async def get_entries(self, *, since: Optional[str] = None, timeout: Optional[float] = None) -> types.GetEntriesData:
        return await self.request("get_entries", {**given({"since": since})}, timeout=timeout)

    async def get_tree(self, *, timeout: Optional[float] = None) -> types.GetTreeData:
        return await self.request("get_tree", {}, timeout=timeout)

    async def get_last_assistant_text(self, *, timeout: Optional[float] = None) -> types.GetLastAssistantTextData:
        return await self.request("get_last_assistant_text", {}, timeout=timeout)

    async def set_session_name(self, name: str, *, timeout: Optional[float] = None) -> None:
        return await self.request("set_session_name", {"name": name}, timeout=timeout)

    async def get_messages(self, *, timeout: Optional[float] = None) -> types.GetMessagesData:
        return await self.request("get_messages", {}, timeout=timeout)

    async def get_messages_page(self, *, cursor: Optional[str] = None, limit: Optional[float] = None, timeout: Optional[float] = None) -> types.GetMessagesPageData:
        return await self.request("get_messages_page", {**given({"cursor": cursor, "limit": limit})}, timeout=timeout)

    async def get_pending_actions(self, *, ids: Optional[List[str]] = None, diff: Optional[bool] = None, check: Optional[bool] = None, timeout: Optional[float] = None) -> types.GetPendingActionsData:
        return await self.request("get_pending_actions", {**given({"ids": ids, "diff": diff, "check": check})}, timeout=timeout)

    async def resolve_pending_action(self, action: Literal["apply", "discard"], reason: str, *, pending_id: Optional[str] = None, pending_ids: Optional[List[str]] = None, all: Optional[bool] = None, extra: Optional[Dict[str, Any]] = None, files: Optional[List[str]] = None, hunks: Optional[Dict[str, List[int]]] = None, with_deps: Optional[bool] = None, protected: Optional[bool] = None, revision: Optional[int] = None, timeout: Optional[float] = None) -> types.ResolvePendingActionData:
        return await self.request("resolve_pending_action", {"action": action, "reason": reason, **given({"pendingId": pending_id, "pendingIds": pending_ids, "all": all, "extra": extra, "files": files, "hunks": hunks, "withDeps": with_deps, "protected": protected, "revision": revision})}, timeout=timeout)

    async def revise_pending_action(self, pending_id: str, revision: int, path: str, hunk: int, text: str, *, timeout: Optional[float] = None) -> types.RevisePendingActionData:
        return await self.request("revise_pending_action", {"pendingId": pending_id, "revision": revision, "path": path, "hunk": hunk, "text": text}, timeout=timeout)

    async def rebase_pending_action(self, pending_id: str, *, revision: Optional[int] = None, partial: Optional[bool] = None, timeout: Optional[float] = None) -> types.RebasePendingActionData:
        return await self.request("rebase_pending_action", {"pendingId": pending_id, **given({"revision": revision, "partial": partial})}, timeout=timeout)

    async def get_diff(self, *, pending_id: Optional[str] = None, change_id: Optional[str] = None, paths: Optional[List[str]] = None, cursor: Optional[str] = None, context: Optional[int] = None, timeout: Optional[float] = None) -> types.GetDiffData:
        return await self.request("get_diff", {**given({"pendingId": pending_id, "changeId": change_id, "paths": paths, "cursor": cursor, "context": context})}, timeout=timeout)

    async def undo(self, *, change_id: Optional[str] = None, apply: Optional[bool] = None, timeout: Optional[float] = None) -> Union[types.UndoData1, types.UndoData2]:
        return await self.request("undo", {**given({"changeId": change_id, "apply": apply})}, timeout=timeout)

    async def redo(self, *, apply: Optional[bool] = None, timeout: Optional[float] = None) -> Union[types.RedoData1, types.RedoData2]:
        return await self.request("redo", {**given({"apply": apply})}, timeout=timeout)

    async def get_changes(self, *, all: Optional[bool] = None, diff: Optional[bool] = None, limit: Optional[int] = None, timeout: Optional[float] = None) -> types.GetChangesData:
        return await self.request("get_changes", {**given({"all": all, "diff": diff, "limit": limit})}, timeout=timeout)
