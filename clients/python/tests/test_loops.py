"""The client for asyncio and its loops: several, busy ones, closed ones; and that nothing piles up in them."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import inspect
import threading
import time
import unittest
import warnings
from typing import Any, List
from unittest import mock

from galley_rpc import AsyncRpcClient, HostTool, RpcClient

from .support import END, FAKE_AGENT, NODE, SETTLED, START, AsyncFakeCase, Frame, fake_command, ok, refused, rule, said

RUN = (ok("prompt"), START, said("Hi"), END, SETTLED)
CALL: Frame = {"type": "host_tool_call", "id": "host_1", "toolCallId": "c", "toolName": "t", "arguments": {}}


@unittest.skipUnless(NODE and FAKE_AGENT.exists(), "needs node and the repository")
class Several(unittest.TestCase):
    def test_a_client_goes_on_in_the_next_loop(self) -> None:
        heard: List[str] = []

        async def work(_: Any, context: Any) -> str:
            return "done"

        tools = [HostTool("t", "?", {}, work)]
        client = AsyncRpcClient(fake_command(rule("prompt", *RUN), rule("abort", CALL, ok("abort"))), custom_tools=tools)
        client.on("agent_end", lambda event: heard.append(event["type"]))
        asyncio.run(client.start())

        async def again() -> List[str]:
            async def read() -> List[str]:
                return [event["type"] async for event in client.stream("x")]

            kinds = await asyncio.wait_for(read(), 10)
            await client.abort()
            results: List[Frame] = []
            while not results or not heard:
                log = (await client.request("get_log"))["log"]
                results = [frame for frame in log if frame["type"] == "host_tool_result"]
            self.assertEqual(results[0]["result"]["content"][0]["text"], "done")
            await client.stop(0.5)
            return kinds

        self.assertEqual(asyncio.run(asyncio.wait_for(again(), 20)), ["agent_start", "message_end", "agent_end", "agent_settled"])

    def test_a_tool_that_is_called_when_the_loop_is_closed(self) -> None:
        async def work(_: Any, context: Any) -> str:
            return "never"

        client = AsyncRpcClient(fake_command(rule("abort", CALL, START, ok("abort"))), custom_tools=[HostTool("t", "?", {}, work)])
        client.on_event(lambda event: None)
        with warnings.catch_warnings(record=True) as warned, self.assertNoLogs():
            warnings.simplefilter("always")
            asyncio.run(client.start())
            client._client.abort()
            results: List[Frame] = []
            while not results:
                log = client._client.request("get_log")["log"]
                results = [frame for frame in log if frame["type"] == "host_tool_result"]
            client._client.stop(0.5)
            gc.collect()
        self.assertEqual([str(warning.message) for warning in warned], [])
        self.assertIs(results[0]["isError"], True)
        self.assertIn("closed", results[0]["result"]["content"][0]["text"])

    def assertNoLogs(self, *args: Any, **kwargs: Any) -> Any:  # of unittest since Python 3.10
        return mock.patch("logging.Logger.callHandlers", side_effect=AssertionError("logged"))


class Busy(AsyncFakeCase):
    COUNT = 400

    async def flooded(self, hear: Any) -> "tuple[AsyncRpcClient, int]":
        """How often the loop was called while it was busy and the agent wrote."""
        client = await self.started(rule("abort", *[START] * self.COUNT, ok("abort")), max_unread_events=10)
        kept = hear(client)
        loop = asyncio.get_running_loop()
        with mock.patch.object(loop, "call_soon_threadsafe", wraps=loop.call_soon_threadsafe) as called:
            _, answer = client._client._issue("abort", {})
            answer.result(15)
            time.sleep(0.1)
            count = called.call_count
        self.kept = kept
        return client, count

    async def test_a_loop_over_events_holds_no_more_than_the_limit(self) -> None:
        _, calls = await self.flooded(lambda client: client.events())
        self.assertLessEqual(calls, 2)

        async def read() -> None:
            async for _ in self.kept:
                pass

        self.assertEqual((await self.failure(read())).kind, "overflow")

    async def test_listeners_hear_everything_but_not_at_once(self) -> None:
        heard: List[Any] = []
        with mock.patch("galley_rpc._loops.MAX_IN_LOOP", 8):
            _, calls = await self.flooded(lambda client: client.on_event(heard.append))
        self.assertLessEqual(calls, 8)
        deadline = time.monotonic() + 10
        while len(heard) < self.COUNT and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        self.assertEqual(len(heard), self.COUNT)

    async def test_listeners_that_wait_are_not_started_without_end(self) -> None:
        running, most = 0, 0
        go = asyncio.Event()
        heard: List[Any] = []

        async def listen(event: Any) -> None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await go.wait()
            running -= 1
            heard.append(event)

        with mock.patch("galley_rpc._loops.MAX_IN_LOOP", 8):
            await self.flooded(lambda client: client.on_event(listen))
        await asyncio.sleep(0.1)
        self.assertLessEqual(most, 8)
        go.set()
        deadline = time.monotonic() + 10
        while len(heard) < self.COUNT and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        self.assertEqual(len(heard), self.COUNT)

    async def test_the_host_may_use_up_the_threads_of_its_loop(self) -> None:
        loop = asyncio.get_running_loop()
        executor = concurrent.futures.ThreadPoolExecutor(1)
        loop.set_default_executor(executor)
        release = threading.Event()
        work = loop.run_in_executor(None, release.wait, 20)
        try:
            client = AsyncRpcClient(fake_command())
            await asyncio.wait_for(client.start(), 8)
            await asyncio.wait_for(client.restart(), 8)
            self.assertEqual(await asyncio.wait_for(client.stop(), 8), 0)
        finally:
            release.set()
            await work


class Waits(AsyncFakeCase):
    async def test_a_prompt_that_has_ended_needs_no_time(self) -> None:
        client = await self.started(rule("prompt", *RUN, times=1), rule("prompt", ok("prompt"), refused("prompt", "no")))
        request_id = await client.prompt("x")
        await client.wait_for_prompt(request_id)
        self.assertEqual((await client.wait_for_prompt(request_id, timeout=0)).text, "Hi")
        client.on_protocol_error(lambda error: None)  # it may fail before it is awaited
        request_id = await client.prompt("x")
        self.assertEqual((await self.failure(client.wait_for_prompt(request_id))).kind, "late")
        self.assertEqual((await self.failure(client.wait_for_prompt(request_id, timeout=0))).kind, "late")

    async def test_the_deadline_of_a_stream_is_for_the_whole_run(self) -> None:
        client = await self.started(rule("prompt", ok("prompt"), START, said("Hi")), rule("abort_and_prompt"))
        seen: List[str] = []

        async def read() -> None:
            async for event in client.stream("x", timeout=0.5):
                seen.append(event["type"])

        error = await self.failure(read())
        self.assertEqual((error.kind, error.command), ("timeout", "prompt"))
        self.assertEqual(seen, ["agent_start", "message_end"])
        self.assertEqual((await self.failure(client.abort_and_prompt("x", timeout=0.05))).command, "abort_and_prompt")

    async def test_an_agent_that_does_not_say_whether_it_is_idle(self) -> None:
        client = await self.started(rule("get_state"), request_timeout=0.2)
        self.assertEqual((await self.failure(client.wait_for_idle())).kind, "timeout")

    async def test_a_loop_that_is_left_keeps_nothing(self) -> None:
        client = await self.started(rule("abort", *[START] * 3, ok("abort")))
        for _ in range(3):
            events = client.events()
            await client.abort()
            async for _ in events:
                break
            del events
        gc.collect()
        self.assertEqual(len(client._client._sinks), 0)
        async with client.events() as events:
            await client.abort()
        self.assertEqual(len([event async for event in events]), 3, "what waited when it was closed")

    async def test_a_task_that_reads_is_kept_though_nobody_else_knows_it(self) -> None:
        client = await self.started(rule("abort", START, ok("abort")))
        heard: List[str] = []

        async def read() -> None:
            async for event in client.events():
                heard.append(event["type"])

        asyncio.ensure_future(read())
        await asyncio.sleep(0)
        gc.collect()
        await client.abort()
        deadline = time.monotonic() + 5
        while not heard and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        self.assertEqual(heard, ["agent_start"])
        await client.stop(0.5)
        await asyncio.sleep(0.01)

    async def test_what_a_listener_for_the_end_raises_is_told(self) -> None:
        client = await self.started()
        problems: List[str] = []

        async def raises(exit: Any) -> None:
            raise ValueError("my fault")

        client.on_exit(raises)
        client.on_protocol_error(lambda error: problems.append(error.message))
        await client.stop()
        deadline = time.monotonic() + 5
        while not problems and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        self.assertEqual(problems, ["A listener raised: my fault"])

    def test_the_options_are_those_of_the_client_for_threads(self) -> None:
        options = [inspect.signature(made.__init__).parameters for made in (AsyncRpcClient, RpcClient)]
        self.assertEqual(list(options[0].values()), list(options[1].values()))
