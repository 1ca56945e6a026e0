"""The one error of the client. `kind` says what became of a call; `code` is the agent's own word, if it sent one."""

from __future__ import annotations

from typing import Literal, Optional

RpcErrorKind = Literal[
    "refused",  # the agent answered with a failure
    "late",  # a prompt was accepted and then could not start
    "timeout",  # no answer before the deadline of the call; the agent may still do it
    "exited",  # the agent's process ended
    "stopped",  # stop() was called, or the agent was never started
    "start_failed",
    "protocol",  # the agent wrote something that is no frame, or that answers nothing
    "overflow",  # a reader or the agent is too slow for what waits for it
    "listener",  # a listener or handler of the host raised; `__cause__` is what it raised
]


class RpcError(Exception):
    def __init__(
        self,
        kind: RpcErrorKind,
        message: str,
        *,
        command: Optional[str] = None,
        code: Optional[str] = None,
        request_id: Optional[str] = None,
        exit_code: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.kind: RpcErrorKind = kind
        self.message = message
        self.command = command
        self.code = code
        self.request_id = request_id
        self.exit_code = exit_code
