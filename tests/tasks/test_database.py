"""Where tasks can be kept, and what is said when they cannot."""

import logging
import os
import re
import stat
import threading
from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa

from mrtr_tools.errors import Busy
from mrtr_tools.tasks import dbos
from mrtr_tools.tasks.database import Database
from mrtr_tools.tasks.places import CONNECTIONS
from tests.tasks.places import SEALER, Cluster, Place, sqlite
from tests.tasks.worker import new_task

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("", "tasks= is empty: give a file, or postgresql://host/database"),
        ("mysql://root:secret@host/tasks", "tasks=mysql://... is no place for tasks: give a file, or postgresql://"),
        ("postgresql://root:secret@host", "names no database: give postgresql://user@host:5432/database"),
        ("postgresql://root:secret@host:port/tasks", "cannot be read: give postgresql://user@host:5432/database"),
    ],
)
def test_what_is_no_place_is_refused_at_once_and_its_password_is_not_shown(place: str, said: str):
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        Place(place).engine()

    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
@pytest.mark.parametrize(
    ("rest", "shown"),
    [
        ("root:secret@host/tasks", "root:***@host/tasks"),
        ("root:se:cr@et@host:1/tasks", "root:***@host:1/tasks"),
        ("root@host/tasks", "root@host/tasks"),
        ("host/tasks?password=secret", "host/tasks"),
        ("/tasks?host=/run/postgresql", "/tasks"),
    ],
)
def test_an_engine_is_told_apart_without_its_password(scheme: str, rest: str, shown: str):
    assert repr(Place(f"{scheme}://{rest}").engine()) == f"DbosEngine('postgresql://{shown}')"


async def test_nothing_is_opened_before_it_is_needed(tmp_path: Path):
    engine = Place(str(tmp_path / "tasks.sqlite3")).engine()
    await engine.close()

    assert list(os.scandir(tmp_path)) == []


async def test_a_file_is_for_its_owner_alone(tmp_path: Path):
    """Security 19"""
    engine = Place(str(tmp_path / "my tasks.sqlite3")).engine()
    umask = os.umask(0)
    try:
        await engine.create(new_task("task"), at_most=1)
        modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in os.scandir(tmp_path)}
    finally:
        os.umask(umask)
    await engine.close()

    assert set(modes.values()) == {0o600}
    assert "my tasks.sqlite3" in modes


async def test_a_directory_that_is_not_there_is_told(tmp_path: Path):
    engine = Place(str(tmp_path / "missing" / "tasks.sqlite3")).engine()

    with pytest.raises(FileNotFoundError, match=r"tasks cannot be kept there .*: '.*missing/tasks.sqlite3'"):
        await engine.get("task", "owner")


async def test_a_file_of_something_else_is_told(tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_text("These are notes, and no database at all." * 30)
    engine = Place(str(path)).engine()

    with pytest.raises(ValueError, match=r"notes.txt is no SQLite file"):
        await engine.get("task", "owner")
    assert path.read_text().startswith("These are notes")


async def test_a_database_that_cannot_be_reached_makes_everything_busy_and_is_told_once(
    caplog: pytest.LogCaptureFixture, free_port: int
):
    engine = Place(f"postgresql://root:secret@127.0.0.1:{free_port}/tasks").engine()
    with caplog.at_level(logging.INFO, "mrtr_tools"):
        for call in (
            lambda: engine.create(new_task("task"), at_most=1),
            lambda: engine.get("task", "owner"),
            lambda: engine.update(new_task("task")),
            lambda: engine.cancel(new_task("task")),
            lambda: engine.tell("task", "owner", b"", 0),
            engine.key_ids,
            lambda: engine.rows("key"),
            lambda: engine.rewrap(new_task("task"), b"", "key"),
        ):
            with pytest.raises(Busy) as caught:
                await call()
            assert caught.value.data == {"reason": "unavailable"}
    await engine.close()

    told = [record.message for record in caplog.records if "cannot be reached" in record.message]
    assert len(told) == 1
    assert f"root:***@127.0.0.1:{free_port}/tasks cannot be reached: connection failed" in told[0]
    assert "secret" not in caplog.text


async def test_who_finds_no_free_thread_in_time_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A database that neither answers nor goes away holds up a few requests, and not all that come after."""
    engine, go_on, taken = sqlite(tmp_path).engine(), threading.Event(), threading.Barrier(CONNECTIONS + 1)

    def wait(task: str, owner: str) -> None:
        taken.wait(10)
        go_on.wait(10)

    async def come_late() -> None:
        with pytest.raises(Busy, match="cannot be done at the moment"):
            await engine.key_ids()

    monkeypatch.setattr(engine._opened().store, "get", wait)
    async with anyio.create_task_group() as requests:
        for _ in range(CONNECTIONS):
            requests.start_soon(engine.get, "task", "owner")
        await anyio.to_thread.run_sync(taken.wait)
        monkeypatch.setattr(dbos, "PATIENCE", 0)  # any time is too long
        requests.start_soon(come_late)
        go_on.set()


async def test_a_table_that_somebody_locks_makes_everything_busy(cluster: Cluster, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Database.engine, "__defaults__", (5, 5, 1))
    place = cluster.new_place()
    engine = place.engine()
    await engine.create(new_task("task"), at_most=1)
    connected = sa.create_engine(cluster.url.replace("://", "+psycopg://"))
    with connected.begin() as connection:
        connection.execute(sa.text(f"LOCK TABLE {place.schema}.mrtr_tasks"))
        with pytest.raises(Busy):
            await engine.get("task", "owner")
    connected.dispose()

    assert await engine.get("task", "owner") == new_task("task")
    await engine.close()


async def test_two_servers_share_a_database_by_schemas_of_their_own(cluster: Cluster):
    one, other = cluster.new_place().engine(), cluster.new_place().engine()
    await one.create(new_task("task"), at_most=1)

    assert await other.get("task", "owner") is None
    assert await one.get("task", "owner") == new_task("task")
    await one.close()
    await other.close()


async def test_a_file_is_for_one_server(tmp_path: Path):
    path = str(tmp_path / "tasks.sqlite3")
    one, again, other = Place(path, "one").engine(), Place(path, "one").engine(), Place(path, "other").engine()
    await one.create(new_task("task"), at_most=1)

    with pytest.raises(ValueError, match=r"tasks.sqlite3 holds the tasks of another server, one: give each a file"):
        await other.get("task", "owner")
    assert await again.get("task", "owner") == new_task("task")
    for engine in (one, again, other):
        await engine.close()


async def test_a_user_of_postgresql_who_may_not_make_a_schema_is_told_what_to_do(cluster: Cluster):
    connected = sa.create_engine(cluster.url.replace("://", "+psycopg://"), isolation_level="AUTOCOMMIT")
    with connected.connect() as connection:
        for sql in ("DROP SCHEMA IF EXISTS given CASCADE", "DROP ROLE IF EXISTS modest", "CREATE ROLE modest LOGIN"):
            connection.execute(sa.text(sql))
        engine = Place(cluster.url.replace("postgres@", "modest:secret@"), "given").engine()

        with pytest.raises(PermissionError, match=r"\(CREATE SCHEMA given AUTHORIZATION ...\)") as caught:
            await engine.create(new_task("task"), at_most=1)
        assert "secret" not in str(caught.value)
        connection.execute(sa.text("CREATE SCHEMA given AUTHORIZATION modest"))
        assert await engine.create(new_task("task"), at_most=1)
    await engine.close()
    connected.dispose()


def test_keys_are_never_shown():
    assert "key" not in repr(SEALER)
