"""Every wait ends, whatever the agent says or leaves out: deadlines, agents that are asked, what was agreed since."""

from __future__ import annotations

import math
import threading
import time
from typing import Any, List
from unittest import mock

from galley_rpc import PromptOutcome, RpcError

from .support import END, SETTLED, START, FakeCase, Frame, ok, rule, said, within

RUN = (ok("prompt"), START, said("Hi"), END, SETTLED)
#: What an agent says at the end of a run that is older than `agent_settled`.
OLD_END: Frame = {"type": "agent_end", "messages": []}
IDLE, BUSY = (ok("get_state", data={"isStreaming": value}) for value in (False, True))


class Agreed(FakeCase):
    def test_what_is_agreed_later_counts_from_then_on(self) -> None:
        result = {"type": "prompt_result", "id": "$id", "agentInvoked": True, "status": "aborted"}
        client = self.started(
            rule("prompt", *RUN, message="without"),
            rule("prompt", *RUN, result, message="with"),
            ready={"features": ["prompt-result", "delta-updates"]},
        )
        client.negotiate_protocol(2, features=["delta-updates"])
        self.assertEqual(client.prompt_and_wait("without", timeout=15), PromptOutcome("completed", True, "Hi"))
        client.negotiate_protocol(2, features=["prompt-result"])
        self.assertEqual(client.prompt_and_wait("with", timeout=15).status, "aborted")


class Asked(FakeCase):
    def test_an_agent_that_does_not_say_whether_it_is_idle(self) -> None:
        client = self.started(rule("get_state"), rule("prompt", ok("prompt"), START), request_timeout=0.2)
        error = within(15, lambda: self.failure(client.wait_for_idle))
        self.assertEqual((error.kind, error.message), ("timeout", "No answer to get_state within 0.2 s"))
        client.prompt("x", timeout=15)
        deadline = time.monotonic() + 15
        while client._pending and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(client._pending, {}, "what is not answered is forgotten")

    def test_it_is_asked_once_at_a_time(self) -> None:
        client = self.started(rule("get_state", BUSY, times=2), rule("get_state"), rule("prompt", ok("prompt"), START))
        client.prompt("x")
        client.get_entries()
        with mock.patch("galley_rpc._activity.OTHER_PROBE_SECONDS", 0.0):
            self.assertEqual(self.failure(client.wait_for_idle, timeout=0.5).kind, "timeout")
        self.assertEqual(len(self.log(client, "get_state")), 3)

    def test_a_listener_may_wait_for_an_agent_that_has_to_be_asked(self) -> None:
        client = self.started(
            rule("prompt", ok("prompt"), START, said("Old"), OLD_END),
            rule("get_state", BUSY, times=2),
            rule("get_state", IDLE),
        )
        ends: List[Any] = []
        done = threading.Event()

        def wait(_: Any) -> None:
            try:
                ends.append(client.wait_for_idle(timeout=4))
            except RpcError as error:
                ends.append(error)
            done.set()

        client.on("agent_end", wait)
        self.assertEqual(client.prompt_and_wait("x", timeout=15).text, "Old")
        self.assertTrue(done.wait(15))
        self.assertEqual(ends, [None])

    def test_that_the_client_asks_for_the_session_file_does_not_put_off_the_end(self) -> None:
        client = self.started(rule("prompt", ok("prompt"), START, said("Old"), OLD_END), rule("get_state", IDLE))
        with mock.patch("galley_rpc._activity.OTHER_PROBE_SECONDS", 60.0):
            for _ in range(2):
                self.assertEqual(client.prompt_and_wait("x", timeout=4).text, "Old")

    def test_a_prompt_that_has_not_begun_is_given_time_after_one_that_ended_so(self) -> None:
        client = self.started(
            rule("prompt", ok("prompt"), START, said("Old"), OLD_END, times=1),
            rule("prompt", ok("prompt")),
            rule("get_state", IDLE),
        )
        with mock.patch("galley_rpc._activity.OTHER_PROBE_SECONDS", 60.0):
            client.prompt_and_wait("x", timeout=15)
            self.assertEqual(self.failure(client.prompt_and_wait, "y", timeout=0.7).kind, "timeout")


class Deadlines(FakeCase):
    def test_of_a_stream_it_is_for_the_whole_run(self) -> None:
        client = self.started(rule("prompt", ok("prompt"), START, said("Hi")))
        for pause in (0.0, 0.6):
            seen: List[str] = []

            def read() -> None:
                for event in client.stream("x", timeout=0.5):
                    seen.append(event["type"])
                    time.sleep(pause)

            error = within(15, lambda: self.failure(read))
            self.assertEqual((error.kind, error.command), ("timeout", "prompt"))
            self.assertEqual(seen, ["agent_start", "message_end"], "what waits is still read")
        self.assertEqual(len(client._sinks), 0)

    def test_the_error_names_the_command(self) -> None:
        client = self.started(rule("abort_and_prompt"))
        self.assertEqual(self.failure(client.abort_and_prompt, "x", timeout=0.05).command, "abort_and_prompt")

    def test_stop_may_wait_for_ever(self) -> None:
        self.assertEqual(self.started().stop(math.inf), 0)
