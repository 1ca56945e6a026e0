"""Calls and dialogs beside their answers: callbacks for the end, notices, updates that come too late."""

from __future__ import annotations

import threading
import time
from typing import Any, List
from unittest import mock

from galley_rpc import HostTool, HostToolContext, RpcClient

from .support import START, FakeCase, Frame, ok, rule

CALL: Frame = {"type": "host_tool_call", "id": "host_1", "toolCallId": "c", "toolName": "t", "arguments": {}}
CANCEL: Frame = {"type": "host_tool_cancel", "id": "c", "targetId": "host_1"}
ASK: Frame = {"type": "extension_ui_request", "id": "u", "method": "confirm", "title": "?", "message": "!"}
TAKE_BACK: Frame = {"type": "extension_ui_request", "id": "v", "method": "cancel", "targetId": "u"}


class Cancelled(FakeCase):
    def taken_back(self, on_cancel: Any) -> "tuple[RpcClient, List[str]]":
        """A call and a dialog, each with this callback."""
        begun = threading.Semaphore(0)
        problems: List[str] = []

        def work(_: Any, context: Any) -> str:
            context.on_cancel(lambda: on_cancel(client))
            begun.release()
            context.cancelled.wait(15)
            return "x"

        client = self.started(
            rule("abort", CALL, ASK, ok("abort")),
            rule("redo", CANCEL, TAKE_BACK, ok("redo")),
            custom_tools=[HostTool("t", "?", {}, work)],
        )
        client.set_ui_handlers({"confirm": work})
        client.on_protocol_error(lambda error: problems.append(error.message))
        client.abort()
        for _ in range(2):
            self.assertTrue(begun.acquire(timeout=15))
        client.redo(timeout=5)
        return client, problems

    def test_a_callback_that_raises_is_told_and_disturbs_nobody(self) -> None:
        client, problems = self.taken_back(lambda client: 1 / 0)
        client.get_entries(timeout=5)
        deadline = time.monotonic() + 5
        while len(problems) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(problems, ["A listener raised: division by zero"] * 2)
        self.assertEqual(self.log(client, "host_tool_result", "extension_ui_response"), [])

    def test_a_callback_may_use_the_client(self) -> None:
        answers: List[Any] = []
        answered = threading.Semaphore(0)

        def tidy(client: RpcClient) -> None:
            answers.append(client.bash("rm -f lock")["command"])
            answered.release()

        self.taken_back(tidy)
        for _ in range(2):
            self.assertTrue(answered.acquire(timeout=5))
        self.assertEqual(answers, ["rm -f lock"] * 2)

    def test_a_frame_that_cannot_be_served_ends_the_agent(self) -> None:
        """As when no thread can be started: nobody may wait for a reader that is gone."""
        client = self.started(rule("prompt", ok("prompt"), START, CALL))
        problems: List[str] = []
        told = threading.Event()
        client.on_protocol_error(lambda error: (problems.append(error.message), told.set()))
        with mock.patch("galley_rpc._calls.run_in_thread", side_effect=RuntimeError("can't start new thread")):
            self.assertEqual(self.failure(client.prompt_and_wait, "x", timeout=10).kind, "exited")
        self.assertTrue(told.wait(5))
        self.assertEqual(problems, ["A frame could not be served: can't start new thread"])
        self.assertFalse(client.is_running)
        client.start()


class Notices(FakeCase):
    def test_they_are_shown_one_after_the_other(self) -> None:
        notices = [
            {"type": "extension_ui_request", "id": f"n{index}", "method": "setStatus", "statusKey": "k", "statusText": str(index)}
            for index in range(40)
        ]
        client = self.started(rule("abort", *notices, ok("abort")))
        shown: List[int] = []
        problems: List[str] = []
        done = threading.Event()
        client.on_protocol_error(lambda error: problems.append(error.message))

        def show(request: Frame, context: Any) -> None:
            index = int(request["statusText"])
            time.sleep(0.002 * (1 - index % 2))
            shown.append(index)
            if index == 39:
                done.set()
            if index == 7:
                raise SystemExit("no screen")

        client.set_ui_handlers({"setStatus": show})
        for _ in range(2):
            client.abort()
            self.assertTrue(done.wait(15))
            done.clear()
        self.assertEqual(shown, [*range(40)] * 2)
        self.assertEqual(problems[:1], ["A listener raised: no screen"])

    def test_those_that_nobody_has_time_for_are_left_out(self) -> None:
        notice = {"type": "extension_ui_request", "id": "n", "method": "notify", "message": "hi"}
        client = self.started(rule("abort", *[notice] * 10, ok("abort")))
        go, told, shown, problems = threading.Event(), threading.Event(), [], []
        client.on_protocol_error(lambda error: (problems.append(error.kind), told.set()))
        client.set_ui_handlers({"notify": lambda request, context: (go.wait(15), shown.append(1))})
        with mock.patch("galley_rpc._dialogs.MAX_UNSHOWN", 3):
            client.abort()
        go.set()
        self.assertTrue(told.wait(5))
        deadline = time.monotonic() + 5
        while len(shown) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(problems, ["overflow"])
        self.assertLessEqual(len(shown), 4)


class Updates(FakeCase):
    def test_after_its_end_a_call_says_nothing(self) -> None:
        contexts: List[HostToolContext] = []
        begun, go_on = threading.Semaphore(0), threading.Event()

        def work(_: Any, context: HostToolContext) -> str:
            contexts.append(context)
            begun.release()
            if len(contexts) == 2:
                go_on.wait(15)
            return "done"

        client = self.started(rule("abort", CALL, ok("abort")), custom_tools=[HostTool("t", "?", {}, work)])
        client.abort()
        while not self.log(client, "host_tool_result"):
            time.sleep(0.01)
        contexts[0].send_update("of an ended call")
        self.assertEqual(self.log(client, "host_tool_update"), [])
        client.restart()
        client.abort()
        for _ in range(2):
            self.assertTrue(begun.acquire(timeout=15))
        contexts[0].send_update("of another process")
        contexts[1].send_update("its own")
        (update,) = self.log(client, "host_tool_update")
        self.assertEqual(update["partialResult"]["content"][0]["text"], "its own")
        go_on.set()
