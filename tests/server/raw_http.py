"""A client that knows nothing but JSON and HTTP, and a server in a thread for it."""

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import uvicorn

VERSION = "2026-07-28"
FORMS: dict[str, Any] = {"elicitation": {"form": {}}}
SECONDS = 10  # nothing here takes longer


@dataclass(frozen=True)
class Answer:
    """What came back: the status, the headers with lower-case names, and the body, which is JSON unless it is empty."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def body(self) -> Any:
        return json.loads(self.text)

    @property
    def events(self) -> list[Any]:
        """The messages of an event stream, the response last."""
        assert self.headers["content-type"].startswith("text/event-stream"), self
        return [json.loads(line[6:]) for line in self.text.splitlines() if line.startswith("data: ")]

    @property
    def result(self) -> Any:
        assert self.status == 200, self
        return self.body["result"]

    @property
    def error(self) -> Any:
        return self.body["error"]


def envelope(capabilities: Mapping[str, Any] = FORMS, **more: Any) -> dict[str, Any]:
    """The `_meta` that every request of 2026-07-28 has, and more."""
    return {
        **more,
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": dict(capabilities),
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "0"},
    }


def posted(url: str, body: bytes | str, headers: Mapping[str, str]) -> HTTPConnection:
    """POST a body as it is, and do not wait for an answer."""
    there = urlsplit(url)
    assert there.hostname
    connection = HTTPConnection(there.hostname, there.port, timeout=SECONDS)
    connection.request("POST", there.path, body.encode() if isinstance(body, str) else body, dict(headers))
    return connection


def send(url: str, body: bytes | str, headers: Mapping[str, str]) -> Answer:
    """POST a body as it is."""
    connection = posted(url, body, headers)
    try:
        response = connection.getresponse()
        fields = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, fields, response.read().decode())
    finally:
        connection.close()


def request(
    url: str,
    method: str,
    params: Mapping[str, Any],
    *,
    capabilities: Mapping[str, Any] = FORMS,
    number: int | str = 1,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """One JSON-RPC request with the envelope and headers that 2026-07-28 requires."""
    body, routing = written(method, params, capabilities=capabilities, number=number)
    return send(url, body, routing | dict(headers or {}))


def written(
    method: str, params: Mapping[str, Any], *, capabilities: Mapping[str, Any] = FORMS, number: int | str = 1
) -> tuple[str, dict[str, str]]:
    """The body and the headers of such a request."""
    routing = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": method,
    }
    name = next((params[named] for named in ("uri", "name", "taskId") if named in params), None)
    if isinstance(name, str) and name.isascii():
        routing["Mcp-Name"] = name
    message = {
        "jsonrpc": "2.0",
        "id": number,
        "method": method,
        "params": {"_meta": envelope(capabilities), **params},
    }
    return json.dumps(message), routing


def call(url: str, tool: str, arguments: Any = None, **params: Any) -> Answer:
    """Call a tool as a client that can show forms."""
    return request(url, "tools/call", {"name": tool, "arguments": arguments, **params})


def accept(**content: Any) -> dict[str, Any]:
    """An accepted form."""
    return {"action": "accept", "content": content}


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@contextmanager
def serving(app: Any, **options: Any) -> Iterator[str]:
    """Serve an ASGI application on a port of its own; gives the URL of its endpoint."""
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="on", ws="none", **options)
    server = _Server(config)
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            assert server.ready.wait(SECONDS)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            thread.join(SECONDS)
            assert not thread.is_alive()
