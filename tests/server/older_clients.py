"""Clients of revisions before 2026-07-28, most of them speaking JSON-RPC by hand."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from urllib.parse import urlsplit

import anyio
from mcp import ClientSession, types
from mcp.client.session import ElicitationFnT
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage

from mrtr_tools import Toolbox
from tests.server.desk import server_of
from tests.server.raw_http import send


class Peer:
    """One side of a pair of streams, speaking JSON-RPC by hand."""

    def __init__(self, reading: Any, writing: Any) -> None:
        self._reading = reading
        self._writing = writing

    async def send(self, **message: Any) -> None:
        parsed = types.jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **message})
        await self._writing.send(SessionMessage(parsed))

    async def receive(self) -> dict[str, Any]:
        item = await self._reading.receive()
        return item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)


@asynccontextmanager
async def raw_streams(toolbox: Toolbox) -> AsyncIterator[Peer]:
    """A client that has said nothing yet, and its server."""
    served = server_of(toolbox)
    async with (
        create_client_server_memory_streams() as ((reading, writing), (server_reading, server_writing)),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(served.run, server_reading, server_writing, served.create_initialization_options())
        yield Peer(reading, writing)
        await writing.aclose()


@asynccontextmanager
async def raw_client(toolbox: Toolbox, version: str, **capabilities: Any) -> AsyncIterator[Peer]:
    """A client that has said hello."""
    async with raw_streams(toolbox) as peer:
        info = {"name": "raw", "version": "0"}
        params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": info}
        await peer.send(id=1, method="initialize", params=params)
        assert (await peer.receive())["result"]["protocolVersion"] == version
        await peer.send(method="notifications/initialized")
        yield peer


@asynccontextmanager
async def sdk_session(toolbox: Toolbox, elicit: ElicitationFnT) -> AsyncIterator[ClientSession]:
    """The SDK's client at 2025-06-18, which its `Client` does not offer any more."""
    served = server_of(toolbox)
    with anyio.fail_after(10):
        async with (
            create_client_server_memory_streams() as ((reading, writing), (server_reading, server_writing)),
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(served.run, server_reading, server_writing, served.create_initialization_options())
            async with ClientSession(reading, writing, elicitation_callback=elicit) as session:
                params = types.InitializeRequestParams(
                    protocol_version="2025-06-18",
                    capabilities=types.ClientCapabilities(elicitation=types.ElicitationCapability()),
                    client_info=types.Implementation(name="t", version="0"),
                )
                began = await session.send_request(types.InitializeRequest(params=params), types.InitializeResult)
                session.adopt(began)
                await session.send_notification(types.InitializedNotification())
                yield session
            await writing.aclose()


HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def open_session(url: str, version: str) -> dict[str, str]:
    """Say hello over HTTP; gives the headers of the session, if there is one."""
    info = {"name": "raw", "version": "0"}
    params = {"protocolVersion": version, "capabilities": {"elicitation": {}}, "clientInfo": info}
    hello = send(url, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}), HEADERS)
    assert hello.status == 200
    known = {"MCP-Protocol-Version": version}
    if "mcp-session-id" in hello.headers:
        known["Mcp-Session-Id"] = hello.headers["mcp-session-id"]
    assert (
        send(url, json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}), HEADERS | known).status == 202
    )
    return known


@contextmanager
def posting(url: str, message: dict[str, Any], headers: dict[str, str]) -> Iterator[HTTPResponse]:
    """POST a message, and read the response bit by bit."""
    there = urlsplit(url)
    assert there.hostname
    with closing(HTTPConnection(there.hostname, there.port, timeout=10)) as connection:
        connection.request("POST", there.path, json.dumps({"jsonrpc": "2.0", **message}), headers)
        with connection.getresponse() as response:
            yield response


def next_event(response: HTTPResponse) -> dict[str, Any]:
    """The next message of an event stream."""
    for line in iter(response.readline, b""):
        if line.startswith(b"data: "):
            return json.loads(line[6:])
    raise AssertionError("the stream has ended")
