"""What every engine does alike: running the legs of tasks."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from mrtr_tools.errors import Busy
from mrtr_tools.tasks import Engine, MemoryEngine, Row, legs as legs_module, memory as memory_module
from tests.tasks.places import sqlite
from tests.tasks.worker import new_task, until

pytestmark = pytest.mark.anyio

Leg = Callable[[str, str], Awaitable[bool]]


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Engine]:
    match request.param:
        case "memory":
            made: Engine = MemoryEngine()
        case "sqlite":
            made = sqlite(tmp_path).engine(lapse=1)
        case _:
            made = request.getfixturevalue("cluster").place().engine(lapse=1)
    yield made
    await made.close()


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be run is tried again at once."""
    monkeypatch.setattr(legs_module, "LONGEST", 0.01)
    monkeypatch.setattr(memory_module, "AGAIN", 0.01)


@asynccontextmanager
async def running(engine: Engine, leg: Leg, gave_up: Any = None) -> AsyncIterator[None]:
    """The engine runs meanwhile."""

    async def never(task: str, owner: str) -> None:
        raise AssertionError(f"{task} was given up")

    async with anyio.create_task_group() as group:
        group.start_soon(engine.run, leg, gave_up or never)
        yield
        group.cancel_scope.cancel()


async def change(engine: Engine, task: str, status: Any, data: bytes | None = None) -> Row:
    row = await engine.get(task, "owner")
    assert row is not None
    new = replace(row, version=row.version + 1, status=status, data=row.data if data is None else data)
    assert await engine.update(new)
    return new


async def test_a_task_is_run_leg_after_leg_until_it_asks_and_goes_on_when_it_is_answered(engine: Engine):
    ran: list[int] = []
    asked, ended = asyncio.Event(), asyncio.Event()

    async def leg(task: str, owner: str) -> bool:
        row = await engine.get(task, owner)
        assert row is not None
        ran.append(row.version)
        if row.version == 3:
            await change(engine, task, "input_required")
            asked.set()
        elif row.version == 5:
            await change(engine, task, "completed")
            ended.set()
        else:
            await change(engine, task, "working")
        return row.version < 3

    async with running(engine, leg):
        await engine.create(new_task("task"), at_most=1)
        await within(asked)
        await change(engine, "task", "working")
        await within(ended)
        await engine.create(new_task("next"), at_most=1)
        await until(lambda: is_at(engine, "next", "input_required"))

    assert ran == [1, 2, 3, 5, 1, 2, 3]


async def test_what_waits_when_it_begins_is_run(engine: Engine):
    await engine.create(new_task("task"), at_most=2)
    await engine.create(replace(new_task("asks"), status="input_required"), at_most=2)
    ran: list[str] = []

    async with running(engine, ending(engine, ran)):
        await until(lambda: is_at(engine, "task", "completed"))

    assert ran == ["task"]


async def test_many_are_run_at_the_same_time(engine: Engine):
    begun: list[str] = []
    all_begun = asyncio.Event()

    async def leg(task: str, owner: str) -> bool:
        begun.append(task)
        if len(begun) == 8:
            all_begun.set()
        await all_begun.wait()
        await change(engine, task, "completed")
        return False

    async with running(engine, leg):
        for number in range(8):
            await engine.create(new_task(f"task-{number}"), at_most=8)
        await within(all_begun)
        for number in range(8):
            await until(lambda number=number: is_at(engine, f"task-{number}", "completed"))

    assert sorted(begun) == [f"task-{number}" for number in range(8)]


async def test_a_leg_whose_task_is_cancelled_is_cancelled(engine: Engine):
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async with running(engine, until_cancelled(begun, cancelled)):
        await engine.create(new_task("task"), at_most=1)
        await within(begun)
        row = await engine.get("task", "owner")
        assert row is not None
        assert await engine.cancel(replace(row, version=2, status="cancelled"))
        await within(cancelled)
        assert await is_at(engine, "task", "cancelled")


async def test_a_task_that_is_cancelled_before_it_began_is_not_begun(engine: Engine):
    await engine.create(new_task("task"), at_most=2)
    assert await engine.cancel(replace(new_task("task"), version=2, status="cancelled"))
    await engine.create(new_task("other"), at_most=2)
    ran: list[str] = []

    async with running(engine, ending(engine, ran)):
        await until(lambda: is_at(engine, "other", "completed"))

    assert ran == ["other"]


async def test_a_leg_that_cannot_be_run_is_tried_again_and_given_up_in_the_end(
    engine: Engine, caplog: pytest.LogCaptureFixture
):
    tried: list[str] = []
    given_up = asyncio.Event()

    async def leg(task: str, owner: str) -> bool:
        tried.append(task)
        raise RuntimeError("the store said nothing")

    async def gave_up(task: str, owner: str) -> None:
        assert owner == "owner"
        await change(engine, task, "failed")
        given_up.set()

    with caplog.at_level(logging.CRITICAL, "mrtr_tools"):
        async with running(engine, leg, gave_up):
            await engine.create(new_task("task"), at_most=1)
            await within(given_up)

    assert tried == ["task"] * 5
    assert await is_at(engine, "task", "failed")


async def test_a_leg_that_finds_others_busy_is_tried_until_they_are_not(engine: Engine):
    tried: list[str] = []

    async def leg(task: str, owner: str) -> bool:
        tried.append(task)
        if len(tried) < 12:
            raise Busy("unavailable")
        await change(engine, task, "completed")
        return False

    async with running(engine, leg):
        await engine.create(new_task("task"), at_most=1)
        await until(lambda: is_at(engine, "task", "completed"))

    assert len(tried) == 12


async def test_a_step_tells_of_its_progress_while_it_runs(engine: Engine):
    told, go_on = asyncio.Event(), asyncio.Event()

    async def leg(task: str, owner: str) -> bool:
        await engine.tell(task, owner, b"half", 1.0)
        told.set()
        await go_on.wait()
        await change(engine, task, "completed")
        return False

    async with running(engine, leg):
        await engine.create(new_task("task"), at_most=1)
        await within(told)
        row = await engine.get("task", "owner")
        assert row is not None
        assert (row.message, row.version) == (b"half", 1)
        go_on.set()
        await until(lambda: is_at(engine, "task", "completed"))


async def test_legs_end_when_the_engine_does_and_are_run_again_when_it_begins(engine: Engine):
    begun, cancelled = asyncio.Event(), asyncio.Event()
    async with running(engine, until_cancelled(begun, cancelled)):
        await engine.create(new_task("task"), at_most=1)
        await within(begun)
    assert cancelled.is_set()
    assert await is_at(engine, "task", "working")
    if isinstance(engine, MemoryEngine):
        return  # which ends with its process

    ran: list[str] = []
    async with running(engine, ending(engine, ran)):
        await until(lambda: is_at(engine, "task", "completed"))
    assert ran == ["task"]


def ending(engine: Engine, ran: list[str]) -> Leg:
    async def leg(task: str, owner: str) -> bool:
        ran.append(task)
        await change(engine, task, "completed")
        return False

    return leg


def until_cancelled(begun: asyncio.Event, cancelled: asyncio.Event) -> Leg:
    async def leg(task: str, owner: str) -> bool:
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()
        return False

    return leg


async def is_at(engine: Engine, task: str, status: str) -> bool:
    row = await engine.get(task, "owner")
    return row is not None and row.status == status


async def within(event: asyncio.Event) -> None:
    async with asyncio.timeout(20):
        await event.wait()
