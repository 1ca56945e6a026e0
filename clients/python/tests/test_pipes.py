"""The pipes of one process: what is kept of stderr, and what becomes of stdin when the agent closes it."""

from __future__ import annotations

import sys

from galley_rpc import RpcClient

from .support import FakeCase, ok, rule

CLOSES_STDIN = """import os, sys, time
print('{"type":"ready"}', flush=True)
os.close(0)
time.sleep(0.3)
os._exit(4)"""


class Pipes(FakeCase):
    def test_stderr_need_not_be_kept(self) -> None:
        for limit, kept in ((0, ""), (3, "end")):
            client = self.started(rule("redo", {"$stderr": "the end"}, ok("redo")), max_stderr_bytes=limit)
            client.redo()
            client.stop()
            self.assertEqual(client.stderr, kept)

    def test_a_pipe_that_broke_is_closed(self) -> None:
        client = RpcClient(lambda args: [sys.executable, "-c", CLOSES_STDIN])
        client.start()
        connection = client._connection
        assert connection is not None and connection._process.stdin is not None
        self.assertEqual(self.failure(client.steer, "x" * 200_000, timeout=15).kind, "exited")
        self.assertTrue(connection.closed.wait(15))
        connection._writer.join(15)
        self.assertTrue(connection._process.stdin.closed)
