"""The client for asyncio: the same core, so only what is its own: the loop, cancellation, tasks for tools and handlers."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Dict, List

from galley_rpc import AsyncRpcClient, HostTool, RpcError

from .support import END, SETTLED, START, AsyncFakeCase, fake_command, ok, refused, rule, said


class Async(AsyncFakeCase):
    async def test_prompts_events_and_idleness(self) -> None:
        run = (ok("prompt"), START, said("Hi"), END, SETTLED)
        client = await self.started(rule("prompt", *run, times=3), rule("prompt", ok("prompt"), refused("prompt", "no")))
        self.assertEqual((await client.prompt_and_wait("x")).text, "Hi")
        request_id = await client.prompt("x")
        first, second = await asyncio.gather(client.wait_for_prompt(request_id), client.wait_for_prompt(request_id))
        self.assertEqual(first, second)
        kinds = [event["type"] async for event in client.stream("x")]
        self.assertEqual(kinds, ["agent_start", "message_end", "agent_end", "agent_settled"])
        await client.wait_for_idle()
        self.assertEqual((await self.failure(client.prompt_and_wait("x"))).kind, "late")

        async def read_all() -> None:
            async for _ in client.stream("x"):
                pass

        self.assertEqual((await self.failure(read_all())).kind, "late")
        await client.wait_for_idle()

    async def test_deadlines_and_cancellation_leave_others_alone(self) -> None:
        client = await self.started(rule("prompt", ok("prompt"), START), rule("bash"), rule("abort", said("Hi"), END, SETTLED, ok("abort")))
        request_id = await client.prompt("x")
        self.assertEqual((await self.failure(client.wait_for_prompt(request_id, timeout=0.05))).kind, "timeout")
        self.assertEqual((await self.failure(client.bash("x", timeout=0.05))).kind, "timeout")
        self.assertEqual((await self.failure(client.prompt_and_wait("y", timeout=0.05))).kind, "timeout")
        waiting = asyncio.ensure_future(client.wait_for_prompt(request_id))
        await asyncio.sleep(0)
        waiting.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await waiting
        other = asyncio.ensure_future(client.wait_for_prompt(request_id))
        await client.abort()
        self.assertEqual((await other).text, "Hi")

    async def test_a_start_that_is_cancelled_leaves_no_agent(self) -> None:
        for steps in range(8):
            client = AsyncRpcClient(fake_command())
            starting = asyncio.ensure_future(client.start())
            await asyncio.sleep(0.001 * steps)
            starting.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await starting
            await client.start()  # neither the old one, nor its remains
            await client.stop(0.2)
            self.assertFalse(client.is_running)

    async def test_what_the_client_asks_on_its_own_account_passes_no_deadline(self) -> None:
        client = await self.started(rule("get_state"), rule("prompt", ok("prompt")))
        await asyncio.wait_for(client.prompt("x"), 10)
        self.assertEqual((await asyncio.wait_for(client.new_session(timeout=0.05), 10))["type"], "new_session")
        self.assertEqual((await self.failure(client.prompt_and_wait("x", timeout=0.05))).kind, "timeout")

    async def test_the_end_of_the_agent_ends_everything(self) -> None:
        client = await self.started(rule("bash"), rule("prompt", ok("prompt"), START), rule("abort", {"$kill": "SIGKILL"}))
        exits: "List[Any]" = []
        client.on_exit(exits.append)
        await client.prompt("x")
        calls = [client.bash("x"), client.wait_for_idle(), client.abort()]
        errors = await asyncio.gather(*calls, return_exceptions=True)
        self.assertEqual([getattr(error, "kind", error) for error in errors], ["exited"] * 3)
        self.assertEqual([event async for event in client.events()], [])
        await asyncio.sleep(0.05)
        self.assertEqual([(exit.code, exit.is_expected) for exit in exits], [(-9, False)])
        await client.start()
        self.assertTrue(client.is_running)

    async def test_tools_run_as_tasks_and_are_cancelled(self) -> None:
        loop_thread = threading.get_ident()
        cancelled = asyncio.Event()

        async def echo(arguments: Dict[str, Any], context: Any) -> str:
            context.send_update("half")
            await asyncio.sleep(0)
            return f"in the loop: {threading.get_ident() == loop_thread}"

        async def slow(arguments: Dict[str, Any], context: Any) -> str:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.set()
                raise
            return "never"

        def plain(arguments: Dict[str, Any], context: Any) -> str:
            return f"in the loop: {threading.get_ident() == loop_thread}"

        tools = [HostTool(name, "?", {}, execute) for name, execute in (("echo", echo), ("slow", slow), ("plain", plain))]
        calls = [
            {"type": "host_tool_call", "id": tool.name, "toolCallId": "c", "toolName": tool.name, "arguments": {}}
            for tool in tools
        ]
        cancel = {"type": "host_tool_cancel", "id": "c", "targetId": "slow"}
        client = await self.started(
            rule("abort", *calls, ok("abort")), rule("abort_bash", cancel, ok("abort_bash")), custom_tools=tools
        )
        await client.abort()
        results = await self.until(client, 2, "host_tool_result")
        texts = {frame["id"]: frame["result"]["content"][0]["text"] for frame in results}
        self.assertEqual(texts, {"echo": "in the loop: True", "plain": "in the loop: False"})
        self.assertEqual(len(await self.log(client, "host_tool_update")), 1)
        await client.abort_bash()
        await asyncio.wait_for(cancelled.wait(), 5)
        self.assertEqual(len(await self.log(client, "host_tool_result")), 2)
        await client.set_host_tools([])

    async def test_of_tools_that_are_set_twice_at_once_those_count_that_the_agent_took_last(self) -> None:
        names = ("old", "first", "second")
        tools = [HostTool(name, "?", {}, lambda arguments, context: "served") for name in names]
        calls = [
            [{"type": "host_tool_call", "id": f"{turn} {name}", "toolCallId": "c", "toolName": name, "arguments": {}} for name in names]
            for turn in (1, 2)
        ]
        cases = ((False, True, "second"), (True, False, "first"), (False, False, "old"), (True, True, "second"))
        for is_first_taken, is_second_taken, taken in cases:
            answers = [
                {**ok("set_host_tools"), "id": "req_3", "success": is_first_taken},
                {**ok("set_host_tools"), "id": "req_4", "success": is_second_taken},
            ]
            client = await self.started(
                rule("set_host_tools", id="req_3"),
                rule("set_host_tools", *calls[0], *answers, id="req_4"),
                rule("abort", *calls[1], ok("abort")),
                custom_tools=tools[:1],
            )
            both = [client.set_host_tools([tool]) for tool in tools[1:]]
            ends = await asyncio.gather(*both, return_exceptions=True)
            self.assertEqual([isinstance(end, RpcError) for end in ends], [not is_first_taken, not is_second_taken])
            await client.abort()
            results = await self.until(client, 6, "host_tool_result")
            served = sorted(frame["id"] for frame in results if not frame.get("isError"))
            # All of them before the agent has answered.
            self.assertEqual(served, ["1 first", "1 old", "1 second", f"2 {taken}"])
            await client.stop()
            await client.start()
            (registration,) = await self.log(client, "set_host_tools")
            self.assertEqual([tool["name"] for tool in registration["tools"]], [taken])

    async def test_dialogs_and_listeners_run_in_the_loop(self) -> None:
        question = {"type": "extension_ui_request", "id": "u", "method": "confirm", "title": "?", "message": "Go on?"}
        client = await self.started(rule("abort", START, question, ok("abort")))
        threads: "List[int]" = []
        problems: "List[RpcError]" = []

        async def confirm(request: Any, context: Any) -> bool:
            threads.append(threading.get_ident())
            return bool(request["message"])

        async def raises(event: Any) -> None:
            threads.append(threading.get_ident())
            raise ValueError("my fault")

        client.on_protocol_error(problems.append)
        client.on("agent_start", raises)
        client.set_ui_handlers({"confirm": confirm})
        await client.abort()
        (answer,) = await self.until(client, 1, "extension_ui_response")
        self.assertEqual(answer["confirmed"], True)
        while not problems:
            await asyncio.sleep(0.01)
        self.assertEqual(set(threads), {threading.get_ident()})
        self.assertEqual(problems[0].message, "A listener raised: my fault")

    async def test_a_slow_loop_gets_an_error(self) -> None:
        client = await self.started(rule("abort", *[START] * 6, ok("abort")), max_unread_events=5)
        events = client.events()
        await client.abort()

        async def read_all() -> None:
            async for _ in events:
                pass

        self.assertEqual((await self.failure(read_all())).kind, "overflow")
        self.assertEqual([event async for event in events], [])
