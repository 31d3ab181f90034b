"""Waiting with an end, and at no cost where nobody waits."""

import asyncio
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from mrtr_tools.server.waiting import Gone, Started, unless_gone
from tests.server.raw_http import SECONDS

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]


async def at_once(value: Any = 7) -> Any:
    return value


async def after(event: asyncio.Event, value: Any = 7) -> Any:
    await event.wait()
    return value


async def serve(work: Any, receive: Any) -> Any:
    return await unless_gone(Started(work), receive)


def receiving(event: asyncio.Event) -> Callable[[], Any]:
    async def receive() -> Any:
        await event.wait()
        return {"type": "http.disconnect"}

    return receive


async def test_what_does_not_wait_is_done_at_once():
    assert Started(at_once()).result == [7]
    assert Started(at_once(None)).result == [None]


async def test_what_fails_without_waiting_fails_at_once():
    async def failing() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        Started(failing())


async def test_what_waits_goes_on_where_it_was():
    seen: list[str] = []

    async def work() -> str:
        seen.append("begun")
        for _ in range(3):
            await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await asyncio.Event().wait()
        with anyio.move_on_after(0.01):
            await anyio.sleep_forever()
        seen.append(await anyio.to_thread.run_sync(lambda: "from a thread"))
        return "done"

    started = Started(work())

    assert (started.result, seen) == (None, ["begun"])
    assert await started == "done"
    assert seen == ["begun", "from a thread"]


async def test_what_fails_later_fails_later():
    async def failing() -> None:
        await asyncio.sleep(0)
        raise KeyError("x")

    started = Started(failing())

    with pytest.raises(KeyError):
        await started


async def test_what_is_no_coroutine_can_be_awaited_too():
    future = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(future.set_result, 7)

    assert await Started(future) == 7


async def test_a_client_that_stays_gets_its_answer_and_is_no_longer_watched():
    event, watched = asyncio.Event(), asyncio.Event()

    async def receive() -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            watched.set()

    asyncio.get_running_loop().call_later(0.01, event.set)

    assert await unless_gone(Started(after(event)), receive) == 7
    async with asyncio.timeout(SECONDS):
        await watched.wait()


async def test_a_client_that_hangs_up_ends_what_is_done_for_it():
    ended, gone = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    asyncio.get_running_loop().call_later(0.01, gone.set)
    with pytest.raises(Gone):
        await unless_gone(Started(work()), receiving(gone))
    assert ended.is_set()
    await asyncio.sleep(0)  # the task itself is not cancelled


async def test_what_else_comes_from_a_client_is_no_end():
    event, messages = asyncio.Event(), [{"type": "http.request"}, {"type": "http.request"}]

    async def receive() -> Any:
        if messages:
            return messages.pop()
        event.set()
        return await asyncio.Event().wait()

    assert await unless_gone(Started(after(event)), receive) == 7


async def test_who_ignores_that_the_client_is_gone_is_heard_out():
    gone = asyncio.Event()

    async def stubborn() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return "done"

    gone.set()
    assert await unless_gone(Started(stubborn()), receiving(gone)) == "done"


async def test_a_cancellation_by_somebody_else_goes_on():
    serving = asyncio.create_task(serve(after(asyncio.Event()), receiving(asyncio.Event())))
    await asyncio.sleep(0)

    serving.cancel()

    with pytest.raises(asyncio.CancelledError):
        await serving


async def test_a_cancellation_by_both_goes_on():
    gone = asyncio.Event()
    serving = asyncio.create_task(serve(after(asyncio.Event()), receiving(gone)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    gone.set()
    serving.cancel()

    with pytest.raises(asyncio.CancelledError):
        await serving
