"""The ways to hear an agent: listeners for everything, for one type, for what is unknown or went wrong; loops; and the
last few events. Listeners are called in a thread of their own, one after the other, and may use the client."""

from __future__ import annotations

import collections
import logging
import queue
import threading
import time
import weakref
from typing import Any, Callable, Deque, Dict, Iterator, List, Optional, Tuple, Union

from . import types
from ._commands import SyncCommands
from ._process import AgentExit
from ._wire import Frame
from .errors import RpcError

logger = logging.getLogger("galley_rpc")

EVENT_TYPES = frozenset(types.EVENT_TYPES)
#: How many frames may wait for slow listeners before they miss some.
MAX_UNHEARD = 100_000

Remove = Callable[[], None]
Task = Optional[Tuple[str, Any]]


class EventStream:
    """Events as a loop reads them. A loop that falls behind by more than the limit gets an error, never a gap. One that is
    left keeps nothing: the client holds no stream that the program has dropped; `with` closes it at once."""

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

    def until(self, deadline: float, late: Callable[[], RpcError]) -> Iterator[types.Event]:
        """To its end, or to the deadline, behind which comes the error."""
        while True:
            rest = deadline - time.monotonic()
            if rest <= 0 and not self._is_ended:
                self.end(late())
            try:
                # When it has ended there is something to get.
                event = self._get(None if self._is_ended or rest > threading.TIMEOUT_MAX else rest)
            except queue.Empty:
                continue
            except StopIteration:
                return
            yield event

    def __enter__(self) -> "EventStream":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> "EventStream":
        return self

    def __next__(self) -> types.Event:
        return self._get(None)

    def _get(self, seconds: Optional[float]) -> types.Event:
        item = self._queue.get(timeout=seconds)
        if item is None or isinstance(item, RpcError):
            self._queue.put(None)
            raise item or StopIteration
        return item


class RpcEvents(SyncCommands):
    """Each of the functions that take a listener returns the one that takes it away."""

    def __init__(self, max_event_history: int, max_unread_events: int) -> None:
        self._lock = threading.RLock()
        self._max_unread_events = max_unread_events
        self._history: Deque[types.Event] = collections.deque(maxlen=max_event_history)
        #: Weak, so that a loop that is left by `break` is not filled for ever. Changed and read with the lock held.
        self._sinks: "weakref.WeakSet[Any]" = weakref.WeakSet()
        self._listeners: Dict[str, List[Callable[[Any], object]]] = collections.defaultdict(list)
        self._tasks: "queue.Queue[Task]" = queue.Queue()
        self._is_dispatching = False
        self._is_deaf = False

    @property
    def is_running(self) -> bool:
        raise NotImplementedError

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
        """What no call can tell: unreadable lines, failures of no request, late failures that no caller awaits, listeners that
        raise. Without a listener it goes to the log `galley_rpc`."""
        return self._listen("problem", listener)

    def events(self) -> EventStream:
        """Events from now on, until the agent ends or the stream is closed."""
        with self._lock:
            return self._opened(EventStream(self._max_unread_events, self._drop))

    @property
    def history(self) -> List[types.Event]:
        """The last events, oldest first."""
        with self._lock:
            return list(self._history)

    # Inside

    def _opened(self, stream: Any) -> Any:
        if self.is_running:
            self._sinks.add(stream)
        else:
            stream.end()
        return stream

    def _drop(self, stream: Any) -> None:
        with self._lock:
            self._sinks.discard(stream)

    def _start_dispatching(self) -> None:
        self._tasks, self._is_deaf = queue.Queue(), False
        work = threading.Thread(target=self._dispatch, args=(self._tasks,), name="galley-rpc-dispatch", daemon=True)
        work.start()
        self._is_dispatching = True

    def _dispatch(self, tasks: "queue.Queue[Task]") -> None:
        while True:
            task = tasks.get()
            if task is None:
                with self._lock:
                    if tasks.empty():
                        self._is_dispatching = self._is_dispatching and self._tasks is not tasks
                        return
                tasks.put(None)  # behind what the listeners of the end raised
                continue
            kind, value = task
            if kind == "frame":
                self._deliver(value)
            else:
                self._call(kind, value)

    @staticmethod
    def _end_events(tasks: "queue.Queue[Task]", exit: AgentExit) -> None:
        """The dispatcher ends when everybody was told."""
        tasks.put(("exit", exit))
        tasks.put(None)

    def _see_event(self, frame: Frame) -> bool:
        """For loops and the history, in the order of the wire; False if this is no event."""
        if frame["type"] not in EVENT_TYPES:
            return False
        self._history.append(frame)  # type: ignore[arg-type]
        for sink in list(self._sinks):
            sink.push(frame)
        return True

    def _tell_frame(self, frame: Frame) -> bool:
        """For listeners, in their own time; False if they are too slow for it, which is told once until they
        have caught up by half."""
        unheard, was_deaf = self._tasks.qsize(), self._is_deaf
        self._is_deaf = unheard >= (MAX_UNHEARD // 2 if was_deaf else MAX_UNHEARD)
        if unheard < MAX_UNHEARD:
            self._tasks.put(("frame", frame))
            return True
        if not was_deaf:
            self._tell(RpcError("overflow", "Listeners are too slow: they miss frames"))
        return False

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
            except BaseException as raised:  # one that wants to exit, too: the thread is for all of them
                if kind == "problem":
                    logger.exception("A listener for problems raised")
                else:
                    self._tell_raised(raised)

    def _tell_raised(self, raised: BaseException) -> None:
        error = RpcError("listener", f"A listener raised: {str(raised) or type(raised).__name__}")
        error.__cause__ = raised
        self._tell(error)

    def _tell(self, error: RpcError) -> None:
        with self._lock:
            if self._listeners.get("problem") and self._tasks.qsize() < 2 * MAX_UNHEARD:
                is_late = not self._is_dispatching
                if is_late:  # the agent has ended, and something of the host's still ran
                    self._start_dispatching()
                self._tasks.put(("problem", error))
                return self._tasks.put(None) if is_late else None
        logger.warning("%s", error, exc_info=error.__cause__)
