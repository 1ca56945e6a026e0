"""Agents for the tests: the scripted one of the TypeScript tests, and the real program. Both need node."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

from galley_rpc import AsyncRpcClient, RpcClient, RpcError

ROOT = Path(__file__).resolve().parents[3]
FAKE_AGENT = ROOT / "test" / "kit" / "client-fake-agent.mjs"
GALLEY = ROOT / "bin" / "galley.js"
NODE = shutil.which("node")

Frame = Dict[str, Any]

START = {"type": "agent_start"}
END = {"type": "agent_end", "messages": [], "isTerminal": True}
SETTLED = {"type": "agent_settled"}


def ok(command: str, **more: Any) -> Frame:
    return {"id": "$id", "type": "response", "command": command, "success": True, **more}


def refused(command: str, error: str, **more: Any) -> Frame:
    return {"id": "$id", "type": "response", "command": command, "success": False, "error": error, **more}


def said(text: str, **more: Any) -> Frame:
    content = [{"type": "text", "text": text}]
    return {"type": "message_end", "message": {"role": "assistant", "content": content, "stopReason": "stop", **more}}


def asked(text: str) -> Frame:
    return {"type": "message_end", "message": {"role": "user", "content": [{"type": "text", "text": text}]}}


def rule(on: str, *steps: Frame, times: Optional[int] = None, **where: Any) -> Frame:
    return {"on": on, "do": list(steps), "where": where, **({} if times is None else {"times": times})}


def fake_command(*rules: Frame, **script: Any) -> Any:
    text = json.dumps({"rules": list(rules), **script})
    return lambda args: [NODE, str(FAKE_AGENT), text, *args]


def own_frames(log: List[Frame], *types: str) -> List[Frame]:
    """Those of the types; without types all but what the client asks on its own account."""
    hidden = ("get_state", "get_log", "negotiate_protocol")
    return [frame for frame in log if (frame["type"] in types if types else frame["type"] not in hidden)]


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """What it returns or raises: a test of what used to wait for ever fails instead."""
    ends: List[Any] = []

    def run() -> None:
        try:
            ends.append((work(), None))
        except BaseException as error:
            ends.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if not ends:
        raise AssertionError(f"It still waits after {seconds} s")
    value, error = ends[0]
    if error is not None:
        raise error
    return value


@unittest.skipUnless(NODE and FAKE_AGENT.exists(), "needs node and the repository")
class FakeCase(unittest.TestCase):
    def fake(self, *rules: Frame, ready: Optional[Frame] = None, first: Optional[str] = None, **options: Any) -> RpcClient:
        script = {**({"ready": ready} if ready else {}), **({"first": first} if first is not None else {})}
        client = RpcClient(fake_command(*rules, **script), **options)
        self.addCleanup(client.stop, 0.2)
        return client

    def started(self, *rules: Frame, **options: Any) -> RpcClient:
        client = self.fake(*rules, **options)
        client.start()
        return client

    def failure(self, work: Any, *args: Any, **kwargs: Any) -> RpcError:
        with self.assertRaises(RpcError) as caught:
            work(*args, **kwargs)
        return caught.exception

    @staticmethod
    def log(client: RpcClient, *types: str) -> List[Frame]:
        return own_frames(client.request("get_log")["log"], *types)


@unittest.skipUnless(NODE and FAKE_AGENT.exists(), "needs node and the repository")
class AsyncFakeCase(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        asyncio.get_running_loop().slow_callback_duration = 60  # some of the loops are busy on purpose

    async def started(self, *rules: Frame, ready: Any = None, **options: Any) -> AsyncRpcClient:
        client = AsyncRpcClient(fake_command(*rules, **({"ready": ready} if ready else {})), **options)
        await client.start()
        self.addAsyncCleanup(client.stop, 0.2)
        return client

    async def failure(self, awaitable: Any) -> RpcError:
        with self.assertRaises(RpcError) as caught:
            await asyncio.wait_for(awaitable, 10)
        return caught.exception

    async def log(self, client: AsyncRpcClient, *types: str) -> List[Frame]:
        return own_frames((await client.request("get_log"))["log"], *types)

    async def until(self, client: AsyncRpcClient, count: int, *types: str) -> List[Frame]:
        async def poll() -> List[Frame]:
            while True:
                found = await self.log(client, *types)
                if len(found) >= count:
                    return found
                await asyncio.sleep(0.01)

        return await asyncio.wait_for(poll(), 10)


@unittest.skipUnless(NODE and (ROOT / "dist" / "cli" / "main.js").exists(), "needs node and the built program")
class ProcessCase(unittest.TestCase):
    def setUp(self) -> None:
        home = tempfile.mkdtemp(prefix="galley-python-")
        self.addCleanup(shutil.rmtree, home, True)
        self.home = home
        self.options: Dict[str, Any] = {
            "command": [NODE, str(GALLEY)],
            "cwd": home,
            "env": {"PATH": os.environ["PATH"], "HOME": home},
        }
