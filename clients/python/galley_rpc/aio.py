"""The same client for asyncio. The pipes are served by threads, so it works in any loop, also one beside the main thread;
everything of the host's (listeners, tools, handlers) runs in the loop in which `start` was called, or, once that is
closed, in the next one that waits for the agent."""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import inspect
import math
import time
from typing import Any, AsyncIterator, Callable, Dict, List, Mapping, Optional, Sequence

from . import types
from ._activity import PromptOutcome
from ._calls import HostTool
from ._commands import AsyncCommands, given
from ._core import Attempt, error_of
from ._dialogs import UiHandlers, headless_handlers
from ._events import Remove
from ._loops import AsyncEventStream, LoopCalls, awaited_in, heard, in_thread
from ._process import AgentExit
from ._wire import Frame
from .client import SESSION_COMMANDS, USUAL_FEATURES, Command, RpcClient
from .errors import RpcError


class AsyncRpcClient(AsyncCommands):
    """Takes the options of RpcClient. Tools and handlers may be coroutine functions; a call that is taken back cancels its
    task. Plain functions run in a thread, so that they cannot hold up the loop."""

    def __init__(
        self,
        command: Optional[Command] = None,
        *,
        args: Sequence[str] = (),
        cwd: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        provider: Optional[str] = None,
        model: Optional[str] = None,
        session_dir: Optional[str] = None,
        custom_tools: Sequence[HostTool] = (),
        features: Sequence[str] = USUAL_FEATURES,
        start_timeout: float = 30.0,
        request_timeout: float = 30.0,
        max_event_history: int = 256,
        max_unread_events: int = 10_000,
        max_stderr_bytes: int = 64 * 1024,
    ) -> None:
        self._client = RpcClient(
            command,
            args=args,
            cwd=cwd,
            env=env,
            provider=provider,
            model=model,
            session_dir=session_dir,
            custom_tools=[self._bridged_tool(tool) for tool in custom_tools],
            features=features,
            start_timeout=start_timeout,
            request_timeout=request_timeout,
            max_event_history=max_event_history,
            max_unread_events=max_unread_events,
            max_stderr_bytes=max_stderr_bytes,
        )
        #: Where everything of the host's runs.
        self._home: Optional[LoopCalls] = None

    # Life

    async def start(self) -> types.ReadyFrame:
        return await self._attempt(self._client._start)

    async def stop(self, grace: float = 6.0) -> Optional[int]:
        return await in_thread(self._client.stop, grace)

    def kill(self) -> None:
        self._client.kill()

    async def restart(self) -> bool:
        return await self._attempt(self._client._restart)

    async def __aenter__(self) -> "AsyncRpcClient":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def is_running(self) -> bool:
        return self._client.is_running

    @property
    def ready(self) -> Optional[types.ReadyFrame]:
        return self._client.ready

    @property
    def session_file(self) -> Optional[str]:
        return self._client.session_file

    @property
    def stderr(self) -> str:
        return self._client.stderr

    @property
    def history(self) -> List[types.Event]:
        return self._client.history

    # Requests and prompts

    async def request(
        self, command: str, fields: Optional[Dict[str, Any]] = None, *, timeout: Optional[float] = None
    ) -> Any:
        deadline = time.monotonic() + (self._client._request_timeout if timeout is None else timeout)
        request_id, future = self._client._issue(command, fields or {})
        data = await self._wait(future, command, request_id, timeout)
        if command in SESSION_COMMANDS:
            self._client._learn()
            await self._learned(deadline)
        return data

    def send(self, frame: Frame) -> None:
        self._client.send(frame)

    async def prompt(
        self,
        message: str,
        *,
        images: Optional[List[types.ImageContent]] = None,
        streaming_behavior: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> str:
        fields = {"message": message, **given({"images": images, "streamingBehavior": streaming_behavior})}
        return await self._accepted("prompt", *self._client._issue("prompt", fields), timeout)

    async def abort_and_prompt(
        self, message: str, *, images: Optional[List[types.ImageContent]] = None, timeout: Optional[float] = None
    ) -> str:
        fields = {"message": message, **given({"images": images})}
        return await self._accepted("abort_and_prompt", *self._client._issue("abort_and_prompt", fields), timeout)

    async def prompt_and_wait(
        self,
        message: str,
        *,
        images: Optional[List[types.ImageContent]] = None,
        streaming_behavior: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> PromptOutcome:
        fields = {"message": message, **given({"images": images, "streamingBehavior": streaming_behavior})}
        deadline = time.monotonic() + (math.inf if timeout is None else timeout)
        request_id, future, outcome = self._client._begin(fields)
        await self._accepted("prompt", request_id, future, timeout)
        return await self._ended_prompt(outcome, request_id, deadline)

    async def wait_for_prompt(self, request_id: str, *, timeout: Optional[float] = None) -> PromptOutcome:
        deadline = time.monotonic() + (math.inf if timeout is None else timeout)
        return await self._ended_prompt(self._client._outcome(request_id), request_id, deadline)

    async def wait_for_idle(self, *, timeout: Optional[float] = None) -> None:
        await self._wait(self._client._when_idle(), "wait_for_idle", None, math.inf if timeout is None else timeout)

    async def stream(
        self,
        message: str,
        *,
        images: Optional[List[types.ImageContent]] = None,
        streaming_behavior: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> AsyncIterator[types.Event]:
        fields = {"message": message, **given({"images": images, "streamingBehavior": streaming_behavior})}
        async with self.events() as events:
            request_id, future, outcome = self._client._begin(fields)
            outcome.add_done_callback(lambda done: events.end(error_of(done)))

            def is_late() -> None:
                events.end(self._client._timed_out("prompt", request_id, timeout))

            has_deadline = timeout is not None and math.isfinite(timeout)
            timer = asyncio.get_running_loop().call_later(timeout, is_late) if has_deadline else None
            try:
                await self._accepted("prompt", request_id, future, timeout)
                async for event in events:
                    yield event
            finally:
                if timer is not None:
                    timer.cancel()

    # Events

    def events(self) -> AsyncEventStream:
        client = self._client
        stream = AsyncEventStream(asyncio.get_running_loop(), client._max_unread_events, client._drop)
        with client._lock:
            client._opened(stream)
        return stream

    def on_event(self, listener: Callable[[types.Event], object]) -> Remove:
        return self._client.on_event(self._in_loop(listener))

    def on(self, event_type: str, listener: Callable[[Any], object]) -> Remove:
        return self._client.on(event_type, self._in_loop(listener))

    def on_ui_request(self, listener: Callable[[types.ExtensionUiRequest], object]) -> Remove:
        return self._client.on_ui_request(self._in_loop(listener))

    def on_extension_error(self, listener: Callable[[types.ExtensionError], object]) -> Remove:
        return self._client.on_extension_error(self._in_loop(listener))

    def on_unknown(self, listener: Callable[[Frame], object]) -> Remove:
        return self._client.on_unknown(self._in_loop(listener))

    def on_frame(self, listener: Callable[[Frame], object]) -> Remove:
        return self._client.on_frame(self._in_loop(listener))

    def on_exit(self, listener: Callable[[AgentExit], object]) -> Remove:
        return self._client.on_exit(self._in_loop(listener))

    def on_protocol_error(self, listener: Callable[[RpcError], object]) -> Remove:
        return self._client.on_protocol_error(self._in_loop(listener))

    # Tools and dialogs

    async def set_host_tools(
        self, tools: Sequence[HostTool], *, timeout: Optional[float] = None
    ) -> types.SetHostToolsData:
        bridged = [self._bridged_tool(tool) for tool in tools]
        request_id, future = self._client._lend(bridged)
        return await self._wait(future, "set_host_tools", request_id, timeout)

    async def set_custom_tools(
        self, tools: Sequence[HostTool], *, timeout: Optional[float] = None
    ) -> types.SetHostToolsData:
        return await self.set_host_tools(tools, timeout=timeout)

    def set_ui_handlers(self, handlers: Optional[UiHandlers]) -> None:
        bridged = {method: self._bridged(handler) for method, handler in (handlers or {}).items()}
        self._client.set_ui_handlers(None if handlers is None else bridged)

    def install_headless_ui(
        self,
        *,
        confirm: bool = False,
        select: Optional[str] = None,
        input: Optional[str] = None,
        editor: Optional[str] = None,
    ) -> None:
        self._client.set_ui_handlers(headless_handlers(confirm, select, input, editor))

    def respond_value(self, request_id: str, value: str) -> None:
        self._client.respond_value(request_id, value)

    def respond_confirm(self, request_id: str, confirmed: bool) -> None:
        self._client.respond_confirm(request_id, confirmed)

    def respond_cancel(self, request_id: str, *, timed_out: Optional[bool] = None) -> None:
        self._client.respond_cancel(request_id, timed_out=timed_out)

    # Inside

    async def _attempt(self, work: Callable[[Attempt], Any]) -> Any:
        """A thread cannot be cancelled; what it starts can be ended, so that a start that is given up leaves no agent."""
        self._settle_here()
        attempt = Attempt()
        running = in_thread(work, attempt)
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError:
            connection = self._client._give_up(attempt)
            if connection is not None:
                await in_thread(connection.closed.wait)
            raise
        return running.result()

    def _settle_here(self) -> None:
        self._home = LoopCalls(asyncio.get_running_loop(), self._client._tell_raised)

    async def _wait(
        self, future: "concurrent.futures.Future[Any]", command: str, request_id: Optional[str], timeout: Optional[float]
    ) -> Any:
        if self._home is not None and self._home.loop.is_closed():
            self._settle_here()
        seconds = self._client._deadline(command, timeout)
        try:
            if future.done():  # which the loop would not learn without some time
                return future.result()
            # Shielded: several may wait for one outcome, and none may cancel it for the others.
            return await asyncio.wait_for(asyncio.shield(heard(asyncio.wrap_future(future))), seconds)
        except asyncio.TimeoutError:
            raise self._client._timed_out(command, request_id, seconds) from None
        except BaseException:
            self._client._forget(request_id)
            raise

    async def _accepted(
        self, command: str, request_id: str, future: "concurrent.futures.Future[Any]", timeout: Optional[float]
    ) -> str:
        await self._wait(future, command, request_id, timeout)
        self._client._make_sure()
        return request_id

    async def _ended_prompt(
        self, outcome: "concurrent.futures.Future[PromptOutcome]", request_id: str, deadline: float
    ) -> PromptOutcome:
        ended = await self._wait(outcome, "prompt", request_id, max(0.0, deadline - time.monotonic()))
        if not ended.agent_invoked:
            await self._learned(deadline)
        return ended

    async def _learned(self, deadline: float) -> None:
        learning = self._client._learning
        if learning is not None:
            await asyncio.wait([heard(asyncio.wrap_future(learning))], timeout=self._client._rest(deadline))

    def _in_loop(self, listener: Callable[[Any], object]) -> Callable[[Any], None]:
        def call(value: Any) -> None:
            if self._home is not None:  # as it is from the first start on
                self._home.call(listener, value)

        return call

    def _bridged_tool(self, tool: HostTool) -> HostTool:
        return dataclasses.replace(tool, execute=self._bridged(tool.execute))

    def _bridged(self, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Runs in the thread of the call; what it has to await is awaited in the loop."""

        def call(value: Any, context: Any) -> Any:
            result = function(value, context)
            if not inspect.isawaitable(result):
                return result
            if self._home is None:
                raise RuntimeError("The client was never started")
            return awaited_in(self._home.loop, result, context.on_cancel)

        return call
