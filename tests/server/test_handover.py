"""The SDK's application behind ours: when it begins, what it gets, how it ends. A small one stands for it here."""

import asyncio
import threading
from contextvars import ContextVar
from typing import Any

import pytest

from mrtr_tools.server.handover import SdkApp, replayed
from tests.server.asgi import Sent, exchange
from tests.server.raw_http import SECONDS

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]

user: ContextVar[str] = ContextVar("user", default="nobody")


class Behind:
    """Answers with the body it got, and notes what happens to it."""

    def __init__(self, **fails: Exception) -> None:
        self.seen: list[str] = []
        self.fails = fails
        self.built_in: list[int] = []

    def build(self) -> Any:
        self.built_in.append(threading.get_ident())
        if "build" in self.fails:
            raise self.fails.pop("build")
        return self.serve

    async def serve(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            body = (await receive())["body"]
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": body})
            return
        for event in ("startup", "shutdown"):
            assert (await receive())["type"] == f"lifespan.{event}"
            self.seen.append(f"{event} for {user.get()}")
            if event in self.fails:
                raise self.fails.pop(event)
            await send({"type": f"lifespan.{event}.complete"})


async def test_it_is_built_by_the_first_request_beside_the_event_loop_and_ends_with_the_server():
    behind = Behind()
    app = SdkApp(behind.build)
    assert behind.built_in == []

    user.set("alice")
    answers = await asyncio.gather(*(exchange(app, Sent(b"%d" % number)) for number in range(5)))

    assert [came.body for came in answers] == ["0", "1", "2", "3", "4"]
    assert behind.seen == ["startup for nobody"], "its life is not that of the first request"
    assert len(behind.built_in) == 1
    assert behind.built_in != [threading.get_ident()]
    await app.stop()
    assert behind.seen == ["startup for nobody", "shutdown for nobody"]


async def test_what_was_never_needed_need_not_end():
    behind = Behind()

    await SdkApp(behind.build).stop()

    assert behind.built_in == []


@pytest.mark.parametrize("when", ["build", "startup"])
async def test_what_cannot_begin_is_told_and_tried_again(when):
    app = SdkApp(Behind(**{when: ValueError("no")}).build)

    assert "ValueError" in (await exchange(app, Sent(b"x"))).body
    assert (await exchange(app, Sent(b"x"))).body == "x"
    await app.stop()


async def test_it_can_begin_again_after_its_end():
    behind = Behind()
    app = SdkApp(behind.build)
    for _ in range(2):
        assert (await exchange(app, Sent(b"x"))).body == "x"
        await app.stop()

    assert behind.seen == ["startup for nobody", "shutdown for nobody"] * 2


async def test_a_first_request_that_is_given_up_does_not_take_the_others_along():
    behind, go = Behind(), threading.Event()

    def slow() -> Any:
        assert go.wait(SECONDS)
        return behind.build()

    app = SdkApp(slow)
    first = asyncio.create_task(exchange(app, Sent(b"1")))
    second = asyncio.create_task(exchange(app, Sent(b"2")))
    await asyncio.sleep(0)
    first.cancel()
    go.set()

    assert (await second).body == "2"
    await app.stop()


async def test_a_body_is_replayed_and_then_comes_what_comes():
    async def receive() -> Any:
        return {"type": "http.disconnect"}

    again = replayed(b"body", receive)

    assert await again() == {"type": "http.request", "body": b"body", "more_body": False}
    assert [await again(), await again()] == [{"type": "http.disconnect"}] * 2
