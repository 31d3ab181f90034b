"""What stands between the web server and the SDK's application: two small ASGI middlewares."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from pydantic_core import to_json

from mrtr_tools.server.stdio import INVALID_REQUEST

__all__ = ["TooLargeAsJson", "TrimmedHeaders"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


class TrimmedHeaders:
    """ASGI middleware: header values without the white space around them, which is no part of them (RFC 9110, 5.5).

    uvicorn leaves what stands behind a value when it parses with httptools, and takes it off with h11.
    """

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve a request, and pass on whatever else comes."""
        if scope["type"] == "http":
            scope = {**scope, "headers": [(name, value.strip(b" \t")) for name, value in scope["headers"]]}
        await self._app(scope, receive, send)


class TooLargeAsJson:
    """ASGI middleware: a 413 as a JSON-RPC error, which clients can read, in place of the SDK's plain text."""

    def __init__(self, app: App, limit: int) -> None:
        self._app = app
        error = {"code": INVALID_REQUEST, "message": f"A message may have {limit} bytes"}
        self._body = to_json({"jsonrpc": "2.0", "id": None, "error": error})
        length = str(len(self._body)).encode()
        self._headers = [(b"content-type", b"application/json"), (b"content-length", length)]

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve a request, and pass on whatever else comes."""
        too_large = False

        async def send_json(message: Message) -> None:
            nonlocal too_large
            if message["type"] == "http.response.start" and message["status"] == 413:  # noqa: PLR2004 - the status itself
                too_large = True
                message = {**message, "headers": self._headers}
            elif message["type"] == "http.response.body" and too_large:
                message = {**message, "body": self._body}
            await send(message)

        await self._app(scope, receive, send_json)
