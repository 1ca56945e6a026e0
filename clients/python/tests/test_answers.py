"""Both clients and the real program: the host lends a tool and answers dialogs. The model is a script on the loopback."""

from __future__ import annotations

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Dict, List, Tuple

from galley_rpc import AsyncRpcClient, HostTool, RpcClient, RpcError

from .support import ProcessCase

GUARD = """export default (pi) => {
  pi.on("tool_call", async ({ toolName, input }, ctx) => {
    if (toolName !== "ticket" || !ctx.hasUI) return undefined;
    const word = await ctx.ui.select("Look it up?", ["Yes", "No"]);
    return word === "Yes" ? undefined : { block: true, reason: "They said " + word + "." };
  });
};"""
PARAMETERS = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "ticket", "arguments": '{"number":7}'}}


class Model(BaseHTTPRequestHandler):
    """Calls the tool, and says "Done." once it has the result."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        has_result = request["messages"][-1]["role"] == "tool"
        delta, reason = ({"content": "Done."}, "stop") if has_result else ({"tool_calls": [CALL]}, "tool_calls")
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for fields, finish in ((delta, None), ({}, reason)):
            chunk = {"id": "1", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_: Any) -> None:
        pass


def results(messages: List[Dict[str, Any]]) -> List[Tuple[str, bool]]:
    return [(m["content"][0]["text"], m["isError"]) for m in messages if m["role"] == "toolResult"]


class Answers(ProcessCase):
    def setUp(self) -> None:
        super().setUp()
        service = ThreadingHTTPServer(("127.0.0.1", 0), Model)
        thread = threading.Thread(target=service.serve_forever)
        thread.start()
        for clean in (thread.join, service.server_close, service.shutdown):
            self.addCleanup(clean)
        agent_dir = Path(self.home) / "agent"
        (agent_dir / "extensions").mkdir(parents=True)
        (agent_dir / "extensions" / "guard.ts").write_text(GUARD)
        (agent_dir / "models.yml").write_text(
            f"providers:\n  acme:\n    baseUrl: http://127.0.0.1:{service.server_port}/v1\n"
            "    api: openai-completions\n    auth: none\n    models:\n      - id: script\n"
        )
        self.options["env"]["GALLEY_AGENT_DIR"] = str(agent_dir)
        self.options["model"] = "acme/script"

    def test_a_tool_and_a_dialog(self) -> None:
        def look_up(arguments: Dict[str, Any], context: Any) -> str:
            context.send_update("Looking")
            if arguments["number"] != 7:
                raise LookupError("no such ticket")
            return "About the parser."

        tool = HostTool(name="ticket", description="Look up a ticket", parameters=PARAMETERS, execute=look_up)
        client = RpcClient(**self.options, custom_tools=[tool])
        words = iter(["Yes", "No", None])
        client.set_ui_handlers({"select": lambda request, context: next(words)})
        updates: List[Any] = []
        client.on("tool_execution_update", lambda event: updates.append(event["partialResult"]["content"]))
        with client:
            self.assertIn("ticket", [tool["name"] for tool in client.get_state()["dumpTools"]])
            for _ in range(3):
                outcome = client.prompt_and_wait("What is ticket 7 about?", timeout=20)
                self.assertEqual((outcome.status, outcome.text), ("completed", "Done."))
            self.assertEqual(
                results(client.get_messages()["messages"]),
                [("About the parser.", False), ("They said No.", True), ("They said undefined.", True)],
            )
            self.assertEqual(updates, [[{"type": "text", "text": "Looking"}]])
            with self.assertRaisesRegex(RpcError, 'RPC host tool "read" conflicts with an existing tool'):
                client.set_host_tools([HostTool(name="read", description="x", parameters={}, execute=look_up)])
            self.assertEqual(client.set_host_tools([]), {"toolNames": []})

    def test_a_call_is_taken_back(self) -> None:
        begun = threading.Event()
        heard: List[bool] = []

        def wait(_: Dict[str, Any], context: Any) -> str:
            begun.set()
            heard.append(context.cancelled.wait(20))
            return "too late"

        tool = HostTool(name="ticket", description="Waits", parameters=PARAMETERS, execute=wait)
        with RpcClient(**self.options, args=["--no-ui"], custom_tools=[tool]) as client:
            client.prompt("What is ticket 7 about?")
            self.assertTrue(begun.wait(20))
            client.abort()
            messages = client.get_messages()["messages"]
        self.assertEqual(results(messages), [('Host tool "ticket" was aborted', True)])
        self.assertEqual(heard, [True])

    def test_the_same_in_a_loop(self) -> None:
        async def look_up(arguments: Dict[str, Any], context: Any) -> str:
            return f"Ticket {arguments['number']}"

        async def day() -> None:
            tool = HostTool(name="ticket", description="Look up", parameters=PARAMETERS, execute=look_up)
            client = AsyncRpcClient(**self.options, custom_tools=[tool])
            client.install_headless_ui(select="Yes")
            async with client:
                await client.prompt_and_wait("What is ticket 7 about?", timeout=20)
                self.assertEqual(results((await client.get_messages())["messages"]), [("Ticket 7", False)])

        asyncio.run(day())
