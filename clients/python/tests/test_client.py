"""The client for threads against an agent that follows a script."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Callable, Dict, List
from unittest import mock

from galley_rpc import AgentExit, HostTool, HostToolContext, PromptOutcome, RpcClient, RpcError, types

from .support import END, GALLEY, NODE, SETTLED, START, FakeCase, Frame, asked, ok, refused, rule, said


def text(value: str) -> List[Frame]:
    return [{"type": "text", "text": value}]


class Life(FakeCase):
    def test_the_command_line(self) -> None:
        tail = ["--mode", "rpc", "--provider", "acme", "--model", "m", "--session-dir", "s", "--no-tools"]
        options: Dict[str, Any] = dict(provider="acme", model="m", session_dir="s", args=["--no-tools"])
        installed = {"PATH": self.directory_with_galley()}
        self.assertEqual(RpcClient(**options, env=installed).command_line(), ["galley", *tail])
        self.assertEqual(RpcClient(**options, env={"PATH": "/nowhere"}).command_line(), ["node", str(GALLEY), *tail])
        self.assertEqual(RpcClient(["ssh", "box", "galley"], **options).command_line(), ["ssh", "box", "galley", *tail])
        self.assertEqual(RpcClient(lambda args: ["sh", *args]).command_line(), ["sh", "--mode", "rpc"])

    def directory_with_galley(self) -> str:
        directory = tempfile.mkdtemp(prefix="galley-python-")
        self.addCleanup(shutil.rmtree, directory)
        program = Path(directory, "galley.exe" if os.name == "nt" else "galley")
        program.touch(0o755)
        return directory

    def test_start_agrees_on_what_both_sides_offer(self) -> None:
        client = self.fake(ready={"features": ["prompt-result", "echo-ids", "delta-updates"]})
        self.assertEqual(client.start()["version"], "0.0.0-fake")
        (negotiation,) = self.log(client, "negotiate_protocol")
        self.assertEqual(negotiation["features"], ["prompt-result", "echo-ids"])
        self.assertEqual(self.log(self.started(), "negotiate_protocol"), [])
        self.assertEqual(self.failure(client.start).message, "The agent is already running")

    def test_start_with_an_agent_that_knows_version_2_and_no_features(self) -> None:
        answer = ok("negotiate_protocol", data={"protocolVersion": 2})
        client = self.fake(
            rule("negotiate_protocol", answer),
            rule("prompt", *Prompts.RUN),
            ready={"supportedProtocolVersions": [1, 2], "features": None},
        )
        client.start()
        self.assertEqual(client.prompt_and_wait("x", timeout=15).text, "Hi")
        self.started(rule("negotiate_protocol", ok("negotiate_protocol")), ready={"supportedProtocolVersions": [2]})

    def test_whatever_goes_wrong_in_a_start_is_one_kind_of_error(self) -> None:
        tool = HostTool("t", "?", {"made of": object()}, lambda arguments, context: "")
        client = self.fake(custom_tools=[tool])
        self.assertEqual(self.failure(client.start).kind, "start_failed")
        self.assertFalse(client.is_running)

    def test_start_fails_with_the_reason_and_can_be_tried_again(self) -> None:
        dies = [NODE, "-e", "console.error('a warning\\nno such model');process.exit(3)", "--"]
        cases = [
            (RpcClient(dies), "The agent ended with code 3: no such model", 3),
            (self.fake(first="Welcome!\n"), "a line that is not a frame", None),
            (self.fake(first='{"type":"agent_start"}\n'), 'began with "agent_start"', None),
            (self.fake(first="", start_timeout=0.30000001), "No answer to start within 0.3 s", None),
            (RpcClient(["/no/such/galley"]), "No such file", None),
            (RpcClient(["bad\0name"]), "null byte", None),
            (RpcClient([7]), "not int", None),  # type: ignore[list-item]
        ]
        for client, reason, code in cases:
            for _ in range(2):
                error = self.failure(client.start)
                self.assertEqual((error.kind, error.command), ("start_failed", "start"))
                self.assertIn(reason, error.message)
                self.assertFalse(client.is_running)
                if code is not None:
                    self.assertEqual(error.exit_code, code)

    def test_it_works_again_after_stop_with_the_listeners_of_before(self) -> None:
        client = self.fake(rule("abort", START, ok("abort")))
        heard: "List[str]" = []
        arrived = threading.Semaphore(0)
        client.on_event(lambda event: (heard.append(event["type"]), arrived.release()))
        for _ in range(2):
            with client:
                client.abort()
                self.assertTrue(arrived.acquire(timeout=15))
            self.assertEqual(client.stop(), 0)
        self.assertEqual(heard, ["agent_start", "agent_start"])

    def test_the_end_of_the_agent_ends_everything(self) -> None:
        client = self.started(rule("bash"), rule("compact"), rule("abort", {"$stderr": "out of paper\n"}, {"$exit": 7}))
        exits: "List[AgentExit]" = []
        told = threading.Event()
        client.on_exit(lambda exit: (exits.append(exit), told.set()))
        events, errors = client.events(), []

        def run(work: Any, *args: Any) -> threading.Thread:
            thread = threading.Thread(target=lambda: errors.append(self.failure(work, *args)))
            thread.start()
            return thread

        threads = [run(client.bash, "sleep 9"), run(client.compact), run(client.prompt_and_wait, "x")]
        while len(self.log(client, "bash", "compact", "prompt")) < 3:
            time.sleep(0.01)
        threads += [run(client.wait_for_idle), run(client.abort)]
        for thread in threads:
            thread.join(10)
        self.assertEqual({(error.kind, error.exit_code) for error in errors} - {("stopped", None)}, {("exited", 7)})
        self.assertEqual(len(errors), 5)
        self.assertIn("The agent ended with code 7: out of paper", [error.message for error in errors])
        self.assertEqual(list(events), [])
        self.assertTrue(told.wait(15))
        self.assertEqual(exits, [AgentExit(7, "out of paper\n", False)])
        self.assertEqual(self.failure(client.get_state).kind, "stopped")

    def test_who_hears_of_the_end_may_start_again_at_once(self) -> None:
        """While a tool of the old process is still busy with being cancelled."""
        called, released = threading.Event(), threading.Event()

        def slow(arguments: Any, context: Any) -> str:
            context.on_cancel(lambda: released.wait(15))
            called.set()
            context.cancelled.wait(15)
            return "never"

        client = self.started(
            rule("abort", {"type": "host_tool_call", "id": "1", "toolCallId": "c", "toolName": "slow"}, ok("abort")),
            rule("bash", {"$kill": "SIGKILL"}),
            rule("prompt", *Prompts.RUN),
            custom_tools=[HostTool("slow", "?", {}, slow)],
        )
        settled, gone = threading.Event(), threading.Semaphore(0)
        client.on("agent_settled", lambda event: settled.set())
        client.on_exit(lambda exit: gone.release())
        client.abort()
        self.assertTrue(called.wait(15))
        self.assertEqual(self.failure(client.bash, "x").kind, "exited")
        client.start()
        released.set()
        self.assertTrue(gone.acquire(timeout=15))
        client.prompt_and_wait("x", timeout=15)
        self.assertTrue(settled.wait(15), "listeners hear the new process")
        client.kill()
        self.assertTrue(gone.acquire(timeout=15), "and its end")

    def test_stop_insists(self) -> None:
        client = self.started(rule("abort", {"$ignoreEnd": True}, ok("abort")), rule("bash"))
        client.abort()
        errors: "List[RpcError]" = []
        waiting = threading.Thread(target=lambda: errors.append(self.failure(client.bash, "x")))
        waiting.start()
        while not self.log(client, "bash"):
            time.sleep(0.01)
        self.assertEqual(client.stop(0.05), -15)
        waiting.join(5)
        self.assertEqual([(error.kind, error.message) for error in errors], [("stopped", "The agent was stopped")])

    def test_a_grandchild_that_holds_the_pipes_delays_nobody(self) -> None:
        script = """process.stdout.write('{"type":"ready"}\\n');
            require("child_process").spawn("sleep", ["30"], { stdio: "inherit", detached: true }).unref();
            process.stdin.resume(); process.stdin.on("end", () => process.exit(0));"""
        client = RpcClient([NODE, "-e", script, "--"])
        client.start()
        before = time.monotonic()
        self.assertEqual(client.stop(), 0)
        self.assertLess(time.monotonic() - before, 5)


class Requests(FakeCase):
    def test_deadlines(self) -> None:
        client = self.started(rule("get_tree"), rule("bash"), request_timeout=0.1)
        error = self.failure(client.get_tree)
        self.assertEqual((error.kind, error.command, error.message), ("timeout", "get_tree", "No answer to get_tree within 0.1 s"))
        self.assertEqual(self.failure(client.get_tree, timeout=0.01).kind, "timeout")
        self.assertEqual(self.failure(client.bash, "x", timeout=0.01).kind, "timeout")
        errors: "List[RpcError]" = []
        waiting = threading.Thread(target=lambda: errors.append(self.failure(client.bash, "x")))
        waiting.start()
        waiting.join(0.4)
        self.assertTrue(waiting.is_alive(), "bash has no deadline")
        client.stop()
        waiting.join(5)
        self.assertEqual([error.kind for error in errors], ["stopped"])

    def test_what_the_client_asks_on_its_own_account_passes_no_deadline(self) -> None:
        client = self.started(rule("get_state"), rule("prompt", ok("prompt")))
        before = time.monotonic()
        client.prompt("x")
        self.assertEqual(client.new_session(timeout=0.05)["type"], "new_session")
        self.assertEqual(self.failure(client.prompt_and_wait, "x", timeout=0.05).kind, "timeout")
        self.assertLess(time.monotonic() - before, 10)

    def test_failures_with_and_without_an_id(self) -> None:
        def without_id(command: str, error: str, **more: Any) -> Frame:
            return {"type": "response", "command": command, "success": False, "error": error, **more}

        client = self.started(
            rule("set_model", refused("set_model", "Model not found: a/b", code="m")),
            rule("clone", without_id("clone", "Unknown command: clone", requestId="$id")),
            rule("fork", {**without_id("fork", "Unknown command: fork"), "id": None}),
            rule("redo", without_id("parse", "Failed to parse command: oops")),
            rule("undo", without_id("branch", "nobody asked")),
        )
        client.get_state()
        error = self.failure(client.set_model, "a", "b")
        self.assertEqual((error.kind, error.command, error.code), ("refused", "set_model", "m"))
        self.assertEqual(self.failure(client.clone).message, "Unknown command: clone")
        self.assertEqual(self.failure(client.fork, "e").message, "Unknown command: fork")
        self.assertEqual(self.failure(client.redo).command, "redo")
        problems: "List[RpcError]" = []
        told = threading.Event()
        client.on_protocol_error(lambda error: (problems.append(error), told.set()))
        self.assertEqual(self.failure(client.undo, timeout=0.05).kind, "timeout")
        self.assertTrue(told.wait(10))
        self.assertEqual([(problem.kind, problem.message) for problem in problems], [("protocol", "nobody asked")])

    def test_every_command_sends_its_fields(self) -> None:
        client = self.started()
        client.set_model("acme", "m-1")
        client.bash("ls", exclude_from_context=True)
        client.set_event_filter(None)
        client.resolve_pending_action("apply", "fine", pending_ids=["pa_1"], hunks={"a.ts": [1]})
        client.get_messages_page(limit=5)
        frames = [{key: value for key, value in frame.items() if key != "id"} for frame in self.log(client)]
        self.assertEqual(
            frames,
            [
                {"type": "set_model", "provider": "acme", "modelId": "m-1"},
                {"type": "bash", "command": "ls", "excludeFromContext": True},
                {"type": "set_event_filter", "events": None},
                {
                    "type": "resolve_pending_action",
                    "action": "apply",
                    "reason": "fine",
                    "pendingIds": ["pa_1"],
                    "hunks": {"a.ts": [1]},
                },
                {"type": "get_messages_page", "limit": 5},
            ],
        )

    def test_what_cannot_be_sent_is_refused_here(self) -> None:
        client = self.started()
        self.assertEqual(self.failure(client.steer, "x" * (65 * 1024 * 1024)).kind, "overflow")
        with self.assertRaises(TypeError):
            client.steer(object())  # type: ignore[arg-type]
        self.assertEqual(self.log(client), [])


class Prompts(FakeCase):
    RUN = (ok("prompt"), START, said("Hi"), END, SETTLED)

    def test_the_id_on_acceptance_and_the_outcome_now_or_later(self) -> None:
        client = self.started(rule("prompt", *self.RUN))
        request_id = client.prompt("x")
        for _ in range(2):
            self.assertEqual(client.wait_for_prompt(request_id), PromptOutcome("completed", True, "Hi"))
        self.assertEqual(client.prompt_and_wait("x").text, "Hi")
        self.assertEqual(self.failure(client.wait_for_prompt, "req_none").kind, "refused")

    def test_retries_failures_and_aborts(self) -> None:
        again = ({**END, "isTerminal": False}, {"type": "auto_retry_start"}, START, said("Second"), END, SETTLED)
        client = self.started(
            rule("prompt", ok("prompt"), START, said("First"), *again, message="retry"),
            rule("prompt", ok("prompt"), START, said("", stopReason="error", errorMessage="503"), END, SETTLED, message="error"),
            rule("prompt", ok("prompt"), SETTLED, message="aborted"),
            rule("prompt", refused("prompt", "Invalid prompt"), message="bad"),
            rule("prompt", ok("prompt"), refused("prompt", "Agent is already processing.")),
        )
        self.assertEqual(client.prompt_and_wait("retry").text, "Second")
        self.assertEqual(client.prompt_and_wait("error"), PromptOutcome("error", True, "", {"message": "503"}))
        self.assertEqual(client.prompt_and_wait("aborted"), PromptOutcome("aborted", False, ""))
        self.assertEqual(self.failure(client.prompt_and_wait, "bad").kind, "refused")
        self.assertEqual(self.failure(client.prompt_and_wait, "busy").kind, "late")
        problems: "List[RpcError]" = []
        told = threading.Event()
        client.on_protocol_error(lambda error: (problems.append(error), told.set()))
        request_id = client.prompt("busy")
        self.assertTrue(told.wait(15))
        self.assertEqual([(error.kind, error.request_id) for error in problems], [("late", request_id)])
        client.wait_for_idle(timeout=15)

    def test_a_prompt_is_not_ended_by_the_run_before_it(self) -> None:
        client = self.started(
            rule("prompt", ok("prompt"), START, said("One"), END, times=1),
            rule("prompt", ok("prompt"), SETTLED, START, said("Two"), END, SETTLED),
        )
        first, second = client.prompt("1"), client.prompt("2")
        self.assertEqual(client.wait_for_prompt(first, timeout=15).text, "One")
        self.assertEqual(client.wait_for_prompt(second, timeout=15).text, "Two")

    def overlapping(
        self, first: List[Frame], last: List[Frame], second: str = "followUp", meanwhile: Callable[[RpcClient], Any] = id
    ) -> List[str]:
        client = self.started(
            rule("prompt", ok("prompt"), START, *first, message="A"),
            rule("prompt", ok("prompt"), message="B"),
            rule("prompt", ok("prompt"), *last, END, SETTLED),
        )
        ids = [client.prompt("A"), client.prompt("B", streaming_behavior=second)]
        meanwhile(client)
        ids.append(client.prompt("C", streaming_behavior="followUp"))
        return [client.wait_for_prompt(request_id, timeout=15).text for request_id in ids]

    def test_prompts_that_overlap_get_each_its_own_reply(self) -> None:
        a, b, c = [asked("A"), said("a")], [asked("B"), said("b")], [asked("C"), said("c")]
        self.assertEqual(self.overlapping(a, [*b, *c]), ["a", "b", "c"])
        self.assertEqual(self.overlapping([], [*a, *b, *c]), ["a", "b", "c"])
        self.assertEqual(self.overlapping(a, [*c, *b]), ["a", "b", "c"])
        self.assertEqual(self.overlapping(a, [asked("B!"), b[1], asked("C!"), c[1]]), ["a", "b", "c"])
        self.assertEqual(self.overlapping(a, [asked("B"), *c]), ["a", "c", "c"])
        self.assertEqual(self.overlapping([a[0], said("Looking", stopReason="toolUse")], [*b, *c]), ["b", "b", "c"])

    def test_what_steers_a_prompt_is_not_the_next_one(self) -> None:
        a, hurry = asked("A"), [asked("Hurry"), said("a")]
        looking = said("Looking", stopReason="toolUse")
        others = [asked("B"), said("b"), asked("C"), said("c")]
        self.assertEqual(self.overlapping([a], [*hurry, *others]), ["a", "b", "c"])
        self.assertEqual(self.overlapping([a, looking], [*hurry, *others]), ["a", "b", "c"])
        for meanwhile in (lambda client: client.steer("Hurry"), lambda client: client.follow_up("Hurry")):
            texts = self.overlapping([a, said("first")], [*hurry, *others], meanwhile=meanwhile)
            self.assertEqual(texts, ["a", "b", "c"])
        expanded = [asked("B!"), said("both"), *others[2:]]
        self.assertEqual(self.overlapping([a, looking], expanded, "steer"), ["both", "both", "c"])

    def test_a_command_may_open_another_session(self) -> None:
        result = {"type": "prompt_result", "id": "$id", "agentInvoked": False, "status": "completed"}
        for steps in ([ok("prompt", data={"agentInvoked": False})], [ok("prompt"), result], [*self.RUN]):
            client = self.started(
                rule("get_state", ok("get_state", data={"sessionFile": "first"}), times=2),
                rule("get_state", ok("get_state", data={"sessionFile": "second"})),
                rule("prompt", *steps, message="/fresh"),
                rule("prompt", *self.RUN),
            )
            client.prompt_and_wait("x", timeout=15)
            client.get_entries()
            self.assertEqual(client.session_file, "first")
            if client.prompt_and_wait("/fresh", timeout=15).agent_invoked:
                client.get_entries()
            self.assertEqual(client.session_file, "second")

    def test_prompt_result_where_it_was_agreed(self) -> None:
        result = {"type": "prompt_result", "id": "$id", "agentInvoked": True, "status": "completed", "sessionSettled": True}
        client = self.started(
            rule("prompt", ok("prompt", data={"agentInvoked": False}), message="/local"),
            rule("prompt", *self.RUN, result),
            ready={"features": ["prompt-result"]},
        )
        self.assertEqual(client.prompt_and_wait("x"), PromptOutcome("completed", True, "Hi"))
        self.assertEqual(client.prompt_and_wait("/local"), PromptOutcome("completed", False, ""))
        client.wait_for_idle(timeout=15)

    def test_an_agent_without_agent_settled_is_asked(self) -> None:
        state = {"isStreaming": True}
        client = self.started(
            rule("prompt", ok("prompt"), START, said("Old"), {"type": "agent_end", "messages": []}),
            rule("get_state", ok("get_state", data=state), times=2),
            rule("get_state", ok("get_state", data={"isStreaming": False})),
        )
        self.assertEqual(client.prompt_and_wait("x", timeout=10).text, "Old")

    def test_a_deadline_for_the_run(self) -> None:
        client = self.started(rule("prompt", ok("prompt"), START))
        self.assertEqual(self.failure(client.prompt_and_wait, "x", timeout=0.05).kind, "timeout")

    def test_an_agent_that_reads_nothing_can_be_waited_for_and_its_end_is_told(self) -> None:
        client = self.started(rule("get_state", ok("get_state", data={"isStreaming": True})), rule("abort", {"$exit": 3}))
        gone = threading.Event()
        client.on_exit(lambda exit: gone.set())
        client.get_state()
        asked_in_vain = threading.Event()

        def clogged(*_: Any) -> Any:
            asked_in_vain.set()
            raise RpcError("overflow", "The agent does not read what it is sent")

        waiting = threading.Thread(target=lambda: self.failure(client.wait_for_idle, timeout=15))
        issue = client._issue
        with mock.patch("galley_rpc._activity.OTHER_PROBE_SECONDS", 0.0), mock.patch.object(client, "_issue", clogged):
            waiting.start()
            self.assertTrue(asked_in_vain.wait(15))
        issue("abort", {})
        waiting.join(15)
        self.assertTrue(gone.wait(15))

    def test_waiting_for_idle_misses_nothing(self) -> None:
        idle, busy = ok("get_state", data={"isStreaming": False}), ok("get_state", data={"isStreaming": True})
        client = self.started(
            rule("get_state", idle, times=1),
            rule("get_state", busy, SETTLED, times=1),
            rule("get_state", idle),
            rule("get_tree", START, ok("get_tree")),
            rule("abort", END, SETTLED, ok("abort")),
        )
        client.get_entries()
        for _ in range(2):
            client.wait_for_idle(timeout=15)
        client.get_tree()
        self.assertEqual(self.failure(client.wait_for_idle, timeout=0.05).kind, "timeout")
        client.abort()
        client.wait_for_idle(timeout=15)

    def test_the_stream_ends_with_the_run(self) -> None:
        client = self.started(rule("prompt", *self.RUN, times=3), rule("prompt", ok("prompt"), refused("prompt", "no")))
        for _ in range(2):
            kinds = [event["type"] for event in client.stream("x")]
            self.assertEqual(kinds, ["agent_start", "message_end", "agent_end", "agent_settled"])
        for _ in client.stream("x"):
            break
        self.assertEqual(self.failure(lambda: list(client.stream("x"))).kind, "late")


class Events(FakeCase):
    def test_listeners(self) -> None:
        unknown = {"type": "weather_update", "degrees": 21}
        failure = {"type": "extension_error", "extensionPath": "e.ts", "event": "input", "error": "boom"}
        client = self.started(rule("abort", {"type": "todo_auto_clear"}, unknown, failure, ok("abort")))
        heard: "List[Any]" = []
        problems: "List[RpcError]" = []
        done = threading.Event()

        def raises(_: Any) -> None:
            raise ValueError("my fault")

        client.on_protocol_error(problems.append)
        client.on("todo_auto_clear", raises)
        client.on("todo_auto_clear", lambda event: heard.append(("one", event["type"])))
        client.on_event(lambda event: heard.append(("event", event["type"])))
        client.on_unknown(lambda frame: heard.append(("unknown", frame["degrees"])))
        # A listener may use the client: it does not run in the thread that reads.
        client.on_extension_error(lambda event: (heard.append(("state", client.get_entries()["type"])), done.set()))
        remove = client.on_frame(lambda frame: heard.append(("frame", frame["type"])))
        client.abort()
        self.assertTrue(done.wait(15))
        self.assertEqual(
            heard,
            [
                ("frame", "todo_auto_clear"),
                ("event", "todo_auto_clear"),
                ("one", "todo_auto_clear"),
                ("frame", "weather_update"),
                ("unknown", 21),
                ("frame", "extension_error"),
                ("event", "extension_error"),
                ("state", "get_entries"),
            ],
        )
        self.assertEqual([(problem.kind, problem.message) for problem in problems], [("listener", "A listener raised: my fault")])
        self.assertIsInstance(problems[0].__cause__, ValueError)
        remove()
        remove()

    def test_loops_history_and_overflow(self) -> None:
        client = self.started(
            rule("abort", *[{"type": "todo_auto_clear"}] * 6, ok("abort")), max_unread_events=5, max_event_history=4
        )
        events = client.events()
        client.abort()
        self.assertEqual(self.failure(lambda: list(events)).kind, "overflow")
        self.assertEqual(list(events), [])
        self.assertEqual(len(client.history), 4)
        client.stop()
        self.assertEqual(list(client.events()), [])

    def test_nonsense_chunks_and_stderr(self) -> None:
        client = self.started(
            rule("abort", {"$raw": "hello\n"}, {"$chunk": {"type": "agent_start", "mark": "€"}}, ok("abort")),
            rule("get_tree", {"$chunk": ok("get_tree", data={"leafId": "x"})}),
            rule("redo", {"$stderr": "x" * 5000 + "end"}, ok("redo")),
            max_stderr_bytes=1000,
        )
        with self.assertLogs("galley_rpc", "WARNING") as logs:
            client.abort()
            self.assertEqual([event.get("mark") for event in client.history], ["€"])
        self.assertIn("a line that is not a frame", logs.output[0])
        self.assertEqual(client.get_tree(), {"leafId": "x"})
        client.redo()
        client.stop()
        self.assertEqual((len(client.stderr), client.stderr[-4:]), (1000, "xend"))


def tool(execute: Any, name: str = "echo") -> HostTool:
    return HostTool(name, "Echo", {"type": "object"}, execute)


def call(call_id: str, name: str, **arguments: Any) -> Frame:
    return {"type": "host_tool_call", "id": call_id, "toolCallId": f"call_{call_id}", "toolName": name, "arguments": arguments}


class Tools(FakeCase):
    def results(self, client: RpcClient, count: int) -> List[Frame]:
        deadline = time.monotonic() + 15
        while True:
            found = [frame for frame in self.log(client) if frame["type"] == "host_tool_result"]
            if len(found) >= count or time.monotonic() > deadline:
                return sorted(found, key=lambda frame: frame["id"])
            time.sleep(0.01)

    def test_calls_are_answered_with_text_blocks_or_an_error(self) -> None:
        seen: "List[Any]" = []

        def echo(arguments: Dict[str, Any], context: HostToolContext) -> str:
            seen.append((arguments, context.tool_call_id))
            context.send_update("half")
            return "whole"

        def raises(arguments: Dict[str, Any], context: HostToolContext) -> str:
            raise KeyError("no such table")

        blocks: types.ToolResult = {"content": [{"type": "text", "text": "no row"}], "isError": True}
        tools = [
            tool(echo),
            tool(lambda arguments, context: blocks, "blocks"),
            tool(raises, "raises"),
            tool(lambda arguments, context: None, "malformed"),
            tool(lambda arguments, context: {"content": [], "details": object()}, "not-json"),
        ]
        names = ["echo", "blocks", "raises", "malformed", "missing", "not-json"]
        calls = [call(str(index), name, message="hello") for index, name in enumerate(names)]
        client = self.started(rule("abort", *calls, ok("abort")), custom_tools=tools)
        client.abort()
        results = self.results(client, 6)
        (registration,) = self.log(client, "set_host_tools")
        self.assertEqual(registration["tools"][0], {"name": "echo", "description": "Echo", "parameters": {"type": "object"}})
        self.assertEqual(seen, [({"message": "hello"}, "call_0")])
        self.assertEqual([frame["partialResult"] for frame in self.log(client, "host_tool_update")], [{"content": text("half")}])
        self.assertEqual(results[0], {"type": "host_tool_result", "id": "0", "result": {"content": text("whole")}})
        self.assertEqual([frame.get("isError") for frame in results], [None, True, True, True, True, True])
        sentences = [frame["result"]["content"][0]["text"] for frame in results[1:]]
        self.assertEqual(
            sentences[:4],
            [
                "no row",
                "'no such table'",
                'Host tool "malformed" returned a malformed result',
                'Host tool "missing" is not registered',
            ],
        )
        self.assertIn("not JSON serializable", sentences[4])

    def test_a_call_that_is_taken_back_answers_nothing(self) -> None:
        contexts: "List[HostToolContext]" = []
        started, finished = threading.Semaphore(0), threading.Semaphore(0)

        def slow(arguments: Dict[str, Any], context: HostToolContext) -> str:
            contexts.append(context)
            started.release()
            context.cancelled.wait(10)
            context.send_update("too late")
            finished.release()
            return "too late"

        cancel = {"type": "host_tool_cancel", "id": "c", "targetId": "1"}
        client = self.started(
            rule("abort", call("1", "echo"), ok("abort")), rule("abort_bash", cancel, ok("abort_bash")), custom_tools=[tool(slow)]
        )
        client.abort()
        self.assertTrue(started.acquire(timeout=15))
        client.abort_bash()
        self.assertTrue(finished.acquire(timeout=15))
        client.get_entries()
        self.assertEqual(self.log(client, "host_tool_update", "host_tool_result"), [])
        client.abort()
        self.assertTrue(started.acquire(timeout=15))
        client.stop()
        self.assertTrue(contexts[1].cancelled.wait(15))

    def test_tools_that_are_given_up_are_served_all_the_same(self) -> None:
        """The agent may still take them."""
        old, new = [HostTool(name, "?", {}, lambda arguments, context, name=name: name) for name in ("old", "new")]
        client = self.started(
            rule("set_host_tools", ok("set_host_tools"), times=1),
            rule("set_host_tools", times=1),
            rule("abort", call("1", "old"), call("2", "new"), ok("abort")),
            custom_tools=[old],
        )
        self.assertEqual(self.failure(client.set_custom_tools, [new], timeout=0.05).kind, "timeout")
        client.abort()
        texts = sorted(frame["result"]["content"][0]["text"] for frame in self.results(client, 2))
        self.assertEqual(texts, ["new", "old"])
        client.stop()
        client.start()
        (registration,) = self.log(client, "set_host_tools")
        self.assertEqual([definition["name"] for definition in registration["tools"]], ["new"])

    def test_tools_that_are_taken_count_whatever_becomes_of_others_that_overlap(self) -> None:
        refusal = {**refused("set_host_tools", "taken"), "id": "req_2"}
        client = self.started(
            rule("set_host_tools", times=1),
            rule("set_host_tools", refusal, ok("set_host_tools")),
            rule("abort", call("1", "first"), call("2", "second"), ok("abort")),
        )
        errors: "List[RpcError]" = []

        def set_first() -> None:
            errors.append(self.failure(client.set_host_tools, [tool(lambda arguments, context: "", "first")]))

        setting = threading.Thread(target=set_first)
        setting.start()
        while not self.log(client, "set_host_tools"):
            time.sleep(0.01)
        client.set_host_tools([tool(lambda arguments, context: "served", "second")])
        setting.join(15)
        self.assertEqual([error.message for error in errors], ["taken"])
        client.abort()
        texts = [frame["result"]["content"][0]["text"] for frame in self.results(client, 2)]
        self.assertEqual(texts, ['Host tool "first" is not registered', "served"])

    def test_refused_tools_leave_the_old_ones(self) -> None:
        client = self.started(
            rule("set_host_tools", ok("set_host_tools"), times=1),
            rule("set_host_tools", refused("set_host_tools", "taken"), times=1),
            rule("set_host_tools", call("2", "echo"), ok("set_host_tools")),
            rule("abort", call("1", "echo"), ok("abort")),
            custom_tools=[tool(lambda arguments, context: "old")],
        )
        self.assertEqual(self.failure(client.set_host_tools, [tool(lambda arguments, context: "new")]).message, "taken")
        client.abort()
        self.results(client, 1)
        client.set_host_tools([tool(lambda arguments, context: "newer")])
        results = self.results(client, 2)
        self.assertEqual([frame["result"]["content"][0]["text"] for frame in results], ["old", "newer"])


def ask(request_id: str, method: str, **more: Any) -> Frame:
    return {"type": "extension_ui_request", "id": request_id, "method": method, "title": "?", **more}


class DialogCase(FakeCase):
    QUESTIONS = [ask("1", "confirm"), ask("2", "select", options=["a"]), ask("3", "input"), ask("4", "editor")]

    def answers(self, client: RpcClient, count: int) -> List[Frame]:
        deadline = time.monotonic() + 15
        while True:
            found = self.log(client, "extension_ui_response")
            if len(found) >= count or time.monotonic() > deadline:
                return [{key: value for key, value in frame.items() if key != "type"} for frame in found]
            time.sleep(0.01)

    def asked(self, handlers: Any = None, *more: Frame) -> List[Frame]:
        client = self.started(rule("abort", *self.QUESTIONS, ask("5", "notify", message="hi"), *more, ok("abort")))
        if handlers is not None:
            handlers(client)
        client.abort()
        return sorted(self.answers(client, 4), key=lambda frame: frame["id"])

    def test_questions_are_cancelled_when_nobody_answers(self) -> None:
        self.assertEqual(self.asked(), [{"id": str(index), "cancelled": True} for index in range(1, 5)])

    def test_without_a_screen(self) -> None:
        first, *rest = self.asked(lambda client: client.install_headless_ui())
        self.assertEqual(first, {"id": "1", "confirmed": False})
        self.assertEqual(rest, [{"id": str(index), "cancelled": True} for index in range(2, 5)])
        answers = self.asked(lambda client: client.install_headless_ui(confirm=True, select="a", input="b", editor="c"))
        expected = [{"id": "1", "confirmed": True}, {"id": "2", "value": "a"}, {"id": "3", "value": "b"}, {"id": "4", "value": "c"}]
        self.assertEqual(answers, expected)

    def test_handlers_that_fail_or_answer_nonsense_cancel(self) -> None:
        shown: "List[str]" = []
        is_shown = threading.Event()

        def raises(request: Frame, context: Any) -> str:
            raise OSError("no screen")

        handlers = {
            "confirm": lambda request, context: request["title"] == "?",
            "select": raises,
            "input": lambda request, context: None,
            "editor": lambda request, context: 5,
            "notify": lambda request, context: (shown.append(request["message"]), is_shown.set()),
        }
        with self.assertLogs("galley_rpc", "WARNING"):
            answers = self.asked(lambda client: client.set_ui_handlers(handlers))
        self.assertEqual(answers[0], {"id": "1", "confirmed": True})
        self.assertEqual(answers[1:], [{"id": str(index), "cancelled": True} for index in range(2, 5)])
        self.assertTrue(is_shown.wait(15))
        self.assertEqual(shown, ["hi"])

    def test_a_dialog_that_is_taken_back_or_late_gets_no_second_answer(self) -> None:
        client = self.started(
            rule("abort", ask("1", "confirm"), ask("9", "cancel", targetId="1"), ask("2", "confirm", timeout=20), ok("abort"))
        )
        closed = threading.Semaphore(0)

        def wait(request: Frame, context: Any) -> bool:
            context.cancelled.wait(10)
            closed.release()
            return True

        client.set_ui_handlers({"confirm": wait})
        client.abort()
        for _ in range(2):
            self.assertTrue(closed.acquire(timeout=15))
        self.assertEqual(self.answers(client, 1), [{"id": "2", "cancelled": True, "timedOut": True}])

    def test_a_listener_may_answer_inside_any_command(self) -> None:
        client = self.started(
            rule("new_session", ask("ui_1", "confirm")),
            rule(
                "extension_ui_response",
                {"id": "req_2", "type": "response", "command": "new_session", "success": True, "data": {"cancelled": True}},
            ),
        )
        client.on_ui_request(lambda request: client.respond_confirm(request["id"], False))
        self.assertEqual(client.new_session(timeout=15), {"cancelled": True})
        client.respond_value("a", "v")
        client.respond_cancel("b")
        client.respond_cancel("c", timed_out=True)
        self.assertEqual(
            self.answers(client, 4),
            [
                {"id": "ui_1", "confirmed": False},
                {"id": "a", "value": "v"},
                {"id": "b", "cancelled": True},
                {"id": "c", "cancelled": True, "timedOut": True},
            ],
        )
