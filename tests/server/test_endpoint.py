"""The endpoint as a server runs it: what is imported when, slow clients, callers with tokens, mounts, its end."""

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest
import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from starlette.applications import Starlette
from starlette.authentication import UnauthenticatedUser
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.routing import Mount

from mrtr_tools import Context, ElicitUrl, Toolbox, needs_input
from mrtr_tools.errors import DefinitionError
from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app, run_http
from mrtr_tools.server.http import OLDER, HttpEndpoint
from tests.server.asgi import Sent, exchange, message, posted, running
from tests.server.corpus import call
from tests.server.raw_http import SECONDS, accept, envelope, request, serving

ROOT = Path(__file__).parents[2]
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old", "version": "0"}}
OLD = {"MCP-Protocol-Version": "2025-11-25"}


def desk() -> Toolbox:
    toolbox = Toolbox("desk")

    @toolbox.tool
    @needs_input(who="Who are you?")
    def greet(who: str) -> str:
        return f"Hello {who}"

    @toolbox.tool
    async def whose(ctx: Context) -> str:
        return str(ctx.principal)

    return toolbox


def app(**options: Any) -> HttpEndpoint:
    return http_app(desk(), keys=[generate_key()], **options)


def test_older_revisions_are_those_of_the_official_sdk():
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

    assert {version.decode() for version in OLDER if version} == set(HANDSHAKE_PROTOCOL_VERSIONS)


# Imports

SDK = """
import asyncio, json, sys
from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app
from cookbook.get_weather import toolbox

app = http_app(toolbox, keys=[generate_key()])

async def post(told, **headers):
    body, got = json.dumps(told).encode(), []
    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}
    async def send(message):
        got.append(message)
    given = {"host": "localhost", "content-type": "application/json", "accept": "application/json, text/event-stream"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    sent = [(name.encode(), value.encode()) for name, value in (given | named).items()]
    await app({"type": "http", "method": "POST", "path": "/mcp", "headers": sent}, receive, send)
    return got[0]["status"]

async def main():
    prefix = "io.modelcontextprotocol/"
    meta = {prefix + "protocolVersion": "2026-07-28", prefix + "clientCapabilities": {"elicitation": {}}}
    for method in ("server/discover", "tools/list", "tools/call", "ping", "subscriptions/listen"):
        params = {"_meta": meta, "name": "get_weather", "arguments": {"location": "Paris"}}
        told = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        modern = {"mcp_protocol_version": "2026-07-28", "mcp_method": method, "mcp_name": "get_weather"}
        print(method, await post(told, **modern), *imported())
    print("bad", await post([], mcp_protocol_version="2026-07-28"), *imported())
    print("old", await post({"jsonrpc": "2.0", "id": 1, "method": "ping"}), *imported())

def imported():
    return sorted({"mcp", "mcp_types", "starlette", "uvicorn", "httpx"} & set(sys.modules))

asyncio.run(main())
"""


def test_the_sdk_is_imported_by_the_first_client_that_needs_it():
    done = subprocess.run(
        [sys.executable, "-c", SDK], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )

    assert done.stdout.splitlines()[:-1] == [
        "server/discover 200",
        "tools/list 200",
        "tools/call 200",
        "ping 404",
        "subscriptions/listen 404",
        "bad 400",
    ], done.stderr
    assert done.stdout.splitlines()[-1].startswith("old 400 mcp mcp_types starlette")


# Older clients


def test_older_clients_are_served_beside_new_ones():
    with serving(app()) as url:
        new = request(url, "tools/list", {}).result
        hello = request(url, "initialize", {**HELLO, "_meta": {}}, headers=OLD)
        session = OLD | {"Mcp-Session-Id": hello.headers["mcp-session-id"]}
        old = request(url, "tools/list", {"_meta": {}}, headers=session).events[-1]["result"]

        assert [tool["name"] for tool in old["tools"]] == [tool["name"] for tool in new["tools"]] == ["greet", "whose"]
        assert request(url, "tools/list", {}).result == new


@pytest.mark.parametrize("lean", [True, False])
def test_one_switch_leaves_everything_to_the_sdk(lean):
    served = app(lean=lean)
    with running(served) as portal:
        came = portal.call(exchange, served, posted(call("greet")))

        assert came.result["resultType"] == "input_required"
        assert (served._sdk._living is None) == lean


# Callers with tokens


class Tokens:
    """The token of each person is their name; a machine has none."""

    async def verify_token(self, token: str) -> AccessToken | None:
        subject = None if token == "machine" else token
        return AccessToken(token=token, client_id="app", scopes=[], subject=subject) if token != "bad" else None


def authenticated(principal: Any = "subject", **options: Any) -> Any:
    inner = app(principal=principal, **options)
    return Starlette(
        routes=[Mount("/", RequireAuthMiddleware(inner, required_scopes=[]))],
        middleware=[Middleware(AuthenticationMiddleware, backend=BearerAuthBackend(Tokens()))],
        lifespan=inner.lifespan,
    )


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}"}


@pytest.mark.parametrize("more", [{}, {"progressToken": 1}], ids=["ours", "the SDK's"])
def test_a_call_belongs_to_whose_token_came_with_it(more):
    """Security 20: whoever serves a round, the caller is who the middleware says."""
    with serving(authenticated()) as url:

        def ask(who: str, **params: Any) -> Any:
            meta = envelope(**more)
            return request(url, "tools/call", {"name": "greet", "_meta": meta, **params}, headers=bearer(who))

        state = request(url, "tools/call", {"name": "greet"}, headers=bearer("alice")).result["requestState"]
        answered = {"inputResponses": {"who": accept(who="Ada")}, "requestState": state}

        assert ask("bob", **answered).error["message"] == "Invalid or expired requestState"
        assert ask("alice", **answered).result["content"][0]["text"] == "Hello Ada"
        assert ask("machine").error == {"code": -32603, "message": "The access token does not say who is calling"}
        assert ask("bad").status == 401
        whose = request(url, "tools/call", {"name": "whose", "_meta": envelope(**more)}, headers=bearer("alice"))
        told = whose.events[-1]["result"] if "event-stream" in whose.headers["content-type"] else whose.result
        assert json.loads(told["content"][0]["text"]) == [None, "app", "alice"]


def test_what_of_a_token_says_who_is_calling_can_be_chosen():
    with serving(authenticated("client")) as url:
        assert request(url, "tools/call", {"name": "greet"}, headers=bearer("machine")).status == 200


@pytest.mark.parametrize("user", [None, UnauthenticatedUser()])
@pytest.mark.parametrize("told", [call("greet"), message("tools/list"), call("greet", meta=envelope(progressToken=1))])
@pytest.mark.parametrize("lean", [True, False])
def test_nobody_is_served_where_there_should_be_somebody(user, told, lean, caplog):
    """Security 20: a middleware that was forgotten must not make everybody nobody in particular."""
    served = app(principal="subject", lean=lean)
    with running(served) as portal:
        sent = posted(told)
        came = portal.call(exchange, served, Sent(sent.body, sent.headers, user=user))

    assert (came.status, came.code) == (500, -32603)
    assert "no middleware around the application says who is calling" in caplog.text


@pytest.mark.parametrize("lean", [True, False])
def test_a_user_of_another_kind_is_nobody_in_particular(lean):
    served, user = app(lean=lean), UnauthenticatedUser()
    sent = posted(call("whose"))
    with running(served) as portal:
        came = portal.call(exchange, served, Sent(sent.body, sent.headers, user=user))

    assert came.result["content"][0]["text"] == "None"


@pytest.mark.parametrize("lean", [True, False])
def test_a_user_with_a_token_counts_even_where_none_is_wanted(lean):
    """Security 20: a state of theirs must not become anybody's."""
    served = app(lean=lean)
    user = AuthenticatedUser(AccessToken(token="t", client_id="app", scopes=[], subject="alice"))
    sent = posted(call("whose"))
    with running(served) as portal:
        came = portal.call(exchange, served, Sent(sent.body, sent.headers, user=user))

    assert json.loads(came.result["content"][0]["text"]) == [None, "app", "alice"]


def test_pages_may_be_opened_for_callers_who_are_known():
    toolbox = Toolbox("pages")

    @toolbox.tool
    @needs_input(page=ElicitUrl("Pay, please", "https://pay.example/"))
    def pay() -> str:
        return "paid"

    with pytest.raises(DefinitionError, match="anonymous_ok"):
        http_app(toolbox, keys=[generate_key()])
    assert http_app(toolbox, keys=[generate_key()], principal="subject")


# Where it is


def test_it_can_be_mounted():
    inner = app()
    outer = Starlette(routes=[Mount("/api", app=inner)], lifespan=inner.lifespan)
    with running(outer) as portal:
        sent = posted(message("tools/list"))
        paths = {"/api/mcp": 200, "/mcp": 404, "/api/": 404, "/api/mcp/": 404, "/api/api/mcp": 404}
        for path, status in paths.items():
            assert portal.call(exchange, outer, Sent(sent.body, sent.headers, path=path)).status == status
        old = posted({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}, mcp_protocol_version=None)
        assert portal.call(exchange, outer, Sent(old.body, old.headers, path="/api/mcp")).status == 200


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_web_socket_is_closed():
    sent: list[Any] = []

    async def send(told: Any) -> None:
        sent.append(told)

    await app()({"type": "websocket", "path": "/mcp"}, None, send)  # type: ignore[arg-type]

    assert sent == [{"type": "websocket.close"}]


# Slow clients

HEAD = """\
POST /mcp HTTP/1.1\r
Host: localhost\r
Content-Type: application/json\r
Accept: application/json, text/event-stream\r
MCP-Protocol-Version: {version}\r
Mcp-Method: tools/list\r
{more}\r
"""


def head(length: int, more: str = "", version: str = "2026-07-28") -> bytes:
    return HEAD.format(version=version, more=f"Content-Length: {length}\r\n{more}").encode()


@contextmanager
def connected(url: str) -> Iterator[socket.socket]:
    there = urlsplit(url)
    with socket.create_connection((there.hostname or "", there.port or 0), timeout=SECONDS) as connection:
        yield connection


def everything(connection: socket.socket) -> bytes:
    """All that comes until the server closes the connection."""
    came = bytearray()
    while chunk := connection.recv(65536):
        came += chunk
    return bytes(came)


@pytest.fixture(scope="module", params=["h11", "httptools"])
def impatient(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server that waits half a second for a body."""
    served = app()
    served._body_seconds = 0.5
    with serving(served, http=request.param) as url:
        yield url


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
@pytest.mark.parametrize("sent", [b"", b'{"jsonrpc": "2.0", '])
def test_a_body_that_does_not_come_ends_its_connection_and_holds_up_nobody(impatient, version, sent):
    """Security 20: whoever serves it, a request does not wait for ever."""
    with ExitStack() as open_connections:
        slow = [open_connections.enter_context(connected(impatient)) for _ in range(50)]
        for connection in slow:
            connection.sendall(head(100, version=version) + sent)
        assert request(impatient, "tools/list", {}).status == 200, "others are served meanwhile"

        for connection in slow:
            came = everything(connection)
            assert came.startswith(b"HTTP/1.1 408 ")
            assert b"connection: close" in came.lower()
            assert b'"code":-32600' in came


@pytest.mark.parametrize("parser", ["h11", "httptools"])
def test_a_body_that_comes_in_pieces_is_taken(parser):
    body = json.dumps(message("tools/list")).encode()
    with serving(app(), http=parser) as url, connected(url) as connection:
        connection.sendall(head(len(body), "Connection: close\r\n"))
        for at in range(0, len(body), 40):
            connection.sendall(body[at : at + 40])
        assert everything(connection).startswith(b"HTTP/1.1 200 ")


def test_a_client_that_leaves_in_the_middle_of_its_body_leaves_nothing_behind(impatient, caplog):
    with connected(impatient) as connection:
        connection.sendall(head(100) + b"{")
    assert request(impatient, "tools/list", {}).status == 200
    assert caplog.text == ""


def test_two_lengths_of_one_body_end_the_connection(impatient):
    """Security 20: what follows is not read as a second request."""
    hidden = head(0)
    with connected(impatient) as connection:
        connection.sendall(head(4, "Transfer-Encoding: chunked\r\n") + b"0\r\n\r\n" + hidden)
        came = everything(connection)

    assert came.startswith(b"HTTP/1.1 400 ")
    assert came.count(b"HTTP/1.1 ") == 1


def test_idle_connections_hold_up_nobody(impatient):
    """A thousand of them, half of which have said nothing and half of which have begun to."""
    with ExitStack() as open_connections:
        for number in range(1000):
            connection = open_connections.enter_context(connected(impatient))
            if number % 2:
                connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: loc")
        for _ in range(20):
            assert request(impatient, "tools/list", {}).status == 200


# Cancellation


@pytest.mark.parametrize("lean", [True, False])
def test_a_call_ends_when_its_client_hangs_up_and_the_log_is_silent(lean, caplog):
    begun, freed = threading.Event(), threading.Event()
    toolbox = Toolbox("busy")

    @toolbox.tool
    async def wait() -> str:
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            freed.set()
        return "never"

    with serving(http_app(toolbox, keys=[generate_key()], lean=lean)) as url:
        caplog.clear()
        body = json.dumps(call("wait")).encode()
        sent = head(len(body), "Mcp-Name: wait\r\n").replace(b"tools/list", b"tools/call") + body
        with connected(url) as connection:
            connection.sendall(sent)
            assert begun.wait(SECONDS)
        assert freed.wait(SECONDS)
    assert caplog.text == ""


# Starting


def test_the_server_is_started_with_what_a_public_one_needs(monkeypatch):
    started: list[uvicorn.Config] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda server: started.append(server.config))

    run_http(desk(), keys=[generate_key()], port=9, grace=7)

    [config] = started
    assert isinstance(config.app, HttpEndpoint)
    assert config.timeout_keep_alive > 60, "proxies keep connections for a minute"
    assert config.timeout_graceful_shutdown == 7
    assert (config.h11_max_incomplete_event_size or 0) <= 32 * 1024
    assert not config.access_log
    assert not config.proxy_headers


TWO_APPLICATIONS = """
import anyio, gc
from mrtr_tools import Toolbox
from mrtr_tools.keys import generate_key
from mrtr_tools.server import http_app

async def serve(inner=None):
    told = ["lifespan.shutdown", "lifespan.startup"]
    async def receive():
        print(gc.get_freeze_count())
        if len(told) == 1 and inner is not None:
            await inner()
            print(gc.get_freeze_count())
        return {"type": told.pop()}
    async def send(_):
        pass
    await http_app(Toolbox("desk"), keys=[generate_key()])({"type": "lifespan"}, receive, send)

anyio.run(serve, serve)
print(gc.get_freeze_count())
"""


def test_while_one_serves_the_collector_leaves_alone_what_was_there_before():
    counts = subprocess.check_output([sys.executable, "-c", TWO_APPLICATIONS], text=True, timeout=SECONDS, cwd=ROOT)

    before, outer, second, inner, still, after = map(int, counts.split())
    assert before == after == 0, "the process may go on after that"
    assert min(outer, second, inner, still) > 1000


def test_one_page_in_a_sandbox_is_every_page():
    with pytest.raises(ValueError, match="lets in anybody"):
        http_app(desk(), keys=[generate_key()], allowed_origins=["null"])
