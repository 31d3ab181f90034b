"""The SDK's application behind ours: imported, built and begun by the first request that needs it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import Final

from mrtr_tools.server.gate import App, Message, Receive, Send

__all__ = ["SdkApp", "replayed"]

LIFESPAN: Final = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}}


class SdkApp:
    """An ASGI application that is there when it is needed, lifespan and all. Made for one event loop at a time.

    Args:
        build: makes it, in a thread: importing the SDK takes most of a second, in which others should be served.
    """

    def __init__(self, build: Callable[[], App]) -> None:
        self._build = build
        self._living: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[App]
        self._stopping: asyncio.Event

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve a request."""
        app = await self.start()
        await app(scope, receive, send)

    async def start(self) -> App:
        """Begin, unless it has begun already.

        Raises:
            Exception: it could not be built. The next request tries again.
        """
        if self._living is None:
            self._ready = asyncio.get_running_loop().create_future()
            self._stopping = asyncio.Event()
            # It lives longer than the request that happens to be the first, whose context is its own affair.
            self._living = asyncio.create_task(self._live(), context=Context())
        return await asyncio.shield(self._ready)

    async def stop(self) -> None:
        """End, if it has begun."""
        if self._living is not None:
            self._stopping.set()
            await self._living
            self._living = None

    async def _live(self) -> None:
        """The lifespan in one task, from its beginning to its end."""
        to_come = [{"type": "lifespan.shutdown"}, {"type": "lifespan.startup"}]

        async def receive() -> Message:
            if len(to_come) == 1:
                await self._stopping.wait()
            return to_come.pop()

        async def send(message: Message) -> None:
            if message["type"] == "lifespan.startup.complete":
                self._ready.set_result(app)

        try:
            app = await asyncio.to_thread(self._build)
            await app({**LIFESPAN, "state": {}}, receive, send)
        except Exception as error:
            if self._ready.done():
                raise
            self._living = None
            self._ready.set_exception(error)


def replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives a body that has been read, and then whatever comes."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return left.pop() if left else await receive()

    return again
