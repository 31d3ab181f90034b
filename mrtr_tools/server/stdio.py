"""An SDK server over stdin and stdout, with a limit on what one line may hold, for clients of every revision."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from io import TextIOWrapper
from threading import Thread
from typing import TYPE_CHECKING, Any, cast

from pydantic import JsonValue, ValidationError
from pydantic_core import from_json, to_json

from mrtr_tools.server.envelope import INVALID_REQUEST, PARSE_ERROR
from mrtr_tools.server.lines import CHUNK, Line, addressee, lines_of
from mrtr_tools.server.pipes import Pipes
from mrtr_tools.server.service import Service

if TYPE_CHECKING:
    import anyio
    from anyio.streams.memory import MemoryObjectReceiveStream
    from mcp.server import Server

__all__ = ["INVALID_REQUEST", "Messages", "hand_over", "serve_lines", "serve_stdio"]


def hand_over(service: Service, pipes: Pipes, limit: int, read: bytes = b"") -> None:
    """Leave a client to the SDK, which is imported now.

    Args:
        service: what to serve.
        pipes: lead to the client.
        limit: bytes that a line may have.
        read: what has been read from the client already.
    """
    import anyio

    try:
        anyio.run(_serve, service, pipes, limit, read)
    except* (BrokenPipeError, ConnectionResetError):  # the client reads no more
        pass


async def _serve(service: Service, pipes: Pipes, limit: int, read: bytes) -> None:
    from mrtr_tools.server.alone import server_for

    server = server_for(service)
    await service.begin()
    try:
        await serve_stdio(server, pipes, limit, read)
    finally:
        await service.end()


async def serve_stdio(server: Server[Any], pipes: Pipes, limit: int, read: bytes = b"") -> None:
    """Serve one client until it closes stdin. The wire is UTF-8 whatever the platform says.

    Args:
        server: the SDK's server.
        pipes: lead to the client.
        limit: bytes that a line may have. A longer one is answered with an error, and the next one is read.
        read: what has been read from the client already.
    """
    import anyio
    from anyio.from_thread import BlockingPortal

    pieces = [read] if read else []
    giving, taking = anyio.create_memory_object_stream[Line]()
    async with BlockingPortal() as portal, giving, taking:

        def pump() -> None:
            with suppress(Exception):  # the server has ended, and nobody takes lines any more
                for line in lines_of(lambda: pieces.pop() if pieces else os.read(pipes.input, CHUNK), limit):
                    portal.call(giving.send, line)
                portal.call(giving.aclose)

        # A thread of our own and a daemon: nothing can wake it while it waits for a line, so the end of the process
        # must not wait for it.
        Thread(target=pump, name="mrtr_tools stdin", daemon=True).start()
        out = TextIOWrapper(os.fdopen(pipes.output, "wb", closefd=False), encoding="utf-8", newline="\n")
        await serve_lines(server, taking, limit, anyio.wrap_file(out))


async def serve_lines(
    server: Server[Any], lines: MemoryObjectReceiveStream[Line], limit: int, out: anyio.AsyncFile[str]
) -> None:
    """Serve one client until there are no more lines.

    Args:
        server: the SDK's server.
        lines: what the client writes.
        limit: bytes that a line may have.
        out: where answers go.
    """
    import anyio
    from mcp.server.stdio import stdio_server
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    async def refuse(told: dict[str, JsonValue]) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the client has gone
            await writing.send(SessionMessage(jsonrpc_message_adapter.validate_python(told)))

    check = partial(jsonrpc_message_adapter.validate_python, by_name=False)
    messages = cast("anyio.AsyncFile[str]", Messages(lines, limit, check, refuse))  # the SDK only iterates over it
    async with stdio_server(stdin=messages, stdout=out) as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


class Messages:
    """The lines of a client as text, as an async iterator. What is no message is passed over, unless it has an ``id``.

    Args:
        lines: as they come.
        limit: bytes that one may have.
        check: raises a `ValidationError` for JSON that is no JSON-RPC message.
        refuse: sends the JSON-RPC error for a request that is too long or cannot be read.
    """

    def __init__(
        self,
        lines: MemoryObjectReceiveStream[Line],
        limit: int,
        check: Callable[[object], object],
        refuse: Callable[[dict[str, JsonValue]], Awaitable[None]],
    ) -> None:
        self._lines = lines
        self._limit = limit
        self._check = check
        self._refuse = refuse

    def __aiter__(self) -> Messages:
        return self

    async def __anext__(self) -> str:
        async for line in self._lines:
            error = self._error(line)
            if error is None:
                return line.text.decode()
            waiting = addressee(line)
            told: dict[str, JsonValue] = {"jsonrpc": "2.0", "id": waiting.name, "error": error}
            if waiting.is_response:  # whoever waits for it in here must hear that it cannot be had
                return to_json(told).decode()
            if waiting.name is not None or line.end:
                await self._refuse(told)
        raise StopAsyncIteration

    def _error(self, line: Line) -> dict[str, JsonValue] | None:
        """What is wrong with a line, as the `error` of a JSON-RPC error; None for a message."""
        if line.end:
            return {"code": INVALID_REQUEST, "message": f"A message may have {self._limit} bytes"}
        try:
            self._check(from_json(line.text, cache_strings="keys"))
        except ValidationError:
            return {"code": INVALID_REQUEST, "message": "This is no JSON-RPC message"}
        except ValueError:
            return {"code": PARSE_ERROR, "message": "Parse error"}
        return None
