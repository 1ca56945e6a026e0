"""What the client asks the agent on its own account: whether it is idle, and which session file it has. Such a question
has the deadline of any request, kept by a thread of its own, so that neither listeners nor the agent can hold it up."""

from __future__ import annotations

import concurrent.futures
import threading
import time
from typing import Any, Dict, Optional, Sequence, cast

from ._calls import HostTool
from ._core import Future, RpcCore
from ._process import AgentExit
from .errors import RpcError

#: How often the watch looks while a caller waits.
LOOK_SECONDS = 0.1


class RpcQuestions(RpcCore):
    def __init__(self, custom_tools: Sequence[HostTool], request_timeout: float, **events: int) -> None:
        super().__init__(custom_tools, request_timeout, **events)
        #: When each of the questions is given up.
        self._asked: Dict[str, float] = {}
        self._probe: "Optional[Future[Any]]" = None
        self._wake = threading.Event()
        self._is_session_file_sure = False
        #: Done when the agent has told its session file, or does not.
        self._learning: "Optional[Future[Any]]" = None

    def _ask(self) -> "Future[Any]":
        with self._lock:
            request_id, future = self._issue("get_state", {})
            self._asked[request_id] = time.monotonic() + self._request_timeout
            return future

    # Idleness

    def _when_idle(self) -> "Future[None]":
        """Asks the agent when it looks idle from here."""
        with self._lock:
            if not self._activity.is_idle:
                self._poke()
                return self._activity.when_idle()
        idle: "Future[None]" = Future()

        def answered(done: "Future[Any]") -> None:
            if done.exception() is not None:
                return idle.set_exception(cast(BaseException, done.exception()))
            with self._lock:
                waiter = self._activity.when_idle()
            waiter.add_done_callback(lambda end: finish(idle, end))
            self._poke()

        self._ask().add_done_callback(answered)
        return idle

    def _on_quiet(self) -> None:
        """An agent may be older than `agent_settled`, or filter its events."""
        if not self._activity.wants_probe() or self._connection is None or not self._connection.is_open:
            return
        if self._probe is not None and not self._probe.done():
            return
        asked = self._activity.asked()
        try:
            self._probe = self._ask()
        except RpcError:
            return  # it does not read what it is sent, or has just ended: it is asked again, or its end tells everybody

        def answered(done: "Future[Any]") -> None:
            if done.exception() is None:
                with self._lock:
                    self._activity.probed(asked)

        self._probe.add_done_callback(answered)

    # The session file

    def _learn(self) -> None:
        """The answer comes by `_receive`; without one the file known so far stays."""
        self._is_session_file_sure = False
        try:
            self._learning = self._ask()
        except RpcError:
            pass  # it has ended already, and the next call says so

    def _make_sure(self) -> None:
        """A new session may have no file before its first prompt."""
        if not self._is_session_file_sure:
            self._learn()
        self._is_session_file_sure = True

    def _rest(self, deadline: float) -> Optional[float]:
        """How long to wait for the session file: no longer than the caller does, who has his own answer already."""
        return self._deadline("get_state", min(self._request_timeout, max(0.0, deadline - time.monotonic())))

    def _learned(self, deadline: float) -> None:
        if self._learning is not None:
            concurrent.futures.wait([self._learning], self._rest(deadline))

    # The watch

    def _start_watch(self) -> None:
        wake = self._wake = threading.Event()
        threading.Thread(target=self._watch, args=(wake,), name="galley-rpc-watch", daemon=True).start()

    def _end_watch(self) -> None:
        with self._lock:
            wake, self._wake = self._wake, threading.Event()
            wake.set()

    def _ended(self, exit: AgentExit) -> None:
        self._end_watch()  # first: after the end another thread may start the next one
        super()._ended(exit)

    def _poke(self) -> None:
        self._wake.set()

    def _watch(self, wake: threading.Event) -> None:
        while True:
            with self._lock:
                if self._wake is not wake:
                    return
                wake.clear()
                self._give_up_unanswered()
                self._on_quiet()
                is_waited_for = bool(self._asked) or self._activity.is_waited_for()
            wake.wait(LOOK_SECONDS if is_waited_for else None)

    def _give_up_unanswered(self) -> None:
        now = time.monotonic()
        self._asked = {key: deadline for key, deadline in self._asked.items() if key in self._pending}
        for request_id in [key for key, deadline in self._asked.items() if deadline <= now]:
            _, future = self._pending[request_id]
            future.set_exception(self._timed_out("get_state", request_id, self._request_timeout))


def finish(target: "Future[None]", source: "Future[None]") -> None:
    if source.exception() is not None:
        target.set_exception(cast(BaseException, source.exception()))
    else:
        target.set_result(None)
