"""Requests that wait for their answer, which answer belongs to which, and what the frames of the agent mean."""

from __future__ import annotations

import concurrent.futures
import itertools
import math
import re
import threading
from typing import Any, Dict, Optional, Sequence, Tuple, cast

from . import types
from ._activity import Activity, PromptOutcome, failure_of
from ._calls import HostTool, HostTools
from ._dialogs import Dialogs
from ._events import RpcEvents
from ._process import AgentExit, Connection
from ._wire import Frame
from .errors import RpcError

WITHOUT_DEADLINE = frozenset({"bash", "compact", "export_html"})

Future = concurrent.futures.Future


class Attempt:
    """Of a start, for who may give it up: none is left running."""

    def __init__(self) -> None:
        self.is_given_up = False
        self.connection: Optional[Connection] = None


class RpcCore(RpcEvents):
    def __init__(self, custom_tools: Sequence[HostTool], request_timeout: float, **events: int) -> None:
        super().__init__(**events)
        self._request_timeout = request_timeout
        self._pending: Dict[str, Tuple[str, "Future[Any]"]] = {}
        self._ids = itertools.count(1)
        self._activity = Activity(self._tell, self._learn)
        self._host_tools = HostTools(self._send_quietly, self._is_clogged, self._tell_raised, custom_tools)
        self._dialogs = Dialogs(self._send_quietly, self._tell_raised, self._tell)
        self._connection: Optional[Connection] = None
        self._starting: "Optional[Future[types.ReadyFrame]]" = None
        self._last_exit: Optional[AgentExit] = None
        self._session_file: Optional[str] = None

    @property
    def is_running(self) -> bool:
        return self._connection is not None

    def _learn(self) -> None:
        """Asks for the session file, since it may be another one."""
        raise NotImplementedError

    def _make_sure(self) -> None:
        """Asks for it if it is not known for sure."""
        raise NotImplementedError

    def _poke(self) -> None:
        """A caller waits: the watch looks again."""
        raise NotImplementedError

    def _give_up(self, attempt: Attempt) -> Optional[Connection]:
        """What has to end now; without a connection none will be made."""
        with self._lock:
            attempt.is_given_up = True
            if attempt.connection is not None:
                attempt.connection.kill()
            return attempt.connection

    def _live(self, command: str) -> Connection:
        connection = self._connection
        if connection is None or not connection.is_open:
            raise RpcError("stopped", "The agent is not running", command=command)
        return connection

    def _is_clogged(self) -> bool:
        connection = self._connection
        return connection is None or connection.is_clogged

    def _send_quietly(self, frame: Frame) -> None:
        """An answer that no caller can take any more is not missed."""
        connection = self._connection
        if connection is not None:
            connection.send(frame)

    def _issue(self, command: str, fields: Dict[str, Any]) -> "Tuple[str, Future[Any]]":
        with self._lock:
            connection = self._live(command)
            request_id = f"req_{next(self._ids)}"
            future: "Future[Any]" = Future()
            self._pending[request_id] = (command, future)
            self._activity.sent(request_id, command, fields)
            try:
                connection.send({**fields, "id": request_id, "type": command})
            except BaseException:
                self._forget(request_id)
                raise
            self._poke()
            return request_id, future

    def _begin(self, fields: Dict[str, Any]) -> "Tuple[str, Future[Any], Future[PromptOutcome]]":
        """A prompt whose outcome is awaited from the start."""
        with self._lock:
            request_id, future = self._issue("prompt", fields)
            return request_id, future, self._outcome(request_id)

    def _lend(self, tools: Sequence[HostTool]) -> "Tuple[str, Future[Any]]":
        """With the lock held, and answered where the frames are read: lists of several threads keep the order of the
        wire. Who gives up waiting leaves the list as it is, for the agent may still take it."""
        lent = list(tools)
        fields = {"tools": [tool.definition() for tool in lent]}
        with self._lock:
            request_id, future = self._issue("set_host_tools", fields)
            self._host_tools.sent(lent)
            future.add_done_callback(lambda done: self._host_tools.answered(lent, done.exception() is None))
            return request_id, future

    def _forget(self, request_id: Optional[str]) -> None:
        with self._lock:
            if request_id is not None and self._pending.pop(request_id, None) is not None:
                self._activity.forget(request_id)

    def _deadline(self, command: str, timeout: Optional[float]) -> Optional[float]:
        if timeout is None:
            timeout = math.inf if command in WITHOUT_DEADLINE else self._request_timeout
        return waitable(timeout)

    def _wait(self, future: "Future[Any]", command: str, request_id: Optional[str], timeout: Optional[float]) -> Any:
        seconds = self._deadline(command, timeout)
        try:
            return future.result(seconds)
        except concurrent.futures.TimeoutError:
            raise self._timed_out(command, request_id, seconds) from None
        except BaseException:
            self._forget(request_id)
            raise

    def _timed_out(self, command: str, request_id: Optional[str], seconds: Optional[float]) -> RpcError:
        self._forget(request_id)
        text = f"No answer to {command} within {round(seconds or 0, 2):g} s"
        return RpcError("timeout", text, command=command, request_id=request_id)

    def _accepted(self, command: str, request_id: str, future: "Future[Any]", timeout: Optional[float]) -> str:
        self._wait(future, command, request_id, timeout)
        self._make_sure()
        return request_id

    def _outcome(self, request_id: str) -> "Future[PromptOutcome]":
        with self._lock:
            outcome = self._activity.outcome(request_id)
        if outcome is None:
            raise RpcError("refused", f"No prompt has the id {request_id}", command="prompt", request_id=request_id)
        self._poke()
        return outcome

    def _receive(self, frame: Frame) -> None:
        with self._lock:
            if self._starting is not None:
                return self._receive_first(frame)
            # Before the activity, which may end a stream with the very event that the stream still has to see.
            is_event = self._see_event(frame)
            self._activity.see(frame)
            if frame["type"] == "session_moved":
                self._session_file = frame["to"]
            if frame["type"] == "response":
                if self._settle(frame):
                    return
                # A second answer is the late failure of a prompt, which the activity knows.
                if frame.get("success") is not True and not isinstance(frame.get("id"), str):
                    self._tell(failure_of(frame, "protocol"))
        is_heard = self._tell_frame(frame)
        if is_event:
            self._host_tools.see(frame)
            if frame["type"] == "extension_ui_request":
                # A question that its listeners miss is cancelled, like one without listeners.
                self._dialogs.see(frame, is_heard and bool(self._listeners["ui"]))

    def _receive_first(self, frame: Frame) -> None:
        starting, self._starting = cast("Future[types.ReadyFrame]", self._starting), None
        if frame["type"] == "ready":
            starting.set_result(cast(types.ReadyFrame, frame))
        else:
            text = f'The agent began with "{frame["type"]}" instead of "ready"'
            starting.set_exception(RpcError("start_failed", text))

    def _receive_problem(self, problem: str) -> None:
        error = RpcError("protocol", f"The agent wrote a line that is not a frame: {problem}")
        with self._lock:
            starting, self._starting = self._starting, None
        if starting is not None:
            starting.set_exception(error)
        else:
            self._tell(error)

    def _receive_failure(self, raised: BaseException) -> None:
        error = RpcError("protocol", f"A frame could not be served: {str(raised) or type(raised).__name__}")
        error.__cause__ = raised
        self._tell(error)

    def _settle(self, response: Frame) -> bool:
        data = response.get("data")
        if response.get("command") == "get_state" and isinstance(data, dict):
            self._session_file = data.get("sessionFile")
        request_id = self._id_of(response)
        command, future = self._pending.pop(request_id or "", (None, None))
        if future is None or command is None:
            return False
        if response.get("success") is True:
            future.set_result(data)
        else:
            self._activity.forget(request_id or "")
            future.set_exception(failure_of(response, "refused", request_id, command))
        return True

    def _id_of(self, response: Frame) -> Optional[str]:
        """Some failures come without an id: they are matched by what else they say, never by guessing among several."""
        for request_id in (response.get("id"), response.get("requestId")):
            if isinstance(request_id, str):
                return request_id
        if response.get("success") is True:
            return None
        name = response.get("command")
        candidates = [key for key, (command, _) in self._pending.items() if name in ("parse", command)]
        return candidates[0] if len(candidates) == 1 else None

    def _ended(self, exit: AgentExit) -> None:
        with self._lock:
            # What belongs to this process is taken here: a listener that learns of its end may start the next one at once.
            tasks, calls = self._tasks, [*self._host_tools.take_all(), *self._dialogs.take_all()]
            self._connection, self._last_exit = None, exit
            text = ending_of(exit)

            def error_for(command: str, request_id: Optional[str] = None) -> RpcError:
                kind: Any = "stopped" if exit.is_expected else "exited"
                return RpcError(kind, text, command=command, request_id=request_id, exit_code=exit.code)

            starting, self._starting = self._starting, None
            pending, self._pending = self._pending, {}
            if starting is not None:
                starting.set_exception(error_for("start"))
            for request_id, (command, future) in pending.items():
                future.set_exception(error_for(command, request_id))
            self._activity.fail(error_for("prompt"))
            for sink in list(self._sinks):
                sink.end()
        for call in calls:
            try:
                call.cancel()
            except Exception as raised:  # no thread for the callbacks, but the end must be told all the same
                self._tell_raised(raised)
        self._end_events(tasks, exit)


def ending_of(exit: AgentExit) -> str:
    """Only where the agent failed by itself do its last words say why; the rest of its stderr is about something else."""
    if exit.is_expected:
        return "The agent was stopped"
    how = f"The agent ended with code {exit.code}"
    if exit.code is None or exit.code <= 0:
        return how
    lines = [line for line in exit.stderr.splitlines() if TELLING_LINE.match(line)]
    return f"{how}: {lines[-1].strip()[:500]}" if lines else how


# Neither part of a stack nor the runtime's own last line.
TELLING_LINE = re.compile(r"(?!Node\.js)[^\s^}]")


def waitable(seconds: float) -> Optional[float]:
    """For locks and loops, which take no more."""
    return seconds if seconds <= threading.TIMEOUT_MAX else None


def error_of(done: "Future[Any]") -> Optional[RpcError]:
    return cast(Optional[RpcError], done.exception())
