"""MCP over HTTP: one POST, one JSON answer, for requests of 2026-07-28; anything else goes to the SDK's application.

What this is not made for: older clients (another `MCP-Protocol-Version`, or none), calls that want to hear of their
progress or get log messages, which take an event stream, and what is on the server beside the toolbox. Such a request
is handed on as it came, once it has passed the `Gate` and its body is there and is JSON. The SDK is imported then.

A client cancels a call by closing the connection. A body that does not come within `BODY_SECONDS` ends its connection;
headers that do not come are for a proxy in front to deal with, since they never get here.
See https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pydantic import JsonValue

from mrtr_tools.errors import DefinitionError, RequestError
from mrtr_tools.keys import InvalidKey
from mrtr_tools.server.envelope import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    NO_MESSAGE,
    Answer,
    Rejected,
    check_version,
    failed,
    is_id,
    read_json,
    read_request,
    wants_stream,
)
from mrtr_tools.server.gate import JSON, Gate, Message, Receive, Refused, Response, Send
from mrtr_tools.server.handover import SdkApp, replayed
from mrtr_tools.server.headers import VERSION_HEADER, Headers
from mrtr_tools.server.lean import LeanServer, nobody
from mrtr_tools.server.service import Service
from mrtr_tools.server.stopping import before_the_end
from mrtr_tools.server.waiting import Gone, Started, unless_gone

if TYPE_CHECKING:
    from mrtr_tools.server.principals import Principal
    from mrtr_tools.server.proposed_tasks import ProposedTasks

__all__ = ["BODY_SECONDS", "HttpEndpoint"]

PATH: Final = "/mcp"
BODY_SECONDS: Final = 10
"""How long the body of a request may take to come."""

OLDER: Final = frozenset({None, b"2024-11-05", b"2025-03-26", b"2025-06-18", b"2025-11-25"})
"""What the version header says, if anything, in revisions that begin with `initialize`."""
SESSION_HEADER: Final = b"mcp-session-id"
UNSAID: Final = frozenset({None, b"DRAFT-2026-v1"})
"""What it says where the proposal of tasks may be spoken."""

BOTH: Final = b"application/json, text/event-stream"
TAKE_JSON: Final = {b"*/*", b"application/*", JSON}
TAKE_STREAM: Final = {b"*/*", b"text/*", b"text/event-stream"}
NOT_FOUND: Final = Response(404, b"Not Found", ((b"content-type", b"text/plain; charset=utf-8"),))
NOT_ALLOWED: Final = Response(405, b"", ((b"allow", b"POST"),))
NOT_ACCEPTABLE: Final = Response(406)
ACCEPTED: Final = Response(202)
TYPE: Final = (b"content-type", JSON)

Caller = Callable[[], str | None]

_log = logging.getLogger("mrtr_tools")
_serving: Final[set[HttpEndpoint]] = set()  # those that are applications of their own


class HttpEndpoint:
    """An ASGI application that serves MCP at ``/mcp``.

    Args:
        gate: what may come in.
        lean: serves what it can; None to leave everything to `sdk`.
        sdk: serves the rest. It has to be for the same toolbox and the same keys: a call may go on at the other one.
        principal: what of an access token says who is calling. Given, there has to be one: a middleware of the SDK
            around this application puts it into the scope.
        service: what is served; it begins nothing new once the process is told to stop.
        proposed: serves what it takes of requests without a session and a version.
        body_seconds: how long the body of a request may take to come.
    """

    def __init__(
        self,
        gate: Gate,
        lean: LeanServer | None,
        sdk: SdkApp,
        *,
        principal: Principal | None = None,
        service: Service | None = None,
        proposed: ProposedTasks | None = None,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        self._gate = gate
        self._lean = lean
        self._sdk = sdk
        self._principal: Principal | None = principal
        self._service = service
        self._proposed = proposed
        self._body_seconds = body_seconds

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve a request, or see a lifespan through."""
        if scope["type"] != "http":
            await self._live(scope, receive, send)
            return
        try:
            response = await self._respond(scope, receive, send)
        except Gone:
            return
        except Refused as refused:
            response = refused.response
        except RequestError as error:
            response = failed(None, error)
        if response is not None:
            headers = (TYPE,) if isinstance(response, Answer) else response.headers
            body = response.body
            told = [*headers, (b"content-length", b"%d" % len(body))]
            if self._service is not None and self._service.load.is_stopping and scope.get("http_version", "1.1") < "2":
                told.append((b"connection", b"close"))  # no other request will be served
            await send({"type": "http.response.start", "status": response.status, "headers": told})
            await send({"type": "http.response.body", "body": body})

    def drain(self) -> None:
        """Begin nothing new. Calls under way come to their end, or go on elsewhere where that was wished.

        It is done when the process is told to stop, where this is the server's own application; where it is mounted in
        another one, that has to do it.
        """
        if self._service is not None:
            self._service.stop()

    @asynccontextmanager
    async def lifespan(self, _: object = None) -> AsyncGenerator[None]:
        """What is open while it serves; for an application that it is mounted in: ``lifespan=inner.lifespan``."""
        if self._service is not None:
            await self._service.begin()
        if self._lean is None:
            await self._sdk.start()
        try:
            yield
        finally:
            if self._service is not None:
                await self._service.end()
            await self._sdk.stop()

    async def _live(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close"})
            return
        await receive()
        begun = False
        try:
            async with self.lifespan():
                with before_the_end(self.drain), self._frozen():
                    begun = True
                    await send({"type": "lifespan.startup.complete"})
                    await receive()
        except (DefinitionError, InvalidKey) as error:
            if begun:
                raise
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.shutdown.complete"})

    @contextmanager
    def _frozen(self) -> Generator[None]:
        """Keep the collector from what was made before the first request: it would find nothing there, again and again.

        Of several applications in a process the last one that ends lets it look again.
        """
        if not _serving and gc.get_freeze_count():  # whoever did that knows when it ends
            yield
            return
        if not _serving:
            gc.collect()
            gc.freeze()
        _serving.add(self)
        try:
            yield
        finally:
            _serving.discard(self)
            if not _serving:
                gc.unfreeze()

    async def _respond(self, scope: Message, receive: Receive, send: Send) -> Answer | Response | None:
        """What to answer; None when the SDK's application did.

        Raises:
            Gone: there is nobody to answer to.
            Refused: the request is not served.
            RequestError: what came is no message.
        """
        if _path(scope) != PATH:
            return NOT_FOUND
        headers = self._gate.admit(scope)
        principal = self._principal_of(scope)
        older = headers.get(VERSION_HEADER) in OLDER
        if scope["method"] != "POST" and not (older and SESSION_HEADER in headers):
            return NOT_ALLOWED
        if not older and not _accepts(headers.get(b"accept", b"")):
            return NOT_ACCEPTABLE
        body = await self._body(receive)
        if scope["method"] == "POST":
            begun = self._begun(read_json(body), headers, principal, older=older)
            if isinstance(begun, Response):
                return begun
            if begun is not None:
                return begun.result[0] if begun.result is not None else await unless_gone(begun, receive)
        # What was looked at is what is served.
        await self._sdk({**scope, "headers": [*headers.items()]}, replayed(bytes(body), receive), send)
        return None

    def _begun(
        self, message: JsonValue, headers: Headers, principal: Caller, *, older: bool
    ) -> Started[Answer] | Response | None:
        """The answer to a message, on its way or there; None when it is for the SDK."""
        if self._proposed is not None and headers.get(VERSION_HEADER) in UNSAID and SESSION_HEADER not in headers:
            proposed = self._proposed.request_in(message)
            if proposed is not None:
                return Started(self._proposed.answer(proposed, headers, principal))
        lean = self._lean
        if older or lean is None:
            _check_id(message)
            return None
        request = read_request(message)
        if request is None:
            check_version(headers[VERSION_HEADER].decode("latin-1"))
            return ACCEPTED  # and nothing is done: clients cancel by closing the connection
        if wants_stream(request) or not lean.serves(request):
            return None
        return Started(lean.answer(request, headers=headers, principal=principal))

    async def _body(self, receive: Receive) -> bytes | bytearray:
        """The body of a request.

        Raises:
            Gone: the client hung up before all of it was there.
            Refused: it is too long, or does not come.
        """
        begun = Started(receive())
        if begun.result is not None:
            [message] = begun.result
            body = message.get("body", b"")
            if message["type"] == "http.request" and not message.get("more_body") and len(body) <= self._gate.limit:
                return body
        try:
            async with asyncio.timeout(self._body_seconds):
                return await _all_of(begun, receive, self._gate)
        except TimeoutError:
            late = Rejected(INVALID_REQUEST, f"The body of a request may take {self._body_seconds} seconds")
            raise Refused.as_json(408, late, close=True) from None

    def _principal_of(self, scope: Message) -> Caller:
        """Says who is calling.

        Raises:
            Refused: nobody knows, and somebody should.
        """
        user = scope.get("user")
        if user is not None:
            bearer: Any = sys.modules.get("mcp.server.auth.middleware.bearer_auth")  # whoever made a user imported it
            if bearer is not None and isinstance(user, bearer.AuthenticatedUser):
                from mrtr_tools.server.principals import principal_of

                return partial(principal_of, user.access_token, self._principal or "subject")
        if self._principal is None:
            return nobody
        _log.error("principal= is given, and no middleware around the application says who is calling")
        raise Refused.as_json(500, Rejected(INTERNAL_ERROR, "Internal error"))


def _path(scope: Message) -> str:
    """The path below where the application is mounted."""
    path, root = scope["path"], scope.get("root_path", "")
    return path[len(root) :] if root and path.startswith(f"{root}/") else path


def _accepts(accept: bytes) -> bool:
    """Whether a client takes both kinds of answers, as the protocol wants it to."""
    if accept == BOTH:
        return True
    types = {part.partition(b";")[0].strip().lower() for part in accept.split(b",")}
    return not (types.isdisjoint(TAKE_JSON) or types.isdisjoint(TAKE_STREAM))


async def _all_of(begun: Started[Message], receive: Receive, gate: Gate) -> bytearray:
    """A body that comes in pieces, the first of which may be there."""
    body = bytearray()
    message = await begun if begun.result is None else begun.result[0]
    while message["type"] == "http.request":
        body += message.get("body", b"")
        if len(body) > gate.limit:
            raise gate.too_long()
        if not message.get("more_body"):
            return body
        message = await receive()
    raise Gone


def _check_id(message: JsonValue) -> None:
    """Refuse a message for the SDK whose id is none of ours.

    Raises:
        Rejected: it is too long, or no id at all.
    """
    if isinstance(message, dict) and "id" in message and not is_id(message["id"]):
        raise Rejected(INVALID_REQUEST, NO_MESSAGE)
