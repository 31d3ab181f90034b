"""Ten thousand tasks that wait for answers cost no thread, no coroutine and no memory, and a request finds its own."""

import asyncio
import threading
import tracemalloc
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from mrtr_tools.tasks import keeping
from mrtr_tools.tasks.dbos import DbosEngine
from tests.tasks.places import Place, sqlite
from tests.tasks.test_running import ending, is_at, running
from tests.tasks.worker import new_task, until

pytestmark = pytest.mark.anyio

MANY = 10_000


def fill(engine: DbosEngine) -> None:
    """Have so many tasks wait, of a hundred owners."""
    store, tasks = engine._opened().store, engine._opened().database.tables.tasks
    waiting = [
        asdict(replace(new_task(f"waiting-{number}", f"owner-{number % 100}"), status="input_required"))
        for number in range(MANY)
    ]
    with store._transaction() as connection:
        connection.execute(sa.insert(tasks), waiting)


async def test_tasks_that_wait_hold_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(keeping, "TIDYING", 0.1)
    engine = sqlite(tmp_path).engine(lapse=1)
    await engine.create(new_task("zeroth"), at_most=9)
    await asyncio.to_thread(fill, engine)
    async with running(engine, ending(engine, [])):
        for task in ("first", "second"):  # whatever is made once is made by then
            await engine.create(new_task(task), at_most=9)
            await until(lambda task=task: is_at(engine, task, "completed"))
        tracemalloc.start()
        try:
            held, threads, coroutines = tracemalloc.get_traced_memory()[0], threading.active_count(), len(tasks())
            for task in ("third", "fourth"):  # during which it tidies and looks around several times
                await engine.create(new_task(task), at_most=9)
                await until(lambda task=task: is_at(engine, task, "completed"))
            grown = tracemalloc.get_traced_memory()[0] - held
        finally:
            tracemalloc.stop()
        assert len(tasks()) <= coroutines + 1
        assert threading.active_count() <= threads + 3  # of a pool that has a few
        assert grown < 100 * MANY
    await engine.close()


async def test_a_request_finds_its_task_by_an_index(place: Place):
    engine = place.engine()
    await engine.create(new_task("task"), at_most=1)
    await asyncio.to_thread(fill, engine)
    store, connections = engine._opened().store, engine._opened().database._engine
    asked: list[tuple[str, Any]] = []

    def keep(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        asked.append((statement, parameters))

    assert connections is not None
    event.listen(connections, "before_cursor_execute", keep)
    assert store.get("waiting-5000", "owner-0") is not None
    store.update(replace(new_task("waiting-5000", "owner-0"), version=2, status="input_required"))
    store.tell("waiting-5000", "owner-0", b"half", 1.0)
    store.begin("waiting-5000:1", "waiting-5000", "owner-0", "process", is_counted=True)
    store.still_run(["waiting-5000:1"], "process")
    store.forgive(["waiting-5000:1"], "process")
    store.delete_expired()
    store.working(1.0, "")
    event.remove(connections, "before_cursor_execute", keep)

    assert len(asked) == 8
    explain = "EXPLAIN QUERY PLAN" if engine._opened().database.is_sqlite else "EXPLAIN"
    with connections.begin() as connection:
        if not engine._opened().database.is_sqlite:
            connection.execute(sa.text(f"ANALYZE {engine._opened().database.tables.tasks}"))
        for statement, parameters in asked:
            plan = " ".join(str(row) for row in connection.exec_driver_sql(f"{explain} {statement}", parameters))
            assert "mrtr_tasks USING" in plan or "Index" in plan or "Bitmap" in plan, (statement, plan)
            assert "Seq Scan on mrtr_tasks" not in plan, (statement, plan)
    await engine.close()


def tasks() -> set[asyncio.Task[object]]:
    return asyncio.all_tasks()
