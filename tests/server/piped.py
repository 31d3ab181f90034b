"""A client in the same event loop as the server that it talks to, over real pipes."""

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mrtr_tools import Toolbox
from mrtr_tools.keys import generate_key
from mrtr_tools.server.lean import LeanServer
from mrtr_tools.server.loop import StdioLoop
from mrtr_tools.server.pipes import Pipes
from mrtr_tools.server.service import Service
from mrtr_tools.state import StateSigner
from tests.server.raw_http import envelope

SECONDS = 10
LIMIT = 100_000


def server_of(toolbox: Toolbox) -> LeanServer:
    return LeanServer(Service(toolbox, StateSigner([generate_key()], toolbox.name), anonymous_ok=True))


class Peer:
    """The client's ends of the pipes.

    Attributes:
        loop: the server.
        serving: what it does.
        has_ended: whether the test has waited for its end.
    """

    def __init__(self, writes: int, reads: int) -> None:
        self.writes, self.reads = writes, reads
        self.loop: StdioLoop
        self.serving: asyncio.Task[None]
        self.has_ended = False
        self._read = bytearray()

    def write(self, data: bytes) -> None:
        assert os.write(self.writes, data) == len(data)

    def send(self, method: str, number: Any = None, **params: Any) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        self.write(json.dumps(message if number is None else {**message, "id": number}).encode() + b"\n")

    def call(self, number: Any, tool: str, arguments: Any = None, meta: Any = None, **params: Any) -> None:
        self.send("tools/call", number, _meta=envelope(**(meta or {})), name=tool, arguments=arguments, **params)

    def cancel(self, number: Any) -> None:
        self.send("notifications/cancelled", requestId=number)

    async def receive(self) -> Any:
        """The next message, or None at the end."""
        async with asyncio.timeout(SECONDS):
            while b"\n" not in self._read:
                await readable(self.reads)
                data = os.read(self.reads, 65_536)
                if not data:
                    return None
                self._read += data
        line, _, self._read[:] = self._read.partition(b"\n")
        return json.loads(line)

    async def text(self) -> tuple[Any, str]:
        """Id and text of the next message, which is a result."""
        message = await self.receive()
        return message["id"], message["result"]["content"][0]["text"]

    def leave(self) -> None:
        """Close the server's stdin."""
        os.close(self.writes)
        self.writes = -1

    def read_no_more(self) -> None:
        os.close(self.reads)
        self.reads = -1

    async def ended(self) -> None:
        """Wait for the server's end."""
        self.has_ended = True
        async with asyncio.timeout(SECONDS):
            await self.serving


async def readable(number: int) -> None:
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(number, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(number)


@asynccontextmanager
async def talking(toolbox: Toolbox, *, read: bytes = b"", sockets: bool = False, **options: Any) -> AsyncIterator[Peer]:
    """A server of a toolbox, and a client of it, over pipes or over two pairs of sockets."""
    (server_reads, client_writes), (client_reads, server_writes) = (
        (_sockets(), _sockets()) if sockets else (os.pipe(), os.pipe())
    )
    peer = Peer(client_writes, client_reads)
    peer.loop = StdioLoop(server_of(toolbox), Pipes(server_reads, server_writes), LIMIT, **options)
    peer.serving = asyncio.create_task(peer.loop.serve(read))
    try:
        yield peer
    finally:
        if peer.writes >= 0:
            peer.leave()
        try:
            if not peer.has_ended:
                await peer.ended()
        finally:
            for number in (server_reads, server_writes, *([peer.reads] if peer.reads >= 0 else [])):
                os.close(number)


def _sockets() -> tuple[int, int]:
    one, other = socket.socketpair()
    return one.detach(), other.detach()
