"""The least that an ASGI application can do: it says the same whatever is asked."""

from collections.abc import Awaitable, Callable
from typing import Any

HELLO = b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","hello":"world"}}'
HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(HELLO))]


async def serve(scope: dict[str, Any], receive: object, send: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
    assert scope["type"] == "http", "this application has no lifespan"
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": HELLO})


def app() -> Any:
    return serve
