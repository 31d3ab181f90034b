"""An SDK server over stdin and stdout, with a limit on what one line may hold."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
from anyio.from_thread import BlockingPortal
from anyio.streams.memory import MemoryObjectReceiveStream
from pydantic import JsonValue
from pydantic_core import from_json, to_json

if TYPE_CHECKING:
    from mcp.server import Server

__all__ = ["INVALID_REQUEST", "Messages", "lines_of", "serve_stdio"]

INVALID_REQUEST: Final = -32600
CHUNK: Final = 64 * 1024  # bytes
READ_ON: Final = 16
"""A line that is too long is read up to this many times the limit, to learn whom to tell."""


async def serve_stdio(server: Server[Any], limit: int) -> None:
    """Serve one client until it closes stdin.

    While serving, stdout is stderr and stdin is empty for everything else in this process, so that a `print` in a step
    does not get between the messages. The wire is UTF-8 whatever the platform says.

    Args:
        server: the SDK's server.
        limit: bytes that a line may have. A longer one is answered with an error, and the next one is read.
    """
    from mcp.server.stdio import stdio_server
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    async def refuse(told: dict[str, JsonValue]) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the client has gone
            await writing.send(SessionMessage(jsonrpc_message_adapter.validate_python(told)))

    giving, taking = anyio.create_memory_object_stream[bytes]()
    with _wire_input() as wire:
        async with BlockingPortal() as portal, giving, taking:

            def read() -> None:
                with suppress(Exception):  # the server has ended, and nobody takes lines any more
                    for line in lines_of(partial(os.read, wire, CHUNK), READ_ON * limit):
                        portal.call(giving.send, line)
                    portal.call(giving.aclose)

            # A thread of our own and a daemon: nothing can wake it while it waits for a line, so the end of the process
            # must not wait for it.
            Thread(target=read, name="mrtr_tools stdin", daemon=True).start()
            messages = cast("anyio.AsyncFile[str]", Messages(taking, limit, refuse))  # the SDK only iterates over it
            async with stdio_server(stdin=messages) as (reading, writing):
                await server.run(reading, writing, server.create_initialization_options())


@contextmanager
def _wire_input() -> Generator[int]:
    """A private copy of stdin, which meanwhile is empty: a step, or a program that it starts, must not eat messages.

    The copy is never closed. The thread that may be waiting in it must not wake up in another file of the same number.
    """
    wire = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    try:
        yield wire
    finally:
        os.dup2(wire, 0)


def lines_of(read: Callable[[], bytes], longest: int) -> Iterator[bytes]:
    """The lines of what `read` gives until it gives nothing; of a longer line only the first `longest` bytes."""
    held = bytearray()
    while chunk := read():
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            held += part[: longest - len(held)]
            yield bytes(held)
            held.clear()
        held += rest[: longest - len(held)]
    if held:
        yield bytes(held)


class Messages:
    """The lines of a client as text, as an async iterator.

    Args:
        lines: as they come.
        limit: bytes that one may have.
        refuse: sends the JSON-RPC error for a request that is too long.
    """

    def __init__(
        self,
        lines: MemoryObjectReceiveStream[bytes],
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
            told, is_response = self._too_long(line)
            if is_response:  # whoever waits for it in here must hear that it cannot be had
                return to_json(told).decode()
            await self._refuse(told)
        raise StopAsyncIteration

    def _too_long(self, line: bytes) -> tuple[dict[str, JsonValue], bool]:
        """The error in place of a line, and whether the line is a response."""
        try:
            read: object = from_json(line)
        except ValueError:
            read = None
        message = cast("dict[str, object]", read) if isinstance(read, dict) else {}
        name = message.get("id")
        known = name if isinstance(name, str) or type(name) is int else None
        error: JsonValue = {"code": INVALID_REQUEST, "message": f"A message may have {self._limit} bytes"}
        return {"jsonrpc": "2.0", "id": known, "error": error}, known is not None and "method" not in message
