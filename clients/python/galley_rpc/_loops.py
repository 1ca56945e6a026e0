"""What crosses from the threads of the client into a loop of asyncio: events that a loop reads, calls of listeners, and
the other way round, work that would block the loop. Nothing piles up in a loop that is busy, or waits for one that is
closed."""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import inspect
import threading
from typing import Any, Awaitable, Callable, Deque, Optional, Set

from . import types
from .errors import RpcError

#: How many calls of listeners may be on their way or under way in a loop.
MAX_IN_LOOP = 1000
#: After so many events without a pause, a reader lets the other tasks of the loop work.
MAX_WITHOUT_PAUSE = 100
#: How often a thread that waits for a loop looks whether it is closed.
LOOK_SECONDS = 1.0
#: Streams that a task waits for: a loop holds its tasks only weakly, and the client its streams.
_awaited: "Set[AsyncEventStream]" = set()


class AsyncEventStream:
    """Events as an `async for` reads them; see EventStream. `async with` closes it at once."""

    def __init__(self, loop: asyncio.AbstractEventLoop, limit: int, on_close: Callable[[Any], None]) -> None:
        self._loop, self._limit, self._on_close = loop, limit, on_close
        self._lock = threading.Lock()
        self._unread: Deque[types.Event] = collections.deque()
        self._without_pause = 0
        self._news = asyncio.Event()
        self._is_asleep = False
        self._is_ended = False
        self._error: Optional[RpcError] = None

    def push(self, event: types.Event) -> None:
        with self._lock:
            if self._is_ended:
                return
            self._unread.append(event)
            is_too_much = len(self._unread) > self._limit
            self._wake()
        if is_too_much:
            self.end(RpcError("overflow", f"More than {self._limit} events wait to be read"))

    def end(self, error: Optional[RpcError] = None) -> None:
        """What waits is still read first."""
        with self._lock:
            if self._is_ended:
                return
            self._is_ended, self._error = True, error
            self._wake()
        self._on_close(self)

    def _wake(self) -> None:
        if self._is_asleep:
            self._is_asleep = False
            try:
                self._loop.call_soon_threadsafe(self._news.set)
            except RuntimeError:  # the loop is closed: nothing reads this any more
                _awaited.discard(self)

    async def aclose(self) -> None:
        self.end()

    async def __aenter__(self) -> "AsyncEventStream":
        return self

    async def __aexit__(self, *_: object) -> None:
        self.end()

    def __aiter__(self) -> "AsyncEventStream":
        return self

    async def __anext__(self) -> types.Event:
        self._without_pause += 1
        if self._without_pause > MAX_WITHOUT_PAUSE:
            self._without_pause = 0
            await asyncio.sleep(0)
        while True:
            with self._lock:
                if self._unread:
                    return self._unread.popleft()
                if self._is_ended:
                    error, self._error = self._error, None
                    raise error or StopAsyncIteration
                self._news.clear()
                self._is_asleep = True
            self._without_pause = 0
            _awaited.add(self)
            try:
                await self._news.wait()
            finally:
                _awaited.discard(self)


class LoopCalls:
    """Calls listeners in one loop, in order. The caller waits while too many are under way; when the loop is closed,
    nothing is called."""

    def __init__(self, loop: asyncio.AbstractEventLoop, report: Callable[[BaseException], None]) -> None:
        self.loop, self._report = loop, report
        self._slots = threading.Semaphore(MAX_IN_LOOP)
        self._tasks: "Set[asyncio.Future[Any]]" = set()

    def call(self, listener: Callable[[Any], object], value: Any) -> None:
        while not self._slots.acquire(timeout=LOOK_SECONDS):
            if self.loop.is_closed():
                return
        try:
            self.loop.call_soon_threadsafe(self._call, listener, value)
        except RuntimeError:  # the loop is closed
            self._slots.release()

    def _call(self, listener: Callable[[Any], object], value: Any) -> None:
        task: "Optional[asyncio.Future[Any]]" = None
        try:
            result = listener(value)
            if inspect.isawaitable(result):
                task = asyncio.ensure_future(result)
                self._tasks.add(task)  # the loop keeps only a weak reference
                task.add_done_callback(self._done)
        except Exception as raised:
            self._report(raised)
        finally:
            if task is None:
                self._slots.release()

    def _done(self, task: "asyncio.Future[Any]") -> None:
        self._tasks.discard(task)
        self._slots.release()
        if not task.cancelled() and task.exception() is not None:
            self._report(task.exception())  # type: ignore[arg-type]


def awaited_in(loop: asyncio.AbstractEventLoop, result: Awaitable[Any], on_cancel: Callable[..., None]) -> Any:
    """From a thread: what the loop awaits. `on_cancel` is told how to cancel that."""

    async def wait() -> Any:
        return await result

    waiting = wait()
    try:
        task = asyncio.run_coroutine_threadsafe(waiting, loop)
    except RuntimeError:  # the loop is closed
        waiting.close()
        if inspect.iscoroutine(result):
            result.close()
        raise
    on_cancel(task.cancel)
    while not concurrent.futures.wait([task], LOOK_SECONDS).done:
        if loop.is_closed():
            raise RuntimeError("Event loop is closed")
    return task.result()


def in_thread(work: Callable[..., Any], *args: Any) -> "asyncio.Future[Any]":
    """Not by the executor of the loop, which the host's own work may fill."""
    done: "concurrent.futures.Future[Any]" = concurrent.futures.Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            result = work(*args)
        except BaseException as raised:
            done.set_exception(raised)
        else:
            done.set_result(result)

    threading.Thread(target=run, name="galley-rpc-life", daemon=True).start()
    return heard(asyncio.wrap_future(done))


def heard(future: "asyncio.Future[Any]") -> "asyncio.Future[Any]":
    """No warning about a failure that comes after the caller has given up."""
    future.add_done_callback(lambda done: done.cancelled() or done.exception())
    return future
