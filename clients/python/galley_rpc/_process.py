"""One agent process and its three pipes. Frames arrive in the order of the wire, buffers are bounded in every direction,
and `on_close` is called exactly once, after the last frame, whatever the process or its children do."""

from __future__ import annotations

import os
import queue
import shutil
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, List, Mapping, Optional, Sequence

from ._wire import MAX_RECORD_BYTES, ChunkAssembler, Frame, LineReader, Problem, Read, encode
from .errors import RpcError

#: A grandchild that holds the pipes open keeps no caller waiting longer than this after the agent's end.
LINGER_SECONDS = 1.0


def galley_command(env: Optional[Mapping[str, str]]) -> List[str]:
    """`galley` on the PATH of the agent; without one, the program of the npm package that this client is part of."""
    own = Path(__file__).resolve().parents[3] / "bin" / "galley.js"
    if own.is_file() and shutil.which("galley", path=os.pathsep.join(os.get_exec_path(env))) is None:
        return ["node", str(own)]
    return ["galley"]


@dataclass(frozen=True)
class AgentExit:
    """How a process ended. A negative code is a signal. `is_expected`: stop() or kill() was called."""

    code: Optional[int]
    stderr: str
    is_expected: bool


class Connection:
    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Optional[str],
        env: Optional[Mapping[str, str]],
        max_stderr_bytes: int,
        on_frame: Callable[[Frame], None],
        on_problem: Callable[[str], None],
        on_failure: Callable[[BaseException], None],
        on_close: Callable[[AgentExit], None],
    ) -> None:
        self._on_frame, self._on_problem, self._on_close = on_frame, on_problem, on_close
        self._on_failure = on_failure
        self._max_stderr_bytes = max_stderr_bytes
        self._stderr = b""
        self._unwritten: "queue.Queue[Optional[bytes]]" = queue.Queue()
        self._unwritten_bytes = 0
        self._bytes_lock = threading.Lock()
        self._chunks = ChunkAssembler()
        self.is_stopping = False
        self.is_killed = False
        self.is_closed = False
        self.closed = threading.Event()
        self.exit: Optional[AgentExit] = None
        self._process = subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=cwd,
            env=None if env is None else dict(env),
        )
        self._readers = [self._thread(self._read_stdout), self._thread(self._read_stderr)]
        self._writer = self._thread(self._write_stdin)
        self._thread(self._await_end)

    @property
    def stderr(self) -> str:
        return self._stderr.decode("utf-8", "replace")

    @property
    def is_open(self) -> bool:
        return not self.is_stopping and not self.is_closed

    @property
    def is_clogged(self) -> bool:
        return self._unwritten_bytes > 1024 * 1024

    def send(self, frame: Frame) -> None:
        """Raises what cannot be sent at all; never blocks."""
        line = encode(frame)
        if len(line) > MAX_RECORD_BYTES:
            raise RpcError("overflow", f"A frame of {len(line)} bytes is too large for the agent")
        with self._bytes_lock:
            if self._unwritten_bytes + len(line) > 2 * MAX_RECORD_BYTES:
                raise RpcError("overflow", "The agent does not read what it is sent")
            self._unwritten_bytes += len(line)
        self._unwritten.put(line)

    def end(self) -> None:
        """Closes stdin: the agent ends in order."""
        self.is_stopping = True
        self._unwritten.put(None)

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self.is_killed = True
        self._process.kill()

    def _thread(self, work: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=work, name=f"galley-rpc-{work.__name__.strip('_')}", daemon=True)
        thread.start()
        return thread

    def _read_stdout(self) -> None:
        assert self._process.stdout is not None
        reader = LineReader()
        try:
            with self._process.stdout as stdout:
                while True:
                    chunk = os.read(stdout.fileno(), 65536)
                    for read in reader.push(chunk) if chunk else reader.end():
                        self._take(read)
                    if not chunk:
                        break
        except BaseException as raised:  # nothing reads on: the agent's end tells every caller that waits
            self._process.kill()
            self._on_failure(raised)
        try:
            self._process.wait(LINGER_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()  # an agent that no longer writes cannot answer

    def _take(self, read: Read) -> None:
        for frame in [read] if isinstance(read, Problem) else self._chunks.take(read):
            if self.is_closed:
                return  # a grandchild still writes to the pipe
            if isinstance(frame, Problem):
                self._on_problem(str(frame))
            else:
                self._on_frame(frame)

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as stderr:
            while True:
                chunk = os.read(stderr.fileno(), 65536)
                if not chunk:
                    return
                kept = self._stderr + chunk
                self._stderr = kept[max(0, len(kept) - self._max_stderr_bytes) :]

    def _write_stdin(self) -> None:
        assert self._process.stdin is not None
        with self._process.stdin as stdin:
            while True:
                line = self._unwritten.get()
                if line is None:
                    return
                view = memoryview(line)
                try:
                    while view:
                        view = view[stdin.write(view) :]
                except (OSError, ValueError):
                    return  # the pipe is gone; the exit says it better
                with self._bytes_lock:
                    self._unwritten_bytes -= len(line)

    def _await_end(self) -> None:
        code = self._process.wait()
        deadline = time.monotonic() + LINGER_SECONDS
        for reader in self._readers:
            reader.join(max(0.0, deadline - time.monotonic()))
        self.is_closed = True
        self._unwritten.put(None)
        self.exit = AgentExit(code, self.stderr, self.is_stopping or self.is_killed)
        self._on_close(self.exit)
        self.closed.set()
