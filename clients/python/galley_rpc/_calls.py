"""Calls of the host's tools. Each runs in a thread of its own and ends with one answer, or is taken back and answers
nothing. Nothing of the host's runs in the thread that reads the agent."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from ._wire import Frame
from .types import ToolResult

#: What a tool hands back; a string is one block of text.
HostToolOutput = Union[str, ToolResult]
Send = Callable[[Frame], None]
Report = Callable[[BaseException], None]

logger = logging.getLogger("galley_rpc")


def log_raised(raised: BaseException) -> None:
    logger.warning("A callback raised: %s", raised, exc_info=raised)


class CallContext:
    """Of one call or dialog. `cancelled` is set when the agent takes it back, its time is up, or the agent ends."""

    def __init__(self, report: Report = log_raised) -> None:
        self.cancelled = threading.Event()
        self._report = report
        self._lock = threading.Lock()
        self._on_cancel: List[Callable[[], object]] = []

    def on_cancel(self, callback: Callable[[], object]) -> None:
        """Calls back in a thread of its own; at once and in this one if it is cancelled already."""
        with self._lock:
            if not self.cancelled.is_set():
                self._on_cancel.append(callback)
                return
        callback()

    def cancel(self) -> None:
        with self._lock:
            callbacks, self._on_cancel = self._on_cancel, []
            self.cancelled.set()
        if callbacks:
            run_in_thread(lambda: self._call_back(callbacks))

    def _call_back(self, callbacks: List[Callable[[], object]]) -> None:
        for callback in callbacks:
            try:
                callback()
            except BaseException as raised:
                self._report(raised)


class HostToolContext(CallContext):
    def __init__(self, tool_call_id: str, update: Callable[[HostToolOutput], None], report: Report = log_raised) -> None:
        super().__init__(report)
        self.tool_call_id = tool_call_id
        self._update = update

    def send_update(self, partial_result: HostToolOutput) -> None:
        """Shows progress; each update replaces the one before, and one that the agent is too slow for is left out, as is
        one that comes after the call has ended."""
        if not self.cancelled.is_set():
            self._update(partial_result)


@dataclass(frozen=True)
class HostTool:
    """A tool that the host lends to the model. `parameters` is a JSON Schema; what `execute` raises the model reads."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    execute: Callable[[Dict[str, Any], HostToolContext], Any]
    label: Optional[str] = None
    hidden: Optional[bool] = None
    timeout_ms: Optional[float] = None

    def definition(self) -> Dict[str, Any]:
        fields = {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
            "label": self.label,
            "hidden": self.hidden,
            "timeoutMs": self.timeout_ms,
        }
        return {key: value for key, value in fields.items() if value is not None}


class OpenCalls:
    """Those that have not ended, by their id."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: Dict[str, CallContext] = {}

    def add(self, call_id: str, context: CallContext) -> None:
        with self._lock:
            self._open[call_id] = context

    def has(self, call_id: str, context: CallContext) -> bool:
        with self._lock:
            return self._open.get(call_id) is context

    def end(self, call_id: str, context: CallContext) -> bool:
        """True once, and only while the call is wanted."""
        with self._lock:
            if self._open.get(call_id) is not context:
                return False  # taken back; another process may use the id again
            del self._open[call_id]
            return not context.cancelled.is_set()

    def cancel(self, call_id: object) -> None:
        with self._lock:
            context = self._open.pop(str(call_id), None)
        if context is not None:
            context.cancel()

    def take_all(self) -> List[CallContext]:
        """For the caller that cancels them: they are not open any more."""
        with self._lock:
            contexts, self._open = list(self._open.values()), {}
        return contexts


def run_in_thread(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="galley-rpc-call", daemon=True).start()


class HostTools:
    def __init__(self, send: Send, is_clogged: Callable[[], bool], report: Report, tools: Sequence[HostTool]) -> None:
        self._send, self._is_clogged, self._report = send, is_clogged, report
        self._calls = OpenCalls()
        #: Those the agent has, and behind them the newer ones that it may have: a call may overtake the answer, and who
        #: has given up does not know it. The newest of a name wins. Replaced, never changed: calls read it in threads.
        self.lists: List[List[HostTool]] = [list(tools)]

    def sent(self, tools: List[HostTool]) -> None:
        self.lists = [*self.lists, tools]

    def answered(self, tools: List[HostTool], is_taken: bool) -> None:
        if not is_taken:
            self.lists = [other for other in self.lists if other is not tools]
        elif any(other is tools for other in self.lists):  # if not, newer ones are taken already
            while self.lists[0] is not tools:
                self.lists = self.lists[1:]

    def see(self, frame: Frame) -> None:
        if frame["type"] == "host_tool_call" and isinstance(frame.get("id"), str):
            run_in_thread(self._prepare(frame))
        elif frame["type"] == "host_tool_cancel":
            self._calls.cancel(frame.get("targetId"))

    def take_all(self) -> List[CallContext]:
        return self._calls.take_all()

    def _prepare(self, frame: Frame) -> Callable[[], None]:
        """Before the thread runs, so that a cancel right behind the call finds it."""
        call_id, name = frame["id"], str(frame.get("toolName"))

        def update(partial: HostToolOutput) -> None:
            if self._calls.has(call_id, context) and not self._is_clogged():
                self._send({"type": "host_tool_update", "id": call_id, "partialResult": result_of(partial)})

        context = HostToolContext(str(frame.get("toolCallId")), update, self._report)
        self._calls.add(call_id, context)
        lent = [tool for tools in self.lists for tool in tools]
        tool = next((tool for tool in reversed(lent) if tool.name.strip() == name), None)
        arguments = frame.get("arguments")

        def work() -> None:
            answer: Dict[str, Any]
            try:
                if tool is None:
                    raise LookupError(f'Host tool "{name}" is not registered')
                result = result_of(tool.execute(arguments if isinstance(arguments, dict) else {}, context))
                if not isinstance(result, dict) or not isinstance(result.get("content"), list):
                    raise TypeError(f'Host tool "{name}" returned a malformed result')
                answer = {"result": result, **({"isError": True} if result.get("isError") is True else {})}
            except BaseException as error:  # a cancelled task too: the call must end, and the model reads why
                answer = failed(error)
            if not self._calls.end(call_id, context):
                return
            try:
                self._send({"type": "host_tool_result", "id": call_id, **answer})
            except Exception as error:  # no JSON, or too much of it
                self._send({"type": "host_tool_result", "id": call_id, **failed(error)})

        return work


def failed(error: BaseException) -> Dict[str, Any]:
    text = str(error) or type(error).__name__
    return {"result": {"content": [{"type": "text", "text": text}]}, "isError": True}


def result_of(output: Any) -> Any:
    return {"content": [{"type": "text", "text": output}]} if isinstance(output, str) else output
