"""A host's end of the protocol, for threads: starts the agent, sends commands, hears events, lends tools, answers dialogs.
Every call ends: with its answer, with a typed error, or with the end of the process."""

from __future__ import annotations

import itertools
import math
import time
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Union, cast

from . import types
from ._activity import PromptOutcome, list_of
from ._calls import HostTool
from ._commands import given
from ._core import Attempt, Future, error_of, waitable
from ._dialogs import UiHandlers, headless_handlers
from ._process import AgentExit, Connection, galley_command
from ._questions import RpcQuestions
from ._wire import Frame
from .errors import RpcError

USUAL_FEATURES = ("prompt-result", "message-ids", "echo-ids", "queue-events")
#: After these another file may be the session's.
SESSION_COMMANDS = frozenset({"new_session", "switch_session", "branch", "fork", "clone"})

Command = Union[Sequence[str], Callable[[List[str]], Sequence[str]]]


class RpcClient(RpcQuestions):
    """Works again after an end: `start` and `stop` may be called any number of times, and from any thread.

    Listeners are called in a thread of their own, one after the other, and may use the client.
    """

    def __init__(
        self,
        command: Optional[Command] = None,
        *,
        args: Sequence[str] = (),
        cwd: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        provider: Optional[str] = None,
        model: Optional[str] = None,
        session_dir: Optional[str] = None,
        custom_tools: Sequence[HostTool] = (),
        features: Sequence[str] = USUAL_FEATURES,
        start_timeout: float = 30.0,
        request_timeout: float = 30.0,
        max_event_history: int = 256,
        max_unread_events: int = 10_000,
        max_stderr_bytes: int = 64 * 1024,
    ) -> None:
        super().__init__(
            custom_tools, request_timeout, max_event_history=max_event_history, max_unread_events=max_unread_events
        )
        self._command, self._args, self._cwd, self._env = command, args, cwd, env
        self._named = {"--provider": provider, "--model": model, "--session-dir": session_dir}
        self._features, self._start_timeout, self._max_stderr_bytes = features, start_timeout, max_stderr_bytes
        self._ready: Optional[types.ReadyFrame] = None

    # Life

    def command_line(self) -> List[str]:
        named = itertools.chain(*([flag, value] for flag, value in self._named.items() if value is not None))
        all_args = ["--mode", "rpc", *named, *self._args]
        if callable(self._command):
            return list(self._command(all_args))
        return [*(self._command or galley_command(self._env)), *all_args]

    def start(self) -> types.ReadyFrame:
        """Returns when the agent is ready, the features are agreed and the tools are registered."""
        return self._start(Attempt())

    def _start(self, attempt: Attempt) -> types.ReadyFrame:
        with self._lock:
            if self._connection is not None:
                raise RpcError("start_failed", "The agent is already running", command="start")
            if attempt.is_given_up:
                raise RpcError("start_failed", "The start was given up", command="start")
            starting: "Future[types.ReadyFrame]" = Future()
            self._starting, self._ready, self._is_session_file_sure = starting, None, False
            self._activity.has_prompt_results = False
            self._start_dispatching()
            try:
                self._start_watch()
                connection = self._connection = attempt.connection = Connection(
                    self.command_line(),
                    cwd=self._cwd,
                    env=self._env,
                    max_stderr_bytes=self._max_stderr_bytes,
                    on_frame=self._receive,
                    on_problem=self._receive_problem,
                    on_failure=self._receive_failure,
                    on_close=self._ended,
                )
            except BaseException as error:
                self._starting = None
                self._tasks.put(None)
                self._end_watch()
                if not isinstance(error, Exception):
                    raise
                raise RpcError("start_failed", str(error), command="start") from error
        try:
            self._ready = self._wait(starting, "start", None, self._start_timeout)
            self._negotiate(self._ready)
            if self._host_tools.lists[-1]:
                self.set_host_tools(self._host_tools.lists[-1])
        except BaseException as error:
            connection.kill()
            connection.closed.wait()
            exit = cast(AgentExit, connection.exit)
            if not isinstance(error, Exception):
                raise
            raise RpcError("start_failed", str(error), command="start", exit_code=exit.code) from error
        self._learn()
        return self._ready

    def stop(self, grace: float = 6.0) -> Optional[int]:
        """Closes stdin and waits for the orderly end; after `grace` SIGTERM, a second later SIGKILL. The exit code."""
        connection = self._connection
        if connection is None:
            return self._last_exit.code if self._last_exit else None
        connection.end()
        if not connection.closed.wait(waitable(grace)):
            connection.terminate()
            if not connection.closed.wait(1.0):
                connection.kill()
                connection.closed.wait()
        return cast(AgentExit, connection.exit).code

    def kill(self) -> None:
        """Ends the agent at once, without its orderly end."""
        connection = self._connection
        if connection is not None:
            connection.kill()

    def restart(self) -> bool:
        """A new process for an old one that crashed or is stopped here: the same options, tools, handlers and listeners,
        and the same session file. False if there is no such file, or an extension does not let it be opened."""
        return self._restart(Attempt())

    def _restart(self, attempt: Attempt) -> bool:
        self.stop()
        session_file = self._session_file
        try:
            self._start(attempt)
            return session_file is not None and not self.switch_session(session_file)["cancelled"]
        except BaseException as error:
            if isinstance(error, RpcError) and error.code == "session_missing":
                return False  # nothing was said in it
            self._session_file = session_file  # for the next attempt
            raise

    def __enter__(self) -> "RpcClient":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def ready(self) -> Optional[types.ReadyFrame]:
        """The agent's first frame: version and features."""
        return self._ready

    @property
    def session_file(self) -> Optional[str]:
        """The file the conversation is kept in, as far as it is known; `restart` opens it again."""
        return self._session_file

    @property
    def stderr(self) -> str:
        """What the agent wrote to stderr, the last part of it."""
        source = self._connection or self._last_exit
        return source.stderr if source else ""

    # Requests

    def request(self, command: str, fields: Optional[Dict[str, Any]] = None, *, timeout: Optional[float] = None) -> Any:
        """Any command by its name."""
        deadline = time.monotonic() + (self._request_timeout if timeout is None else timeout)
        request_id, future = self._issue(command, fields or {})
        data = self._wait(future, command, request_id, timeout)
        if command in SESSION_COMMANDS:
            self._learn()
            self._learned(deadline)
        return data

    def send(self, frame: Frame) -> None:
        """A raw frame."""
        self._live("send").send(frame)

    # Prompts

    def prompt(
        self,
        message: str,
        *,
        images: Optional[List[types.ImageContent]] = None,
        streaming_behavior: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> str:
        """The request's id when the prompt is accepted; `wait_for_prompt` tells how it ends."""
        fields = {"message": message, **given({"images": images, "streamingBehavior": streaming_behavior})}
        return self._accepted("prompt", *self._issue("prompt", fields), timeout)

    def abort_and_prompt(
        self, message: str, *, images: Optional[List[types.ImageContent]] = None, timeout: Optional[float] = None
    ) -> str:
        fields = {"message": message, **given({"images": images})}
        return self._accepted("abort_and_prompt", *self._issue("abort_and_prompt", fields), timeout)

    def prompt_and_wait(
        self,
        message: str,
        *,
        images: Optional[List[types.ImageContent]] = None,
        streaming_behavior: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> PromptOutcome:
        """Raises if the prompt fails late or the agent ends. The deadline is for the whole run; by default none."""
        fields = {"message": message, **given({"images": images, "streamingBehavior": streaming_behavior})}
        deadline = time.monotonic() + (math.inf if timeout is None else timeout)
        request_id, future, outcome = self._begin(fields)
        self._accepted("prompt", request_id, future, timeout)
        return self._ended_prompt(outcome, request_id, deadline)

    def wait_for_prompt(self, request_id: str, *, timeout: Optional[float] = None) -> PromptOutcome:
        """How the prompt with this id ended, now or earlier."""
        deadline = time.monotonic() + (math.inf if timeout is None else timeout)
        return self._ended_prompt(self._outcome(request_id), request_id, deadline)

    def wait_for_idle(self, *, timeout: Optional[float] = None) -> None:
        """Returns when nothing runs, at once if nothing does."""
        future = self._when_idle()
        self._wait(future, "wait_for_idle", None, math.inf if timeout is None else timeout)

    def stream(
        self,
        message: str,
        *,
        images: Optional[List[types.ImageContent]] = None,
        streaming_behavior: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Iterator[types.Event]:
        """The events of one prompt, to its end. Raises if the prompt fails late; the deadline is for the whole run."""
        fields = {"message": message, **given({"images": images, "streamingBehavior": streaming_behavior})}
        deadline = time.monotonic() + (math.inf if timeout is None else timeout)
        with self.events() as events:
            request_id, future, outcome = self._begin(fields)
            outcome.add_done_callback(lambda done: events.end(error_of(done)))
            self._accepted("prompt", request_id, future, timeout)
            yield from events.until(deadline, lambda: self._timed_out("prompt", request_id, timeout))

    # Tools and dialogs

    def set_host_tools(self, tools: Sequence[HostTool], *, timeout: Optional[float] = None) -> types.SetHostToolsData:
        """Replaces the tools that the host lends to the model; `[]` takes them all back. Refused, the old ones stay;
        given up, both are served, for the agent may still take the new ones."""
        request_id, future = self._lend(tools)
        return self._wait(future, "set_host_tools", request_id, timeout)

    def set_custom_tools(self, tools: Sequence[HostTool], *, timeout: Optional[float] = None) -> types.SetHostToolsData:
        """The same under the name of the option."""
        return self.set_host_tools(tools, timeout=timeout)

    def set_ui_handlers(self, handlers: Optional[UiHandlers]) -> None:
        """Answers dialogs with these functions from now on."""
        self._dialogs.handlers = handlers

    def install_headless_ui(
        self,
        *,
        confirm: bool = False,
        select: Optional[str] = None,
        input: Optional[str] = None,
        editor: Optional[str] = None,
    ) -> None:
        """For a host without a screen: what has no value is cancelled."""
        self.set_ui_handlers(headless_handlers(confirm, select, input, editor))

    def respond_value(self, request_id: str, value: str) -> None:
        self.send({"type": "extension_ui_response", "id": request_id, "value": value})

    def respond_confirm(self, request_id: str, confirmed: bool) -> None:
        self.send({"type": "extension_ui_response", "id": request_id, "confirmed": confirmed})

    def respond_cancel(self, request_id: str, *, timed_out: Optional[bool] = None) -> None:
        answer = {"type": "extension_ui_response", "id": request_id, "cancelled": True}
        self.send({**answer, **given({"timedOut": timed_out})})

    # Inside

    def _negotiate(self, ready: types.ReadyFrame) -> None:
        offered = list_of(ready, "features")
        wanted = [feature for feature in self._features if feature in offered]
        if wanted or 2 in list_of(ready, "supportedProtocolVersions"):
            self.negotiate_protocol(2, features=wanted)

    def _ended_prompt(self, outcome: "Future[PromptOutcome]", request_id: str, deadline: float) -> PromptOutcome:
        ended = self._wait(outcome, "prompt", request_id, max(0.0, deadline - time.monotonic()))
        if not ended.agent_invoked:
            self._learned(deadline)
        return ended
