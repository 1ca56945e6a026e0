"""Listeners and loops that raise, that are slow, that are left: nobody else is disturbed, and nothing is lost in silence."""

from __future__ import annotations

import gc
import sys
import threading
import time
from typing import Any, List
from unittest import mock

from galley_rpc import RpcClient, RpcError

from .support import SETTLED, START, FakeCase, Frame, ok, rule


class Raising(FakeCase):
    def problems(self, client: RpcClient) -> "tuple[List[RpcError], threading.Semaphore]":
        problems: List[RpcError] = []
        told = threading.Semaphore(0)
        client.on_protocol_error(lambda error: (problems.append(error), told.release()))
        return problems, told

    def test_what_a_listener_for_the_end_raises_is_told(self) -> None:
        client = self.fake()
        problems, told = self.problems(client)
        client.on_exit(lambda exit: 1 / 0)
        for _ in range(2):
            client.start()
            client.stop()
            self.assertTrue(told.acquire(timeout=5))
        self.assertEqual([error.message for error in problems], ["A listener raised: division by zero"] * 2)

    def test_what_is_told_after_the_end_is_heard(self) -> None:
        """By what still ran then."""
        client = self.started()
        problems, told = self.problems(client)
        gone = threading.Event()
        client.on_exit(lambda exit: gone.set())
        client.stop()
        self.assertTrue(gone.wait(15))
        time.sleep(0.05)
        client._tell_raised(ValueError("too late"))
        self.assertTrue(told.acquire(timeout=5))
        client.start()
        client._tell_raised(ValueError("again"))
        self.assertTrue(told.acquire(timeout=5))
        self.assertEqual([str(error.__cause__) for error in problems], ["too late", "again"])

    def test_one_that_wants_to_exit_ends_no_other(self) -> None:
        client = self.started(rule("abort", START, SETTLED, ok("abort")))
        problems, told = self.problems(client)
        heard = threading.Semaphore(0)
        client.on("agent_start", lambda event: sys.exit("enough"))
        client.on("agent_settled", lambda event: heard.release())
        client.on_exit(lambda exit: heard.release())
        for _ in range(2):
            client.abort()
            self.assertTrue(heard.acquire(timeout=5))
        client.stop()
        self.assertTrue(heard.acquire(timeout=5))
        self.assertTrue(told.acquire(timeout=5))
        self.assertEqual(problems[0].message, "A listener raised: enough")


class Slow(FakeCase):
    QUESTION: Frame = {"type": "extension_ui_request", "id": "u", "method": "confirm", "title": "?", "message": "!"}

    def test_every_gap_is_told_and_questions_that_fall_into_it_are_cancelled(self) -> None:
        client = self.started(rule("abort", *[START] * 20, self.QUESTION, ok("abort")))
        go, problems, told = threading.Event(), [], threading.Semaphore(0)
        client.on_event(lambda event: go.wait(15))
        client.on_ui_request(lambda request: None)
        client.on_protocol_error(lambda error: (problems.append(error.kind), told.release()))
        with mock.patch("galley_rpc._events.MAX_UNHEARD", 10):
            for turn in (1, 2):
                go.clear()
                client.abort()
                answers: List[Frame] = []
                deadline = time.monotonic() + 5
                while len(answers) < turn and time.monotonic() < deadline:
                    answers = self.log(client, "extension_ui_response")
                go.set()
                self.assertTrue(told.acquire(timeout=5))
                self.assertEqual(answers, [{"type": "extension_ui_response", "id": "u", "cancelled": True}] * turn)
        self.assertEqual(problems, ["overflow"] * 2)


class Left(FakeCase):
    def test_a_loop_that_is_left_keeps_nothing(self) -> None:
        client = self.started(rule("abort", *[START] * 3, ok("abort")))
        for _ in range(3):
            events = client.events()
            client.abort()
            for _ in events:
                break
            del events
        gc.collect()
        self.assertEqual(len(client._sinks), 0)
        with client.events() as events:
            client.abort()
            self.assertEqual(next(events)["type"], "agent_start")
        client.abort()
        self.assertEqual(len(list(events)), 2, "what waited when it was closed")
        self.assertEqual(len(client._sinks), 0)

    def test_one_that_is_read_hears_on(self) -> None:
        client = self.started(rule("abort", START, ok("abort")))
        heard: List[Any] = []

        def read() -> None:
            for event in client.events():
                heard.append(event["type"])

        reading = threading.Thread(target=read)
        reading.start()
        while not len(client._sinks):
            time.sleep(0.01)
        gc.collect()
        client.abort()
        client.stop()
        reading.join(5)
        self.assertEqual(heard, ["agent_start"])
