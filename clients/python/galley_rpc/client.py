"""A host's end of the protocol, for threads: starts the agent, sends commands, hears events, lends tools, answers dialogs.
Every call ends: with its answer, with a typed error, or with the end of the process."""

from __future__ import annotations

import collections
import concurrent.futures
import itertools
import logging
import math
import queue
import threading
import time
from typing import Any, Callable, Deque, Dict, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, Union, cast

from . import types
from ._activity import Activity, PromptOutcome, failure_of
from ._calls import Dialogs, HostTool, HostTools, UiHandlers, headless_handlers
from ._commands import SyncCommands, given
from ._process import AgentExit, Connection
from ._wire import Frame
from .errors import RpcError

logger = logging.getLogger("galley_rpc")

USUAL_FEATURES = ("prompt-result", "message-ids", "echo-ids", "queue-events")
WITHOUT_DEADLINE = frozenset({"bash", "compact", "export_html"})
PROMPTS = frozenset({"prompt", "abort_and_prompt"})
#: After these another file may be the session's.
SESSION_COMMANDS = frozenset({"new_session", "switch_session", "branch", "fork", "clone"})
EVENT_TYPES = frozenset(types.EVENT_TYPES)
#: How many frames may wait for slow listeners before they miss some.
MAX_UNHEARD = 100_000

Command = Union[Sequence[str], Callable[[List[str]], Sequence[str]]]
Remove = Callable[[], None]
Future = concurrent.futures.Future


class EventStream:
    """Events as a loop reads them. A loop that falls behind by more than the limit gets an error, never a gap."""

    def __init__(self, limit: int, on_close: Callable[["EventStream"], None]) -> None:
        self._limit, self._on_close = limit, on_close
        self._queue: "queue.Queue[Union[types.Event, RpcError, None]]" = queue.Queue()
        self._is_ended = False

    def push(self, event: types.Event) -> None:
        if not self._is_ended:
            self._queue.put(event)
            if self._queue.qsize() > self._limit:
                self.end(RpcError("overflow", f"More than {self._limit} events wait to be read"))

    def end(self, error: Optional[RpcError] = None) -> None:
        """What waits is still read first."""
        if not self._is_ended:
            self._is_ended = True
            self._on_close(self)
            self._queue.put(error)

    def close(self) -> None:
        self.end()

    def __iter__(self) -> "EventStream":
        return self

    def __next__(self) -> types.Event:
        item = self._queue.get()
        if item is None or isinstance(item, RpcError):
            self._queue.put(None)
            raise item or StopIteration
        return item


class RpcClient(SyncCommands):
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
        self._command, self._args, self._cwd, self._env = command, args, cwd, env
        self._named = {"--provider": provider, "--model": model, "--session-dir": session_dir}
        self._features, self._start_timeout, self._request_timeout = features, start_timeout, request_timeout
        self._max_unread_events, self._max_stderr_bytes = max_unread_events, max_stderr_bytes
        self._lock = threading.RLock()
        self._pending: Dict[str, Tuple[str, "Future[Any]"]] = {}
        self._ids = itertools.count(1)
        self._activity = Activity(self._tell)
        self._host_tools = HostTools(self._send_quietly, self._is_clogged, custom_tools)
        self._dialogs = Dialogs(self._send_quietly, self._tell_raised)
        self._history: Deque[types.Event] = collections.deque(maxlen=max_event_history)
        self._sinks: Set[Any] = set()
        self._listeners: Dict[str, List[Callable[[Any], object]]] = collections.defaultdict(list)
        self._tasks: "queue.Queue[Optional[Tuple[str, Any]]]" = queue.Queue()
        self._is_deaf = False
        self._connection: Optional[Connection] = None
        self._starting: "Optional[Future[types.ReadyFrame]]" = None
        self._ready: Optional[types.ReadyFrame] = None
        self._last_exit: Optional[AgentExit] = None
        self._session_file: Optional[str] = None
        self._is_session_file_sure = False

    # Life

    def command_line(self) -> List[str]:
        named = itertools.chain(*([flag, value] for flag, value in self._named.items() if value is not None))
        all_args = ["--mode", "rpc", *named, *self._args]
        if callable(self._command):
            return list(self._command(all_args))
        return [*(self._command or ["galley"]), *all_args]

    def start(self) -> types.ReadyFrame:
        """Returns when the agent is ready, the features are agreed and the tools are registered."""
        with self._lock:
            if self._connection is not None:
                raise RpcError("start_failed", "The agent is already running", command="start")
            starting: "Future[types.ReadyFrame]" = Future()
            self._starting, self._ready, self._is_session_file_sure = starting, None, False
            self._activity.has_prompt_results = False
            self._tasks, self._is_deaf = queue.Queue(), False
            try:
                connection = self._connection = Connection(
                    self.command_line(),
                    cwd=self._cwd,
                    env=self._env,
                    max_stderr_bytes=self._max_stderr_bytes,
                    on_frame=self._receive,
                    on_problem=self._receive_problem,
                    on_close=self._ended,
                )
            except OSError as error:
                self._starting = None
                raise RpcError("start_failed", str(error), command="start") from error
            threading.Thread(
                target=self._dispatch, args=(self._tasks,), name="galley-rpc-dispatch", daemon=True
            ).start()
        try:
            self._ready = self._wait(starting, "start", None, self._start_timeout)
            self._negotiate(self._ready)
            if self._host_tools.tools:
                self._register(self._host_tools.tools, None)
        except BaseException as error:
            connection.kill()
            connection.closed.wait()
            exit = cast(AgentExit, connection.exit)
            if not isinstance(error, RpcError):
                raise
            stderr = exit.stderr.strip()
            text = error.message if stderr in error.message else f"{error.message}\n{stderr}"
            raise RpcError("start_failed", text, command="start", exit_code=exit.code) from error
        try:
            self._issue("get_state", {})  # tells the session file; nobody waits for it
        except RpcError:
            pass  # it has ended already, and whoever calls next hears it
        return self._ready

    def stop(self, grace: float = 6.0) -> Optional[int]:
        """Closes stdin and waits for the orderly end; after `grace` SIGTERM, a second later SIGKILL. The exit code."""
        connection = self._connection
        if connection is None:
            return self._last_exit.code if self._last_exit else None
        connection.end()
        if not connection.closed.wait(grace):
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
        self.stop()
        session_file = self._session_file
        try:
            self.start()
            return session_file is not None and not self.switch_session(session_file)["cancelled"]
        except BaseException:
            self._session_file = session_file  # for the next attempt
            raise

    def __enter__(self) -> "RpcClient":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def is_running(self) -> bool:
        return self._connection is not None

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
        request_id, future = self._issue(command, fields or {})
        data = self._wait(future, command, request_id, timeout)
        if command in SESSION_COMMANDS:
            self._is_session_file_sure = False
            self._learn_session()
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
        return self._accepted(*self._issue("prompt", fields), timeout)

    def abort_and_prompt(
        self, message: str, *, images: Optional[List[types.ImageContent]] = None, timeout: Optional[float] = None
    ) -> str:
        fields = {"message": message, **given({"images": images})}
        return self._accepted(*self._issue("abort_and_prompt", fields), timeout)

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
        self._accepted(request_id, future, timeout)
        return self._wait(outcome, "prompt", request_id, max(0.0, deadline - time.monotonic()))

    def wait_for_prompt(self, request_id: str, *, timeout: Optional[float] = None) -> PromptOutcome:
        """How the prompt with this id ended, now or earlier."""
        outcome = self._outcome(request_id)
        return self._wait(outcome, "prompt", request_id, math.inf if timeout is None else timeout)

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
        """The events of one prompt, to its end. Raises if the prompt fails late; `timeout` is for the acceptance."""
        fields = {"message": message, **given({"images": images, "streamingBehavior": streaming_behavior})}
        events = self.events()
        try:
            request_id, future, outcome = self._begin(fields)
            outcome.add_done_callback(lambda done: events.end(error_of(done)))
            self._accepted(request_id, future, timeout)
            yield from events
        finally:
            events.close()

    # Events. Each of the functions that take a listener returns the one that takes it away.

    def on_event(self, listener: Callable[[types.Event], object]) -> Remove:
        """Every event the client knows."""
        return self._listen("event", listener)

    def on(self, event_type: str, listener: Callable[[Any], object]) -> Remove:
        return self._listen(f"event:{event_type}", listener)

    def on_ui_request(self, listener: Callable[[types.ExtensionUiRequest], object]) -> Remove:
        """Dialogs and notices. While there is such a listener and no handlers, answering is its task."""
        return self._listen("ui", listener)

    def on_extension_error(self, listener: Callable[[types.ExtensionError], object]) -> Remove:
        return self.on("extension_error", listener)

    def on_unknown(self, listener: Callable[[Frame], object]) -> Remove:
        """Frames of a type this client does not know."""
        return self._listen("unknown", listener)

    def on_frame(self, listener: Callable[[Frame], object]) -> Remove:
        """Every frame that is no answer to a request of this client."""
        return self._listen("frame", listener)

    def on_exit(self, listener: Callable[[AgentExit], object]) -> Remove:
        return self._listen("exit", listener)

    def on_protocol_error(self, listener: Callable[[RpcError], object]) -> Remove:
        """What no call can tell: unreadable lines, failures of no request, late failures nobody awaits, listeners that
        raise. Without a listener it goes to the log `galley_rpc`."""
        return self._listen("problem", listener)

    def events(self) -> EventStream:
        """Events from now on, until the agent ends or the stream is closed."""
        with self._lock:
            stream = EventStream(self._max_unread_events, self._sinks.discard)
            if self._connection is None:
                stream.end()
            else:
                self._sinks.add(stream)
            return stream

    @property
    def history(self) -> List[types.Event]:
        """The last events, oldest first."""
        with self._lock:
            return list(self._history)

    # Tools and dialogs

    def set_host_tools(self, tools: Sequence[HostTool], *, timeout: Optional[float] = None) -> types.SetHostToolsData:
        """Replaces the tools that the host lends to the model; `[]` takes them all back. Refused, the old ones stay."""
        before = self._host_tools.tools
        self._host_tools.tools = [*before, *tools]  # a call may overtake the answer
        try:
            data = self._register(tools, timeout)
        except BaseException:
            self._host_tools.tools = before
            raise
        self._host_tools.tools = list(tools)
        return data

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

    def _live(self, command: str) -> Connection:
        connection = self._connection
        if connection is None or not connection.is_open:
            raise RpcError("stopped", "The agent is not running", command=command)
        return connection

    def _is_clogged(self) -> bool:
        connection = self._connection
        return connection is None or connection.is_clogged

    def _send_quietly(self, frame: Frame) -> None:
        """An answer that nobody can take any more is not missed."""
        connection = self._connection
        if connection is not None:
            connection.send(frame)

    def _issue(self, command: str, fields: Dict[str, Any]) -> "Tuple[str, Future[Any]]":
        with self._lock:
            connection = self._live(command)
            request_id = f"req_{next(self._ids)}"
            future: "Future[Any]" = Future()
            self._pending[request_id] = (command, future)
            if command in PROMPTS:
                self._activity.sent(request_id)
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

    def _forget(self, request_id: Optional[str]) -> None:
        with self._lock:
            if request_id is not None and self._pending.pop(request_id, None) is not None:
                self._activity.forget(request_id)

    def _deadline(self, command: str, timeout: Optional[float]) -> Optional[float]:
        if timeout is None:
            timeout = math.inf if command in WITHOUT_DEADLINE else self._request_timeout
        # Neither locks nor loops take more.
        return timeout if timeout <= threading.TIMEOUT_MAX else None

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
        return RpcError("timeout", f"No answer to {command} within {seconds} s", command=command, request_id=request_id)

    def _accepted(self, request_id: str, future: "Future[Any]", timeout: Optional[float]) -> str:
        self._wait(future, "prompt", request_id, timeout)
        if not self._is_session_file_sure:
            self._learn_session()
        self._is_session_file_sure = True
        return request_id

    def _outcome(self, request_id: str) -> "Future[PromptOutcome]":
        with self._lock:
            outcome = self._activity.outcome(request_id)
        if outcome is None:
            raise RpcError("refused", f"No prompt has the id {request_id}", command="prompt", request_id=request_id)
        self._poke()
        return outcome

    def _when_idle(self) -> "Future[None]":
        """Asks the agent when it looks idle from here."""
        with self._lock:
            if not self._activity.is_idle:
                self._poke()
                return self._activity.when_idle()
        idle: "Future[None]" = Future()
        _, asked = self._issue("get_state", {})

        def answered(done: "Future[Any]") -> None:
            if done.exception() is not None:
                return idle.set_exception(cast(BaseException, done.exception()))
            with self._lock:
                waiter = self._activity.when_idle()
            waiter.add_done_callback(lambda end: finish(idle, end))
            self._poke()

        asked.add_done_callback(answered)
        return idle

    def _negotiate(self, ready: types.ReadyFrame) -> None:
        wanted = [feature for feature in self._features if feature in ready.get("features", [])]
        if wanted or 2 in ready.get("supportedProtocolVersions", []):
            agreed = self.negotiate_protocol(2, features=wanted)
            self._activity.has_prompt_results = "prompt-result" in agreed["features"]

    def _register(self, tools: Sequence[HostTool], timeout: Optional[float]) -> types.SetHostToolsData:
        return self.request("set_host_tools", {"tools": [tool.definition() for tool in tools]}, timeout=timeout)

    def _learn_session(self) -> None:
        """The answer comes by `_receive`; without one the file known so far stays."""
        try:
            self.get_state()
        except RpcError:
            pass

    def _receive(self, frame: Frame) -> None:
        with self._lock:
            if self._starting is not None:
                return self._receive_first(frame)
            # Before the activity, which may end a stream with the very event that the stream still has to see.
            is_event = frame["type"] in EVENT_TYPES
            if is_event:
                event = cast(types.Event, frame)
                self._history.append(event)
                for sink in list(self._sinks):
                    sink.push(event)
            self._activity.see(frame)
            if frame["type"] == "response":
                if self._settle(frame):
                    return
                # A second answer is the late failure of a prompt, which the activity knows.
                if frame.get("success") is not True and not isinstance(frame.get("id"), str):
                    self._tell(failure_of(frame, "protocol"))
        if is_event:
            self._host_tools.see(frame)
            if frame["type"] == "extension_ui_request":
                self._dialogs.see(frame, bool(self._listeners["ui"]))
        if self._tasks.qsize() < MAX_UNHEARD:
            self._tasks.put(("frame", frame))
        elif not self._is_deaf:
            self._is_deaf = True
            self._tell(RpcError("overflow", "Listeners are too slow: they miss frames"))

    def _receive_first(self, frame: Frame) -> None:
        starting, self._starting = cast("Future[types.ReadyFrame]", self._starting), None
        if frame["type"] == "ready":
            starting.set_result(cast(types.ReadyFrame, frame))
        else:
            text = f'The agent began with "{frame["type"]}" instead of "ready"'
            starting.set_exception(RpcError("start_failed", text))

    def _receive_problem(self, problem: str) -> None:
        error = RpcError("protocol", f"The agent wrote what is no frame: {problem}")
        with self._lock:
            starting, self._starting = self._starting, None
        if starting is not None:
            starting.set_exception(error)
        else:
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
            self._connection, self._last_exit = None, exit
            how = "The agent was stopped" if exit.is_expected else f"The agent ended with code {exit.code}"
            text = ": ".join(part for part in (how, exit.stderr.strip()) if part)

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
        self._host_tools.cancel_all()
        self._dialogs.cancel_all()
        self._tasks.put(("exit", exit))
        self._tasks.put(None)

    # Listeners

    def _listen(self, kind: str, listener: Callable[[Any], object]) -> Remove:
        def own(value: Any) -> object:  # so that the same function added twice is called twice
            return listener(value)

        with self._lock:
            self._listeners[kind].append(own)

        def remove() -> None:
            with self._lock:
                if own in self._listeners[kind]:
                    self._listeners[kind].remove(own)

        return remove

    def _poke(self) -> None:
        """Somebody waits: the dispatcher looks at the time again."""
        self._tasks.put(("poke", None))

    def _dispatch(self, tasks: "queue.Queue[Optional[Tuple[str, Any]]]") -> None:
        while True:
            with self._lock:
                patience = 0.1 if self._activity.is_waited_for() else None
            try:
                task = tasks.get(timeout=patience)
            except queue.Empty:
                self._probe_if_quiet()
                continue
            if task is None:
                return
            kind, value = task
            if kind == "frame":
                self._deliver(value)
            else:
                self._call(kind, value)

    def _probe_if_quiet(self) -> None:
        """An agent may be older than `agent_settled`, or filter its events."""
        with self._lock:
            if not self._activity.wants_probe() or self._connection is None or not self._connection.is_open:
                return
            asked = self._activity.asked()
            _, future = self._issue("get_state", {})

        def answered(done: "Future[Any]") -> None:
            if done.exception() is None:
                with self._lock:
                    self._activity.probed(asked)

        future.add_done_callback(answered)

    def _deliver(self, frame: Frame) -> None:
        self._call("frame", frame)
        if frame["type"] == "response":
            return
        if frame["type"] not in EVENT_TYPES:
            return self._call("unknown", frame)
        if frame["type"] == "extension_ui_request":
            self._call("ui", frame)
        self._call("event", frame)
        self._call(f"event:{frame['type']}", frame)

    def _call(self, kind: str, value: Any) -> None:
        with self._lock:
            listeners = list(self._listeners.get(kind, ()))
        for listener in listeners:
            try:
                listener(value)
            except Exception as raised:
                if kind == "problem":
                    logger.exception("A listener for problems raised")
                else:
                    self._tell_raised(raised)

    def _tell_raised(self, raised: BaseException) -> None:
        error = RpcError("listener", f"A listener raised: {raised}")
        error.__cause__ = raised
        self._tell(error)

    def _tell(self, error: RpcError) -> None:
        if self._listeners.get("problem"):
            self._tasks.put(("problem", error))
        else:
            logger.warning("%s", error, exc_info=error.__cause__)


def error_of(done: "Future[Any]") -> Optional[RpcError]:
    return cast(Optional[RpcError], done.exception())


def finish(target: "Future[None]", source: "Future[None]") -> None:
    if source.exception() is not None:
        target.set_exception(cast(BaseException, source.exception()))
    else:
        target.set_result(None)
