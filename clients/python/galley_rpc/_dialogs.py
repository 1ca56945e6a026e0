"""What extensions of the agent show and ask. Each question runs in a thread of its own and ends with one answer, or is
taken back and answers nothing; notices are shown one after the other."""

from __future__ import annotations

import collections
import threading
from typing import Any, Callable, Deque, Dict, List, Mapping, Optional

from ._calls import CallContext, OpenCalls, Report, Send, run_in_thread
from ._wire import Frame
from .errors import RpcError

#: One function per method of a dialog, called with the request and its context. A question without one, or answered by
#: `None`, is cancelled; silence and failure never count as consent.
UiHandlers = Mapping[str, Callable[[Frame, CallContext], Any]]

QUESTIONS = ("select", "confirm", "input", "editor")
#: How many notices may wait to be shown before some are left out.
MAX_UNSHOWN = 10_000


class OneByOne:
    """Does work in the order in which it comes, in a thread that lives as long as there is some."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: Deque[Callable[[], None]] = collections.deque()
        self._is_working = False
        self._is_behind = False

    def add(self, work: Callable[[], None]) -> bool:
        """False when it begins to leave some out, since too much waits."""
        with self._lock:
            was_behind, waiting = self._is_behind, len(self._waiting)
            self._is_behind = waiting >= (MAX_UNSHOWN // 2 if was_behind else MAX_UNSHOWN)
            if waiting >= MAX_UNSHOWN:
                return was_behind
            self._waiting.append(work)
            is_first, self._is_working = not self._is_working, True
        if is_first:
            try:
                run_in_thread(self._work)
            except BaseException:
                self._is_working = False
                raise
        return True

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._is_working = False
                    return
                work = self._waiting.popleft()
            work()


class Dialogs:
    def __init__(self, send: Send, report: Report, tell: Callable[[RpcError], None]) -> None:
        self._send, self._report, self._tell = send, report, tell
        self._calls = OpenCalls()
        self._notices = OneByOne()
        self.handlers: Optional[UiHandlers] = None

    def see(self, frame: Frame, is_left_to_host: bool) -> None:
        request_id, method = frame.get("id"), frame.get("method")
        if not isinstance(request_id, str) or not isinstance(method, str):
            return
        if method == "cancel":
            self._calls.cancel(frame.get("targetId"))
        elif self.handlers is None and is_left_to_host:
            return
        elif method in QUESTIONS:
            run_in_thread(self._prepare(request_id, method, frame))
        elif self.handlers is not None and method in self.handlers:
            self._notice(method, frame)

    def take_all(self) -> List[CallContext]:
        return self._calls.take_all()

    def _notice(self, method: str, frame: Frame) -> None:
        """One after the other, for the last status must be the one that stays."""
        if not self._notices.add(lambda: self._show(method, frame)):
            self._tell(RpcError("overflow", "Notices are shown too slowly: some are left out"))

    def _show(self, method: str, frame: Frame) -> None:
        try:
            (self.handlers or {})[method](frame, CallContext(self._report))
        except BaseException as error:
            self._report(error)

    def _prepare(self, request_id: str, method: str, frame: Frame) -> Callable[[], None]:
        context = CallContext(self._report)
        self._calls.add(request_id, context)
        handler = (self.handlers or {}).get(method)

        def answer(**fields: Any) -> None:
            if self._calls.end(request_id, context):
                self._send({"type": "extension_ui_response", "id": request_id, **fields})

        def late() -> None:
            answer(cancelled=True, timedOut=True)
            context.cancel()

        def work() -> None:
            timer: Optional[threading.Timer] = None
            timeout = frame.get("timeout")
            if isinstance(timeout, (int, float)) and timeout <= threading.TIMEOUT_MAX * 1000:
                timer = threading.Timer(timeout / 1000, late)
                timer.daemon = True
                timer.start()
            try:
                value = handler(frame, context) if handler else None
                if isinstance(value, bool if method == "confirm" else str):
                    answer(**({"confirmed": value} if method == "confirm" else {"value": value}))
                else:
                    answer(cancelled=True)
            except BaseException as error:
                is_wanted = not context.cancelled.is_set()
                answer(cancelled=True)
                if is_wanted:
                    self._report(error)
            finally:
                if timer is not None:
                    timer.cancel()

        return work


def headless_handlers(
    confirm: bool, select: Optional[str], input: Optional[str], editor: Optional[str]
) -> Dict[str, Callable[[Frame, CallContext], Any]]:
    answers: Dict[str, Any] = {"confirm": confirm, "select": select, "input": input, "editor": editor}
    return {method: (lambda value: lambda request, context: value)(value) for method, value in answers.items()}
