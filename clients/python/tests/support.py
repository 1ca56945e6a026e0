"""Agents for the tests: the scripted one of the TypeScript tests, and the real program. Both need node."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List, Optional

from galley_rpc import RpcClient, RpcError

ROOT = Path(__file__).resolve().parents[3]
FAKE_AGENT = ROOT / "test" / "client-fake-agent.mjs"
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
