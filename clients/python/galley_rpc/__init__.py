"""A client for `galley --mode rpc`: RpcClient for threads, AsyncRpcClient for asyncio. Needs the standard library only."""

from . import types
from ._activity import PromptOutcome
from ._calls import CallContext, HostTool, HostToolContext, HostToolOutput
from ._dialogs import UiHandlers
from ._events import EventStream
from ._loops import AsyncEventStream
from ._process import AgentExit
from .aio import AsyncRpcClient
from .client import RpcClient
from .errors import RpcError, RpcErrorKind

__version__ = "0.1.0"

__all__ = [
    "AgentExit",
    "AsyncEventStream",
    "AsyncRpcClient",
    "CallContext",
    "EventStream",
    "HostTool",
    "HostToolContext",
    "HostToolOutput",
    "PromptOutcome",
    "RpcClient",
    "RpcError",
    "RpcErrorKind",
    "UiHandlers",
    "types",
]
