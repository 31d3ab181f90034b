"""What is compared with: rounds through the official SDK's `MCPServer`, in process and without a transport."""

import functools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import mcp_types as types
from mcp.server import MCPServer, ServerRequestContext
from mcp.server._streamable_http_modern import _SingleExchangeDispatchContext
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult
from mcp.server.elicitation import render_elicitation_schema
from mcp.server.mcpserver import resolve
from mcp.server.request_state import RequestStateSecurity
from mcp.server.runner import serve_one
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext

from benchmarks.measuring import Job
from benchmarks.wire import CAPABILITIES, META, VERSION

_rendered_once = functools.cache(render_elicitation_schema)


def new_server() -> MCPServer[Any]:
    return MCPServer(
        "benchmark", request_state_security=RequestStateSecurity(keys=[bytes(range(32))]), log_level="WARNING"
    )


async def serve(server: MCPServer[Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """One ``tools/call`` as the HTTP entry serves it, from decoded JSON to a result that is ready to be encoded."""
    return await serve_one(
        server._lowlevel_server,
        _SingleExchangeDispatchContext(
            transport=TransportContext(kind="streamable-http", can_send_request=False, headers={}),
            request_id=1,
            message_metadata=ServerMessageMetadata(request_context=None),
        ),
        "tools/call",
        {**params, "_meta": META},
        connection=Connection.from_envelope(VERSION, META[types.CLIENT_INFO_META_KEY], CAPABILITIES),
        lifespan_state={},
    )


async def handler(server: MCPServer[Any], params: Mapping[str, Any]) -> Job:
    """The tool handler alone, with what it is given in this request: after the checks and before the sealing."""
    seen: list[ServerRequestContext[Any, Any]] = []

    async def note(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        seen.append(ctx)
        return await call_next(ctx)

    server.middleware.append(note)
    await serve(server, params)
    server.middleware.remove(note)
    entry = server._lowlevel_server.get_request_handler("tools/call")
    assert entry is not None
    typed = entry.params_type.model_validate(seen[0].params, by_name=False)
    return lambda: entry.handler(seen[0], typed)


@contextmanager
def schema_rendered_once() -> Iterator[None]:
    """As if the SDK rendered the schema of a form once, and not for every question: an improvement to be expected."""
    with patch.object(resolve, "render_elicitation_schema", _rendered_once):
        yield


def with_schema_rendered_once(job: Job) -> Job:
    async def improved() -> object:
        with schema_rendered_once():
            return await job()

    return improved
