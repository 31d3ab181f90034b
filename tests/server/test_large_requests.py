"""Requests of 50 MB to servers in processes of their own: refused early, and at no cost in memory. Security 21."""

import json
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from mrtr_tools.keys import generate_key
from mrtr_tools.server.envelope import MAX_REQUEST
from tests.server import processes
from tests.server.raw_http import SECONDS, VERSION, accept, call, envelope
from tests.server.raw_stdio import TALKER, served, told

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read from /proc")

HUGE = 50 * 2**20  # bytes
FLAT = 8 * 1024  # KiB that a server may take for a request that it refuses
REFUSED = {"code": -32600, "message": f"A message may have {MAX_REQUEST} bytes"}
MODERN = {"MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/call", "Mcp-Name": "echo"}


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, int]]:
    """Over HTTP; the largest message that is served has been, so that a refusal is all that costs."""
    with processes.http_process(TALKER, MRTR_TOOLS_KEYS=generate_key()) as served:
        url, pid = served.url, served.process.pid
        assert call(url, "echo", {"text": "x" * (MAX_REQUEST - 1000)}).status == 200
        yield url, pid


@contextmanager
def connected(url: str, headers: dict[str, str]) -> Iterator[socket.socket]:
    """A connection on which the head of a POST was sent."""
    there = urlsplit(url)
    known = {"Host": there.netloc, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    head = "".join(f"{name}: {value}\r\n" for name, value in {**known, **headers}.items())
    with socket.create_connection((str(there.hostname), there.port or 80), timeout=SECONDS) as connection:
        connection.sendall(f"POST {there.path} HTTP/1.1\r\n{head}\r\n".encode())
        yield connection


def refusal(connection: socket.socket) -> Any:
    """The answer, which must be a 413 with a JSON-RPC error."""
    with connection.makefile("rb") as stream:
        assert stream.readline().startswith(b"HTTP/1.1 413 ")
        headers = dict(line.decode().strip().lower().split(": ") for line in iter(stream.readline, b"\r\n"))
        assert headers["content-type"] == "application/json"
        return json.loads(stream.read(int(headers["content-length"])))


def push(connection: socket.socket, piece: bytes, count: int) -> None:
    """Send as much as the other side takes."""
    try:
        for _ in range(count):
            connection.sendall(piece)
    except OSError:
        pass


@pytest.mark.parametrize("era", [MODERN, {}], ids=["2026-07-28", "older"])
def test_a_body_that_says_how_long_it_is_is_refused_before_it_is_sent(server, era):
    url, pid = server
    before = processes.peak_memory(pid)
    for _ in range(3):
        with connected(url, {**era, "Content-Length": str(HUGE)}) as connection:
            refused = refusal(connection)  # before a byte of it was sent
            push(connection, b"x" * 65_536, HUGE // 65_536)

        assert refused == {"jsonrpc": "2.0", "id": None, "error": REFUSED}
    assert processes.peak_memory(pid) - before < FLAT
    assert call(url, "echo", {"text": "next"}).result["content"][0]["text"] == "next"


@pytest.mark.parametrize("era", [MODERN, {}], ids=["2026-07-28", "older"])
def test_a_body_that_does_not_say_how_long_it_is_is_refused_at_the_limit(server, era):
    url, pid = server
    before = processes.peak_memory(pid)
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    for _ in range(3):
        with connected(url, {**era, "Transfer-Encoding": "chunked"}) as connection:
            push(connection, chunk, MAX_REQUEST // 65_536 + 1)
            refused = refusal(connection)  # before the rest was sent, or an end
            push(connection, chunk, HUGE // 65_536)

        assert refused["error"] == REFUSED
    assert processes.peak_memory(pid) - before < FLAT
    assert call(url, "echo", {"text": "next"}).result["content"][0]["text"] == "next"


def test_a_state_of_50_mb_is_refused_by_the_length_of_its_message(server):
    """Reported as ChronoAIProject/NyxID#1461."""
    url, pid = server
    before = processes.peak_memory(pid)
    params = {"_meta": envelope(), "name": "greet", "inputResponses": {"who": accept(who="Ada")}, "requestState": ""}
    head, tail = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).rsplit('""', 1)
    sent = f'{head}"'.encode() + b"A" * HUGE + f'"{tail}'.encode()
    with connected(url, {**MODERN, "Mcp-Name": "greet", "Content-Length": str(len(sent))}) as connection:
        assert refusal(connection)["error"] == REFUSED
        push(connection, sent, 1)

    assert processes.peak_memory(pid) - before < FLAT


TEXT = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"requestState":"%s"}}' % (b"A" * HUGE)
LISTS = b'{"method":"tools/call","params":[%s0],"jsonrpc":"2.0","id":7}' % (b"[]," * (5 * 2**20))
OBJECTS = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[%s0]}' % (b"{}," * (5 * 2**20))
BRACKETS = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":%s' % (b"[" * HUGE)


@pytest.mark.parametrize("line", [TEXT, LISTS, OBJECTS, BRACKETS], ids=["text", "lists", "objects", "brackets"])
def test_a_line_of_many_megabytes_is_neither_held_nor_read_and_who_sent_it_is_told(line):
    with served() as wire:
        wire.call(1, "echo", {"text": "x" * (MAX_REQUEST - 1000)})
        wire.receive()
        before = processes.peak_memory(wire.process.pid)
        for _ in range(2):
            wire.write(line)
            assert wire.receive() == {"jsonrpc": "2.0", "id": 7, "error": REFUSED}
        assert processes.peak_memory(wire.process.pid) - before < FLAT
        wire.call(2, "echo", {"text": "next"})
        assert told(wire.receive()) == "next"
