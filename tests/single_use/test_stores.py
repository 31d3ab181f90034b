"""The stores: one atomic step each, the same for all of them."""

import os
import sqlite3
import stat
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import anyio
import anyio.lowlevel
import pytest
from anyio import to_thread
from redis import Redis

from mrtr_tools.server.claiming import claims_at
from mrtr_tools.single_use import ClaimStore, MemoryClaims, SqliteClaims
from mrtr_tools.single_use.redis import RedisClaims

pytestmark = pytest.mark.anyio

DAY = 24 * 3600


@pytest.fixture(params=["memory", "sqlite", "redis"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ClaimStore:
    match request.param:
        case "memory":
            return MemoryClaims()
        case "sqlite":
            return SqliteClaims(tmp_path / "claims")
        case _:
            return RedisClaims(request.getfixturevalue("redis_url"))


@pytest.fixture
def name() -> str:
    return uuid4().hex * 2


async def test_what_is_not_there_is_added_and_what_is_there_is_given_back(store: ClaimStore, name: str):
    assert await store.add(name, b"\x00one\xff", DAY) is None
    assert await store.add(name, b"two", DAY) == b"\x00one\xff"
    assert await store.add(name[::-1], b"two", DAY) is None


async def test_a_connection_that_ended_while_it_was_idle_is_made_anew(redis_url: str, name: str):
    claims = RedisClaims(redis_url)
    assert await claims.add(name, b"one", DAY) is None
    assert cast("Any", Redis.from_url(redis_url)).client_kill_filter(_type="normal", skipme=True) >= 1
    assert await claims.add(name, b"two", DAY) == b"one"


async def test_only_what_was_read_can_be_replaced(store: ClaimStore, name: str):
    assert not await store.replace(name, b"one", b"two", DAY)
    await store.add(name, b"one", DAY)
    assert not await store.replace(name, b"other", b"two", DAY)
    assert await store.replace(name, b"one", b"two", DAY)
    assert not await store.replace(name, b"one", b"three", DAY)
    assert await store.add(name, b"four", DAY) == b"two"


async def test_only_what_was_read_can_be_removed(store: ClaimStore, name: str):
    await store.add(name, b"one", DAY)
    assert not await store.remove(name, b"other")
    assert await store.remove(name, b"one")
    assert not await store.remove(name, b"one")
    assert await store.add(name, b"two", DAY) is None


async def test_of_fifty_at_once_one_adds(store: ClaimStore, name: str):
    found: list[bytes | None] = []

    async def add(number: int) -> None:
        found.append(await store.add(name, str(number).encode(), DAY))

    async with anyio.create_task_group() as tasks:
        for number in range(50):
            tasks.start_soon(add, number)
    assert found.count(None) == 1
    assert len(set(found) - {None}) == 1


# Threads


async def test_a_store_waits_for_no_thread_that_a_step_waits_in(store: ClaimStore, name: str):
    """Or who is at work could not say so, and would be taken for dead."""
    limiter = to_thread.current_default_thread_limiter()
    threads, limiter.total_tokens = limiter.total_tokens, 1
    inside, door = threading.Event(), threading.Event()

    def wait() -> None:
        inside.set()
        assert door.wait(10)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(to_thread.run_sync, wait)
        with anyio.fail_after(10):
            while not inside.is_set():
                await anyio.lowlevel.checkpoint()
            assert await store.add(name, b"one", DAY) is None
        door.set()
    limiter.total_tokens = threads


async def test_a_file_that_is_locked_fails_all_who_wait_and_not_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A backup that holds it for a minute costs each call some seconds, and not the seconds of all before it."""
    for module in ("sqlite", "threads"):
        monkeypatch.setattr(f"mrtr_tools.single_use.{module}.PATIENCE", 0.1)
    store = SqliteClaims(tmp_path / "claims")
    failed: list[str] = []

    async def add(name: str) -> None:
        try:
            await store.add(name, b"one", DAY)
        except (sqlite3.OperationalError, TimeoutError) as error:
            failed.append(str(error))

    with closing(sqlite3.connect(tmp_path / "claims", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                for number in range(200):
                    tasks.start_soon(add, str(number))
        other.execute("ROLLBACK")
    assert len(failed) == 200
    assert "database is locked" in failed
    assert await store.add("1", b"one", DAY) is None


async def test_a_disk_that_is_full_is_told_as_what_it_is_and_ends_nothing(tmp_path: Path):
    store = SqliteClaims(tmp_path / "claims")
    assert await store.add("a", b"one", DAY) is None
    assert store._connection is not None
    store._connection.execute("PRAGMA max_page_count=1")  # it takes the pages that are there as the least
    with pytest.raises(sqlite3.OperationalError, match="full"):
        await store.add("b", b"x" * 100_000, DAY)
    assert await store.replace("a", b"one", b"two", DAY)
    store._connection.execute("PRAGMA max_page_count=1000")
    assert await store.add("b", b"x" * 100_000, DAY) is None


# What is forgotten


@pytest.fixture(params=["memory", "sqlite"])
def clocked(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[ClaimStore, list[float]]:
    now = [1000.0]
    clock: Callable[[], float] = lambda: now[0]
    return (MemoryClaims(clock) if request.param == "memory" else SqliteClaims(tmp_path / "claims", clock)), now


async def test_a_claim_is_kept_as_long_as_was_asked_and_not_longer(clocked: tuple[ClaimStore, list[float]]):
    store, now = clocked
    await store.add("a", b"one", 60)
    now[0] += 60
    assert await store.add("a", b"two", 60) == b"one"
    now[0] += 0.001
    assert await store.add("a", b"three", 60) is None


async def test_a_replaced_claim_is_kept_from_then_on(clocked: tuple[ClaimStore, list[float]]):
    store, now = clocked
    await store.add("a", b"one", 60)
    now[0] += 30
    await store.replace("a", b"one", b"two", 60)
    now[0] += 60
    assert await store.add("a", b"three", 60) == b"two"


async def test_redis_forgets_by_itself(redis_url: str, name: str):
    await RedisClaims(redis_url).add(name, b"one", 60)
    with Redis.from_url(redis_url) as redis:
        left = cast("int", redis.pttl(f"mrtr_tools:claims:{name}"))
    assert 0 < left <= 60_000


# The file


def test_the_file_is_for_its_owner_alone(tmp_path: Path):
    SqliteClaims(tmp_path / "claims")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes.pop("claims") == 0o600
    assert not [name for name, mode in modes.items() if mode & 0o077]


async def test_a_claim_outlives_its_process(tmp_path: Path):
    code = (
        "import os, sys, anyio\n"
        "from mrtr_tools.single_use import SqliteClaims\n"
        "anyio.run(SqliteClaims(sys.argv[1]).add, 'a', b'one', 60)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = await anyio.run_process(
        [sys.executable, "-c", code, str(tmp_path / "claims")],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
    )
    assert done.returncode == -9
    assert await SqliteClaims(tmp_path / "claims").add("a", b"two", 60) == b"one"


def test_a_file_that_is_something_else_is_refused_at_start(tmp_path: Path):
    (tmp_path / "claims").write_text("notes about claims, long enough to be no empty database")
    with pytest.raises(sqlite3.DatabaseError):
        SqliteClaims(tmp_path / "claims")


def test_a_file_in_a_folder_that_is_not_there_is_refused_at_start(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        SqliteClaims(tmp_path / "nowhere" / "claims")


# What ``claims=`` takes


def test_a_path_is_a_file_and_a_url_is_redis(tmp_path: Path):
    assert isinstance(claims_at(tmp_path / "claims"), SqliteClaims)
    assert isinstance(claims_at(str(tmp_path / "claims")), SqliteClaims)
    assert isinstance(claims_at("redis://:secret@127.0.0.1:1/0"), RedisClaims)
    store = MemoryClaims()
    assert claims_at(store) is store


def test_another_scheme_is_refused_without_its_password():
    with pytest.raises(ValueError, match="postgresql") as caught:
        claims_at("postgresql://me:secret@host/db")
    assert "secret" not in str(caught.value)
    assert "secret" not in repr(claims_at("redis://:secret@127.0.0.1:1/0"))


def test_what_is_no_store_is_refused():
    with pytest.raises(TypeError, match="ClaimStore"):
        claims_at({})  # type: ignore[arg-type]
