"""Functions in threads, and what is left of them when nobody waits any more."""

import asyncio
import threading
from collections.abc import Callable

import anyio
import pytest
from anyio import from_thread, to_thread

from mrtr_tools.threads import in_thread

SECONDS = 10


class Work:
    """A function that goes on until it is let go."""

    def __init__(self, ask: Callable[[], object] = lambda: None) -> None:
        self.begun, self.let_go = threading.Event(), threading.Event()
        self.ask = ask
        self.heard: list[str] = []

    def __call__(self) -> str:
        self.begun.set()
        assert self.let_go.wait(SECONDS)
        try:
            self.ask()
        except BaseException as error:  # noqa: BLE001
            self.heard.append(type(error).__name__)
        return "done"


async def until(event: threading.Event) -> None:
    assert await to_thread.run_sync(event.wait, SECONDS, limiter=anyio.CapacityLimiter(1))


async def free_again() -> None:
    limiter = to_thread.current_default_thread_limiter()
    with anyio.fail_after(SECONDS):
        while limiter.borrowed_tokens:
            await anyio.lowlevel.checkpoint()


@pytest.mark.anyio
async def test_what_a_function_returns_or_raises_comes_back_and_its_place_is_free():
    assert await in_thread(lambda: "done") == "done"
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda: 1 / 0)
    assert to_thread.current_default_thread_limiter().borrowed_tokens == 0


@pytest.mark.anyio
async def test_no_more_run_at_a_time_than_anyio_allows():
    limiter, work, after = to_thread.current_default_thread_limiter(), Work(), list[str]()
    limiter.total_tokens, before = 1, limiter.total_tokens
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(in_thread, work)
            await until(work.begun)
            tasks.start_soon(in_thread, lambda: after.append(str(work.let_go.is_set())))
            await anyio.wait_all_tasks_blocked()
            work.let_go.set()
        assert after == ["True"]
    finally:
        limiter.total_tokens = before


@pytest.mark.anyio
async def test_a_scope_that_is_cancelled_waits_for_the_thread():
    work, ended = Work(), list[bool]()

    async def run() -> None:
        try:
            await in_thread(work)
        finally:
            ended.append(work.let_go.is_set())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await until(work.begun)
        tasks.cancel_scope.cancel()
        work.let_go.set()
    assert ended == [True]


@pytest.mark.anyio
async def test_what_is_cancelled_before_it_begins_does_not_run():
    ran: list[int] = []
    with anyio.CancelScope() as scope:
        scope.cancel()
        await in_thread(lambda: ran.append(1))
    assert scope.cancelled_caught
    assert ran == []
    assert to_thread.current_default_thread_limiter().borrowed_tokens == 0


# A task that asyncio cancels


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_task_that_is_cancelled_ends_at_once_and_its_thread_keeps_its_place_until_it_ends():
    """Security 21: who calls and cancels, again and again, has no more threads than anybody else."""
    limiter, work = to_thread.current_default_thread_limiter(), Work()
    task = asyncio.create_task(in_thread(work))
    await until(work.begun)
    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
    assert limiter.borrowed_tokens == 1
    work.let_go.set()
    await free_again()


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_thread_can_ask_whether_its_task_was_cancelled():
    work = Work(from_thread.check_cancelled)
    task = asyncio.create_task(in_thread(work))
    await until(work.begun)
    task.cancel()
    await asyncio.wait([task])
    work.let_go.set()
    await free_again()

    assert work.heard == ["CancelledError"]


def test_a_thread_that_outlives_its_loop_ends_in_peace():
    work = Work()
    ended = threading.Event()

    def run() -> None:
        try:
            work()
        finally:
            ended.set()

    async def main() -> None:
        task = asyncio.create_task(in_thread(run))
        await until(work.begun)
        task.cancel()

    asyncio.run(main())
    work.let_go.set()
    assert ended.wait(SECONDS)
