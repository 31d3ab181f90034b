"""An SDK server over stdin and stdout, with a limit on what one line may hold."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
from anyio.from_thread import BlockingPortal
from anyio.streams.memory import MemoryObjectReceiveStream
from pydantic import JsonValue, ValidationError
from pydantic_core import from_json, to_json

from mrtr_tools.server.lines import Line, addressee, lines_of

if TYPE_CHECKING:
    from mcp.server import Server

__all__ = ["INVALID_REQUEST", "Messages", "serve_lines", "serve_stdio"]

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
CHUNK: Final = 64 * 1024  # bytes


async def serve_stdio(server: Server[Any], limit: int) -> None:
    """Serve one client until it closes stdin.

    While serving, stdout is stderr and stdin is empty for everything else in this process, so that a `print` in a step
    does not get between the messages. The wire is UTF-8 whatever the platform says.

    Args:
        server: the SDK's server.
        limit: bytes that a line may have. A longer one is answered with an error, and the next one is read.
    """
    giving, taking = anyio.create_memory_object_stream[Line]()
    with _wire_input() as wire:
        async with BlockingPortal() as portal, giving, taking:

            def read() -> None:
                with suppress(Exception):  # the server has ended, and nobody takes lines any more
                    for line in lines_of(partial(os.read, wire, CHUNK), limit):
                        portal.call(giving.send, line)
                    portal.call(giving.aclose)

            # A thread of our own and a daemon: nothing can wake it while it waits for a line, so the end of the process
            # must not wait for it.
            Thread(target=read, name="mrtr_tools stdin", daemon=True).start()
            await serve_lines(server, taking, limit)


async def serve_lines(
    server: Server[Any], lines: MemoryObjectReceiveStream[Line], limit: int, out: anyio.AsyncFile[str] | None = None
) -> None:
    """Serve one client until there are no more lines.

    Args:
        server: the SDK's server.
        lines: what the client writes.
        limit: bytes that a line may have.
        out: where answers go; by default stdout, which meanwhile is stderr for everything else.
    """
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
            self._check(from_json(line.text))
        except ValidationError:
            return {"code": INVALID_REQUEST, "message": "This is no JSON-RPC message"}
        except ValueError:
            return {"code": PARSE_ERROR, "message": "Parse error"}
        return None
