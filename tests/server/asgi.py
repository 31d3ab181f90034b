"""ASGI applications called in this process, with the bytes and headers that a test chooses."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal

from tests.server.raw_http import SECONDS, VERSION, envelope

Headers = list[tuple[str, str]]


@dataclass(frozen=True)
class Sent:
    """One HTTP request.

    Attributes:
        headers: as they are sent, but for `Host` and `Content-Length`, which are added unless they are there.
    """

    body: bytes = b""
    headers: Headers = field(default_factory=list)
    method: str = "POST"
    path: str = "/mcp"
    root_path: str = ""
    user: Any = None

    @property
    def scope(self) -> dict[str, Any]:
        named = {name.lower() for name, _ in self.headers}
        added = [("host", "127.0.0.1:8000"), ("content-length", str(len(self.body)))]
        headers = [*[each for each in added if each[0] not in named], *self.headers]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": self.method,
            "scheme": "http",
            "path": self.path,
            "raw_path": self.path.encode(),
            "query_string": b"",
            "root_path": self.root_path,
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers],
            "server": ("127.0.0.1", 8000),
            "client": ("127.0.0.1", 50000),
            "state": {},
        }
        return scope if self.user is None else {**scope, "user": self.user}


@dataclass(frozen=True)
class Came:
    """What came back.

    Attributes:
        body: JSON, the last message of an event stream, or text.
    """

    status: int
    headers: dict[str, str]
    body: Any

    @property
    def code(self) -> int | None:
        """The code of a JSON-RPC error."""
        return self.body["error"]["code"] if isinstance(self.body, dict) and "error" in self.body else None

    @property
    def result(self) -> Any:
        assert self.status == 200, self
        return self.body["result"]


def message(method: str, number: Any = 1, *, meta: Any = None, **params: Any) -> dict[str, Any]:
    """A request of 2026-07-28."""
    meta = envelope() if meta is None else meta
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {"_meta": meta, **params}}


def routing(told: dict[str, Any]) -> dict[str, str]:
    """The headers that go with a request."""
    params = told.get("params") or {}
    name = params.get("uri") if told["method"] == "resources/read" else params.get("name")
    return {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": VERSION,
        "mcp-method": told["method"],
        **({"mcp-name": name} if isinstance(name, str) and name.isascii() else {}),
    }


def posted(told: dict[str, Any], **headers: str | None) -> Sent:
    """A request with its headers; others in place of them, or none where None is given."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    sent = [(name, value) for name, value in {**routing(told), **given}.items() if value is not None]
    return Sent(json.dumps(told).encode(), sent)


async def exchange(app: Any, sent: Sent) -> Came:
    """Send one request and wait for all of the response. An exception of the application is a 500, as in a server."""
    begun, body = asyncio.Event(), bytearray()
    start: dict[str, Any] = {}

    async def receive() -> Any:
        if begun.is_set():
            await asyncio.sleep(SECONDS)
        begun.set()
        return {"type": "http.request", "body": sent.body, "more_body": False}

    async def send(told: Any) -> None:
        start.update(told if told["type"] == "http.response.start" else {})
        body.extend(told.get("body", b""))

    try:
        async with asyncio.timeout(SECONDS):
            await app(sent.scope, receive, send)
    except Exception as error:  # noqa: BLE001 - whatever a server would catch
        return Came(500, {}, repr(error))
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    return Came(start["status"], headers, _read(headers.get("content-type", ""), bytes(body)))


def _read(kind: str, body: bytes) -> Any:
    if kind.startswith("text/event-stream"):
        return [json.loads(line[6:]) for line in body.decode().splitlines() if line.startswith("data: ")][-1]
    return json.loads(body) if kind == "application/json" else body.decode()


@asynccontextmanager
async def living(app: Any) -> AsyncGenerator[None]:
    """See an application through its lifespan."""
    to, back = asyncio.Queue[Any](), asyncio.Queue[Any]()
    scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": {}}
    task = asyncio.create_task(app(scope, to.get, back.put))
    await to.put({"type": "lifespan.startup"})
    assert (await back.get())["type"] == "lifespan.startup.complete"
    try:
        yield
    finally:
        await to.put({"type": "lifespan.shutdown"})
        assert (await back.get())["type"] == "lifespan.shutdown.complete"
        await task


@contextmanager
def running(*apps: Any) -> Iterator[BlockingPortal]:
    """An event loop in a thread with these applications in it, to call `exchange` through."""
    with start_blocking_portal("asyncio") as portal:
        begun = [portal.wrap_async_context_manager(living(app)) for app in apps]
        for each in begun:
            each.__enter__()
        try:
            yield portal
        finally:
            for each in begun:
                each.__exit__(None, None, None)
