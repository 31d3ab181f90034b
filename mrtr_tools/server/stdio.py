"""An SDK server over stdin and stdout, with a limit on what one line may hold, for clients of every revision."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from io import TextIOWrapper
from threading import Thread
from typing import TYPE_CHECKING, Any, cast

from pydantic import JsonValue
from pydantic_core import to_json

from mrtr_tools.server.envelope import INVALID_REQUEST
from mrtr_tools.server.lines import CHUNK, READ_ON, lines_of, too_long
from mrtr_tools.server.pipes import Pipes
from mrtr_tools.state import StateSigner
from mrtr_tools.tools import Toolbox

if TYPE_CHECKING:
    from mcp.server import Server

__all__ = ["INVALID_REQUEST", "Messages", "hand_over", "serve_stdio"]


def hand_over(toolbox: Toolbox, signer: StateSigner, pipes: Pipes, limit: int, read: bytes = b"") -> None:
    """Leave a client to the SDK, which is imported now.

    Args:
        toolbox: what to serve.
        signer: of its states.
        pipes: lead to the client.
        limit: bytes that a line may have.
        read: what has been read from the client already.
    """
    import anyio

    from mrtr_tools.server.alone import server_for

    anyio.run(serve_stdio, server_for(toolbox, signer), pipes, limit, read)


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
    from mcp.server.stdio import stdio_server
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    async def refuse(told: dict[str, JsonValue]) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the client has gone
            await writing.send(SessionMessage(jsonrpc_message_adapter.validate_python(told)))

    chunks = [read] if read else []
    giving, taking = anyio.create_memory_object_stream[bytes]()
    async with BlockingPortal() as portal, giving, taking:

        def pump() -> None:
            with suppress(Exception):  # the server has ended, and nobody takes lines any more
                for line in lines_of(lambda: chunks.pop() if chunks else os.read(pipes.input, CHUNK), READ_ON * limit):
                    portal.call(giving.send, line)
                portal.call(giving.aclose)

        # A thread of our own and a daemon: nothing can wake it while it waits for a line, so the end of the process
        # must not wait for it.
        Thread(target=pump, name="mrtr_tools stdin", daemon=True).start()
        stdin = cast("anyio.AsyncFile[str]", Messages(taking, limit, refuse))  # the SDK only iterates over it
        stdout = anyio.wrap_file(TextIOWrapper(os.fdopen(pipes.output, "wb", closefd=False), "utf-8", newline="\n"))
        async with stdio_server(stdin, stdout) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())


class Messages:
    """The lines of a client as text, as an async iterator.

    Args:
        lines: as they come.
        limit: bytes that one may have.
        refuse: sends the JSON-RPC error for a request that is too long.
    """

    def __init__(
        self,
        lines: AsyncIterator[bytes],
        limit: int,
        refuse: Callable[[dict[str, JsonValue]], Awaitable[None]],
    ) -> None:
        self._lines = lines
        self._limit = limit
        self._refuse = refuse

    def __aiter__(self) -> Messages:
        return self

    async def __anext__(self) -> str:
        async for line in self._lines:
            if len(line) <= self._limit:
                return line.decode("utf-8", "replace")
            told, is_response = too_long(line, self._limit)
            if is_response:  # whoever waits for it in here must hear that it cannot be had
                return to_json(told).decode()
            await self._refuse(told)
        raise StopAsyncIteration
