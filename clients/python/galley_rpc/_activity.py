"""Whether the agent works, and what became of each prompt. It is told every frame in the order of the wire, so that
nothing that already happened can be missed; where an agent does not say it all by events, it is asked.

Not thread-safe: the client calls it with its lock held.
"""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Dict, List, Optional, Set

from ._wire import Frame
from .errors import RpcError

#: How long silence lasts before the agent is asked: not long when a run has ended.
CLOSING_PROBE_SECONDS = 0.25
OTHER_PROBE_SECONDS = 5.0
MAX_REMEMBERED = 256
PROMPTS = frozenset({"prompt", "abort_and_prompt"})


@dataclass(frozen=True)
class PromptOutcome:
    """How a prompt ended. A failing model is an outcome; a prompt that never ran is an error."""

    #: "completed", "aborted" or "error"
    status: str
    #: False when the prompt was dealt with without the model.
    agent_invoked: bool
    #: The text of the last reply.
    text: str
    error: Optional[Dict[str, Any]] = None
    #: "started", "queued" or "handled", as the agent accepted it; older agents say nothing.
    disposition: Optional[str] = None


@dataclass(eq=False)
class Prompt:
    #: `open`: nothing has run for it yet, so the agent counts as busy.
    state: str = "sent"
    #: Accepted while the run before it closed: the end of that one is not its end.
    is_after_closing: bool = False
    is_awaited: bool = False
    #: What it says, to know its message by.
    message: Any = None
    #: Its message may come before the run has answered another.
    is_steering: bool = False
    #: Its message has gone to the model; until then the replies are to others.
    is_begun: bool = False
    disposition: Optional[str] = None
    #: The last reply to it, known when the message of another prompt follows.
    reply: "Optional[PromptOutcome]" = None
    outcome: "Future[PromptOutcome]" = field(default_factory=Future)


NO_REPLY = PromptOutcome("completed", True, "")


def failure_of(response: Frame, kind: Any, request_id: Optional[str] = None, command: Optional[str] = None) -> RpcError:
    code = response.get("code")
    return RpcError(
        kind,
        str(response.get("error")),
        command=command or str(response.get("command")),
        code=code if isinstance(code, str) else None,
        request_id=request_id,
    )


def list_of(data: Any, key: str) -> List[Any]:
    """Older agents leave lists out."""
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, list) else []


class Activity:
    def __init__(self, on_late_failure: Callable[[RpcError], None], on_command_end: Callable[[], None]) -> None:
        #: The agent announces the end of each prompt by `prompt_result`.
        self.has_prompt_results = False
        self._on_late_failure = on_late_failure
        #: A prompt has ended that was a command of an extension's, perhaps: it may have opened another session.
        self._on_command_end = on_command_end
        self._prompts: Dict[str, Prompt] = {}
        self._live: Set[Prompt] = set()
        #: What was sent that is no prompt, by `steer` and `follow_up`, and has not gone to the model yet.
        self._beside: Set[str] = set()
        self._idle_waiters: List["Future[None]"] = []
        self._phase = "idle"
        #: The last run has said its end, and nothing has said since that it is settled: an idle answer may have come, to
        #: what the client asks for other reasons, but only a question of its own ends the prompts.
        self._is_run_over = False
        self._reply = NO_REPLY
        #: The last reply is a whole one, behind which the model would have stopped.
        self._is_answered = False
        self._last_frame = time.monotonic()

    def sent(self, request_id: str, command: str, fields: Dict[str, Any]) -> None:
        message = fields.get("message")
        if command not in PROMPTS:
            if isinstance(message, str):
                self._beside.add(message)
            return
        is_steering = fields.get("streamingBehavior") == "steer"
        prompt = self._prompts[request_id] = Prompt(message=message, is_steering=is_steering)
        self._live.add(prompt)
        done = [key for key, old in self._prompts.items() if old.state == "done"]
        for key in done[: max(0, len(self._prompts) - MAX_REMEMBERED)]:
            del self._prompts[key]

    def forget(self, request_id: str) -> None:
        """Refused, or given up before the acceptance; should it run all the same, then its events say so."""
        prompt = self._prompts.get(request_id)
        if prompt is not None and prompt.state == "sent":
            del self._prompts[request_id]
            self._live.discard(prompt)
            self._wake_if_idle()

    def outcome(self, request_id: str) -> "Optional[Future[PromptOutcome]]":
        prompt = self._prompts.get(request_id)
        if prompt is None:
            return None
        prompt.is_awaited = True
        return prompt.outcome

    @property
    def is_idle(self) -> bool:
        return self._phase == "idle" and all(prompt.state == "taken" for prompt in self._live)

    def when_idle(self) -> "Future[None]":
        future: "Future[None]" = Future()
        self._idle_waiters.append(future)
        self._wake_if_idle()
        return future

    def see(self, frame: Frame) -> None:
        self._last_frame = time.monotonic()
        kind = frame["type"]
        if kind == "response":
            self._see_response(frame)
        elif kind == "agent_start":
            self._started()
        elif kind == "agent_end":
            self._is_run_over = frame.get("isTerminal") is not False
            self._phase = "closing" if self._is_run_over else "running"
        elif kind == "message_end":
            self._see_message(frame.get("message"))
        elif kind == "agent_settled":
            self._settled()
        elif kind == "prompt_result":
            self._finish(frame)
        self._wake_if_idle()

    def fail(self, error: RpcError) -> None:
        """The process is gone: no caller waits any longer."""
        self._phase, self._is_run_over = "idle", False
        for prompt in list(self._live):
            self._close(prompt).set_exception(error)
        waiters, self._idle_waiters = self._idle_waiters, []
        for waiter in waiters:
            if waiter.set_running_or_notify_cancel():
                waiter.set_exception(error)

    def is_waited_for(self) -> bool:
        return bool(self._idle_waiters) or (not self.has_prompt_results and bool(self._live))

    def wants_probe(self) -> bool:
        is_over = self._is_run_over and any(prompt.state == "taken" for prompt in self._live)
        patience = CLOSING_PROBE_SECONDS if is_over or self._phase == "closing" else OTHER_PROBE_SECONDS
        return self.is_waited_for() and time.monotonic() - self._last_frame >= patience

    def asked(self) -> List[Prompt]:
        """The prompts that an idle answer to a question asked now would end."""
        self._last_frame = time.monotonic()
        return [prompt for prompt in self._live if prompt.state != "sent"]

    def probed(self, asked: List[Prompt]) -> None:
        """The agent has answered, and `see` has seen it."""
        if self._phase == "idle" and not self.has_prompt_results:
            for prompt in asked:
                if prompt in self._live:
                    self._end_of_run(prompt, "completed")
            self._wake_if_idle()

    def _see_response(self, response: Frame) -> None:
        data = response.get("data")
        if response.get("command") == "get_state" and isinstance(data, dict):
            if data.get("isStreaming") is False:
                self._phase = "idle"
            elif data.get("isStreaming") is True and self._phase == "idle":
                self._phase, self._is_run_over = "running", False
        if response.get("command") == "negotiate_protocol" and response.get("success") is True:
            self.has_prompt_results = "prompt-result" in list_of(data, "features")
        request_id = response.get("id") or response.get("requestId")
        prompt = self._prompts.get(request_id) if isinstance(request_id, str) else None
        if prompt is None or prompt.state == "done":
            return
        if response.get("success") is not True:
            is_late = prompt.state != "sent"
            error = failure_of(response, "late" if is_late else "refused", str(request_id))
            if is_late and not prompt.is_awaited:
                self._on_late_failure(error)
            self._close(prompt).set_exception(error)
        elif prompt.state == "sent":
            prompt.state = "taken" if self._phase == "running" else "open"
            prompt.is_after_closing = self._phase == "closing"
            if isinstance(data, dict):
                prompt.disposition = data.get("disposition")
                if data.get("agentInvoked") is False:
                    self._resolve(prompt, PromptOutcome("completed", False, ""))

    def _started(self) -> None:
        self._phase, self._is_run_over = "running", False
        self._reply = NO_REPLY
        self._is_answered = False
        for prompt in self._live:
            if prompt.state == "open":
                prompt.state = "taken"
                prompt.is_after_closing = False

    def _see_message(self, message: Any) -> None:
        if not isinstance(message, dict):
            return
        content = message.get("content")
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        text = "".join(str(block.get("text")) for block in blocks if block.get("type") == "text")
        if message.get("role") == "user":
            return self._begin(text)
        if message.get("role") != "assistant":
            return
        reason = message.get("stopReason")
        self._is_answered = reason not in ("error", "aborted", "toolUse")
        error = {"message": str(message.get("errorMessage"))} if reason == "error" else None
        self._reply = PromptOutcome(reason if reason in ("error", "aborted") else "completed", True, text, error)

    def _begin(self, text: str) -> None:
        """Which prompt a message of the run is: the one that says so, or the next, for the agent may have made more of it."""
        waiting = [prompt for prompt in self._prompts.values() if prompt.state == "taken" and not prompt.is_begun]
        is_their_turn = self._is_answered or not any(prompt.is_begun for prompt in self._live)
        begun = next((prompt for prompt in waiting if prompt.message == text), None)
        if begun is None and text not in self._beside:
            begun = next((prompt for prompt in waiting if is_their_turn or prompt.is_steering), None)
        if begun is None:
            return self._beside.discard(text)  # it steers what runs
        for prompt in self._live:
            if self._is_answered and prompt.is_begun and prompt.reply is None:
                prompt.reply = self._reply
        begun.is_begun = True
        self._is_answered = False

    def _settled(self) -> None:
        self._phase, self._is_run_over = "idle", False
        for prompt in list(self._live):
            if prompt.is_after_closing:
                prompt.is_after_closing = False
            elif prompt.state != "sent":
                self._end_of_run(prompt, "aborted")

    def _end_of_run(self, prompt: Prompt, otherwise: str) -> None:
        """With `prompt_result` a prompt that is only queued stays open beyond the run. `otherwise`: if nothing ran."""
        outcome = prompt.reply or self._reply if prompt.state == "taken" else PromptOutcome(otherwise, False, "")
        if self.has_prompt_results:
            prompt.state = "taken"
        else:
            self._resolve(prompt, outcome)

    def _finish(self, frame: Frame) -> None:
        prompt = self._prompts.get(str(frame.get("id")))
        if prompt is None or prompt.state == "done":
            return
        agent_invoked = frame.get("agentInvoked") is True
        text = (prompt.reply or self._reply).text if agent_invoked else ""
        self._resolve(prompt, PromptOutcome(str(frame.get("status")), agent_invoked, text, frame.get("error")))

    def _resolve(self, prompt: Prompt, outcome: PromptOutcome) -> None:
        if not outcome.agent_invoked or str(prompt.message).startswith("/"):
            self._on_command_end()
        self._close(prompt).set_result(replace(outcome, disposition=prompt.disposition))

    def _close(self, prompt: Prompt) -> "Future[PromptOutcome]":
        prompt.state = "done"
        prompt.message = None  # outcomes are remembered, prompts need not be
        self._live.discard(prompt)
        if not self._live:
            self._beside.clear()  # nothing is left to be told apart
        return prompt.outcome

    def _wake_if_idle(self) -> None:
        if self._idle_waiters and self.is_idle:
            waiters, self._idle_waiters = self._idle_waiters, []
            for waiter in waiters:
                if waiter.set_running_or_notify_cancel():
                    waiter.set_result(None)
