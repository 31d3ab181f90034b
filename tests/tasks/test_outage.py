"""PostgreSQL is away for a while; one of several processes is killed."""

import asyncio
import os
import signal
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from mrtr_tools.errors import Busy
from mrtr_tools.tasks import Engine
from mrtr_tools.tasks.database import IN_TRANSACTION
from tests.tasks.places import SECONDS, Cluster, Place
from tests.tasks.test_kill import asked, finished
from tests.tasks.test_running import ending, is_at, running, within
from tests.tasks.worker import STEPS, Death, new_task, until, worker

pytestmark = pytest.mark.anyio

TASKS = [f"task-{number}" for number in range(12)]


async def test_nothing_is_lost_while_postgresql_is_restarted(cluster: Cluster, tmp_path: Path):
    place, log = cluster.place(), tmp_path / "log"
    engine = place.engine()
    with worker(place, log):
        for task in TASKS[:6]:
            await engine.create(new_task(task), at_most=len(TASKS))
            await asked(engine, task)
        for task in TASKS[6:]:  # these are at work when it ends
            await engine.create(new_task(task), at_most=len(TASKS))
        await asyncio.to_thread(cluster.stop)
        try:
            with pytest.raises(Busy) as caught:
                await engine.get(TASKS[0], "owner")
            assert caught.value.data == {"reason": "unavailable"}
            with pytest.raises(Busy):
                await engine.create(new_task("late"), at_most=len(TASKS) + 1)
        finally:
            await asyncio.to_thread(cluster.start)
        for task in TASKS:
            assert (await finished(engine, task)).status == "completed"
        assert await engine.create(new_task("late"), at_most=len(TASKS) + 1)
        assert (await finished(engine, "late")).status == "completed"
    await engine.close()

    ended = Counter(tuple(line.split()[1:3]) for line in log.read_text().splitlines() if line.startswith("end"))
    assert set(ended) == {(task, step) for task in [*TASKS, "late"] for step in STEPS}
    assert {ended[task, "one"] for task in TASKS[:6]} == {1}


async def test_a_step_that_ends_while_postgresql_is_away_is_not_run_again(cluster: Cluster):
    engine = cluster.place().engine(lapse=1)
    begun, is_away, ran = asyncio.Event(), asyncio.Event(), 0

    async def leg(task: str, owner: str) -> bool:
        nonlocal ran
        row = await engine.get(task, owner)
        assert row is not None
        ran += 1
        begun.set()
        await within(is_away)
        assert await engine.update(replace(row, version=row.version + 1, status="input_required"))
        return False

    async with running(engine, leg):
        await engine.create(new_task("task"), at_most=1)
        await within(begun)
        await asyncio.to_thread(cluster.stop)
        try:
            is_away.set()
            with pytest.raises(Busy):
                await engine.get("task", "owner")
        finally:
            await asyncio.to_thread(cluster.start)
        await asked(engine, "task")
    await engine.close()

    assert ran == 1


async def test_an_engine_begins_as_soon_as_it_can_and_ends_though_it_cannot(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
):
    engine, ran = cluster.place().engine(lapse=1), list[str]()
    await asyncio.to_thread(cluster.stop)
    try:
        async with running(engine, ending(engine, ran)):
            await until(lambda: is_true("cannot be reached" in caplog.text))
            await asyncio.to_thread(cluster.start)
            await until(lambda: is_created(engine, "task"))
            await until(lambda: is_at(engine, "task", "completed"))
            await asyncio.to_thread(cluster.stop)
    finally:
        await asyncio.to_thread(cluster.start)
    await engine.close()

    assert ran == ["task"]
    assert "what runs here is taken over later" in caplog.text


async def is_true(condition: bool) -> bool:
    return condition


async def is_created(engine: Engine, task: str) -> bool:
    try:
        return await engine.create(new_task(task), at_most=1)
    except Busy:
        return False


async def test_of_three_processes_one_is_killed_and_all_tasks_finish(place: Place, tmp_path: Path):
    log = tmp_path / "log"
    engine = place.engine()
    with worker(place, log), worker(place, log), worker(place, log) as third:
        for task in TASKS:
            await engine.create(new_task(task), at_most=len(TASKS))
        await until(lambda: is_begun(log))
        third.kill()
        for task in TASKS:
            assert (await finished(engine, task)).status == "completed"
    await engine.close()

    lines = [tuple(line.split()) for line in log.read_text().splitlines()]
    assert {line[1:3] for line in lines if line[0] == "end"} == {(task, step) for task in TASKS for step in STEPS}
    assert max(Counter(line[1:3] for line in lines if line[0] == "stored").values()) == 1


async def test_a_process_that_stood_still_and_was_taken_for_ended_changes_nothing_when_it_goes_on(
    place: Place, tmp_path: Path
):
    """As a machine that was suspended: what it was in the middle of was done by another meanwhile."""
    log, gate, engine = tmp_path / "log", tmp_path / "gate", place.engine()
    os.mkfifo(gate)
    with (
        gate.open("r+b", buffering=0) as opened,
        worker(place, log, Death("task", "one", "before it is stored", gate)) as late,
    ):
        assert late.pid is not None
        await engine.create(new_task("task"), at_most=2)
        await until(lambda: is_told(log, "end task one 1"))
        with nobody_writes(place):
            os.kill(late.pid, signal.SIGSTOP)
            await until(lambda: is_still(late))
        with worker(place, log):
            await until(lambda: is_told(log, "stored task one 1"), seconds=IN_TRANSACTION + 30)
            opened.write(b"!")
            os.kill(late.pid, signal.SIGCONT)
            await until(lambda: is_told(log, "late task one 1"))
        await engine.create(new_task("next"), at_most=2)  # which it runs, and is one of the living again
        assert (await finished(engine, "next")).status == "completed"
        assert (await finished(engine, "task")).status == "completed"
    await engine.close()

    told = log.read_text().splitlines()
    assert [told.count(f"stored task {step} {key}") for step, key in (("one", 1), ("two", 3), ("three", 4))] == [1] * 3
    assert told.count("begin task one 1") >= 2


@contextmanager
def nobody_writes(place: Place) -> Iterator[None]:
    """What stands still while it writes to a file keeps its lock; PostgreSQL ends such a session."""
    with closing(sqlite3.connect(place.url if place.is_file else ":memory:", timeout=SECONDS)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield


async def is_still(process: BaseProcess) -> bool:
    return await asyncio.to_thread(lambda: "\nState:\tT" in Path(f"/proc/{process.pid}/status").read_text())


async def is_told(log: Path, line: str) -> bool:
    return await asyncio.to_thread(lambda: log.exists() and line in log.read_text().splitlines())


async def is_begun(log: Path) -> bool:
    return await asyncio.to_thread(lambda: log.exists() and "begin" in log.read_text())
