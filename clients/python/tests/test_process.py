"""Both clients and the real program: what a host does in a day, a crash and the way back included."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
import unittest
from pathlib import Path
from typing import Any, List

from galley_rpc import AgentExit, AsyncRpcClient, RpcClient, RpcError

from .support import ProcessCase


class Day(ProcessCase):
    def started(self, **options: Any) -> RpcClient:
        client = RpcClient(**{**self.options, **options})
        client.start()
        self.addCleanup(client.stop)
        return client

    def test_start_state_prompt_stop(self) -> None:
        client = self.started()
        self.assertEqual(client.get_state()["model"]["id"], "planner")
        outcome = client.prompt_and_wait("help", timeout=20)
        self.assertEqual((outcome.status, outcome.agent_invoked), ("completed", True))
        self.assertEqual(outcome.disposition, "started")
        self.assertEqual(outcome.text, client.get_last_assistant_text()["text"])
        self.assertEqual([message["role"] for message in client.get_messages()["messages"]], ["user", "assistant"])
        self.assertEqual(client.get_session_stats()["userMessages"], 1)
        used = {"cost": 0, "turns": 1, "tokens": 0}
        self.assertEqual(client.set_budget(max_turns=5, max_tokens=9), {"maxTurns": 5, "maxTokens": 9, "used": used})
        self.assertEqual(client.set_budget(max_tokens=None), {"maxTurns": 5, "used": used})
        self.assertIn("agent_settled", [event["type"] for event in client.stream("help")])
        client.wait_for_idle(timeout=5)
        self.assertEqual(client.stop(), 0)

    def test_version_2(self) -> None:
        client = self.started()
        self.assertEqual(client.prompt_and_wait("help " + "€" * 800_000, timeout=30).status, "completed")
        self.assertTrue(client.get_state()["isSettled"])
        messages = client.get_messages()["messages"]
        self.assertGreater(len(str(messages[0])), 800_000)
        first = client.get_messages_page()
        second = client.get_messages_page(cursor=first["nextCursor"])
        self.assertEqual(first["messages"] + second["messages"], messages)
        entries = client.get_entries()["entries"]
        client.set_session_name("Named")
        missed = client.get_entries(since=entries[-1]["id"])["entries"]
        self.assertEqual([entry["type"] for entry in missed], ["session_info"])
        with self.assertRaises(RpcError) as unknown:
            client.get_entries(since="nope")
        self.assertEqual(unknown.exception.code, "unknown_since")
        self.assertEqual(client.get_tree()["leafId"], entries[-1]["id"])
        self.assertEqual(client.get_available_commands(), {"commands": []})
        self.assertEqual(client.set_event_filter(["agent_settled"]), {"events": ["agent_settled"]})
        self.assertEqual({event["type"] for event in client.stream("help")} - {"session_settled"}, {"agent_settled", "prompt_result"})
        first_file = client.session_file
        self.assertEqual(client.clone(), {"cancelled": False})
        self.assertNotEqual(client.session_file, first_file)

    def test_bash_todos_models_sessions(self) -> None:
        client = self.started()
        result = client.bash("echo hi; exit 3")
        self.assertEqual((result["output"], result["exitCode"]), ("hi\n", 3))
        results: List[Any] = []
        slow = threading.Thread(target=lambda: results.append(client.bash("sleep 60")))
        slow.start()
        while not results:  # the abort may overtake the command that it is for
            client.abort_bash()
            slow.join(0.05)
        self.assertTrue(results[0]["cancelled"])
        phases = client.set_todos([{"name": "Port", "tasks": [{"content": "Map it"}]}])["todoPhases"]
        self.assertEqual(client.get_state()["todoPhases"], phases)
        self.assertIn("planner", [model["id"] for model in client.get_available_models()["models"]])
        with self.assertRaisesRegex(RpcError, "Model not found: acme/nope"):
            client.set_model("acme", "nope")
        self.assertIsNone(client.cycle_model())
        client.prompt_and_wait("help", timeout=20)
        first = client.session_file
        self.assertEqual(client.new_session(), {"cancelled": False})
        self.assertNotEqual(client.session_file, first)
        client.switch_session(str(first))
        self.assertEqual(client.session_file, first)

    def test_abort_and_a_crash(self) -> None:
        """The model service accepts and never answers."""
        service = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(service.close)
        agent_dir = Path(self.home) / "agent"
        agent_dir.mkdir()
        port = service.getsockname()[1]
        (agent_dir / "models.yml").write_text(
            f"providers:\n  acme:\n    baseUrl: http://127.0.0.1:{port}/v1\n    api: openai-completions\n"
            "    auth: none\n    models:\n      - id: silent\n"
        )
        pid_file = Path(self.home) / "pid"
        script = 'echo $$ > "$0"; exec "$@"'
        argv = list(self.options["command"])
        client = self.started(
            command=lambda args: ["sh", "-c", script, str(pid_file), *argv, *args],
            env={**self.options["env"], "GALLEY_AGENT_DIR": str(agent_dir)},
        )
        request_id = client.prompt("think")
        with self.assertRaises(RpcError) as busy:
            client.prompt_and_wait("too soon")
        self.assertEqual(busy.exception.kind, "late")
        client.abort()
        self.assertEqual(client.wait_for_prompt(request_id, timeout=10).status, "aborted")

        exits: List[AgentExit] = []
        gone = threading.Event()
        client.on_exit(lambda exit: (exits.append(exit), gone.set()))
        request_id = client.prompt("think again")
        os.kill(int(pid_file.read_text()), signal.SIGKILL)
        with self.assertRaises(RpcError) as crashed:
            client.wait_for_prompt(request_id, timeout=10)
        self.assertEqual(crashed.exception.kind, "exited")
        self.assertTrue(gone.wait(5))
        self.assertEqual((exits[0].code, exits[0].is_expected), (-9, False))
        session_file = client.session_file
        self.assertTrue(client.restart())
        self.assertEqual(client.get_state()["sessionFile"], session_file)
        texts = [str(message.get("content")) for message in client.get_messages()["messages"]]
        self.assertTrue(any("think again" in text for text in texts))

    def test_a_session_that_a_command_of_an_extension_opened(self) -> None:
        extension = Path(self.home) / "fresh.mjs"
        command = '{ description: "A new session", handler: async (_, ctx) => void (await ctx.newSession()) }'
        extension.write_text(f'export default (pi) => pi.registerCommand("fresh", {command});')
        client = self.started(args=["-e", str(extension)])
        client.prompt_and_wait("help", timeout=20)
        first = client.session_file
        fresh = client.prompt_and_wait("/fresh", timeout=20)
        self.assertEqual((fresh.agent_invoked, fresh.disposition), (False, "handled"))
        self.assertNotEqual(client.session_file, first)
        client.prompt_and_wait("help in the second", timeout=20)
        client.kill()
        self.assertTrue(client.restart())
        self.assertIn("help in the second", str(client.get_messages()["messages"][0]))

    def test_a_start_that_fails(self) -> None:
        with self.assertRaises(RpcError) as failed:
            self.started(model="nope/nope")
        self.assertEqual((failed.exception.kind, failed.exception.exit_code), ("start_failed", 1))
        self.assertIn("Model not found: nope/nope", failed.exception.message)


class AsyncDay(ProcessCase):
    def test_the_same_in_a_loop(self) -> None:
        async def day() -> None:
            async with AsyncRpcClient(**self.options) as client:
                state, outcome = await asyncio.gather(client.get_state(), client.prompt_and_wait("help", timeout=20))
                self.assertEqual(state["model"]["id"], "planner")
                self.assertEqual(outcome.status, "completed")
                kinds = [event["type"] async for event in client.stream("help")]
                self.assertIn("agent_settled", kinds)
                self.assertEqual((await client.bash("echo hi"))["output"], "hi\n")
                page = await client.get_messages_page(limit=1)
                self.assertEqual((len(page["messages"]), page["totalMessages"]), (1, 5))
                self.assertEqual(len((await client.get_entries())["entries"]), 6)
                await client.wait_for_idle(timeout=5)
                session_file = client.session_file
                client.kill()
                self.assertTrue(await client.restart())
                self.assertEqual((await client.get_state())["sessionFile"], session_file)
            self.assertFalse(client.is_running)

        asyncio.run(day())


if __name__ == "__main__":
    unittest.main()
