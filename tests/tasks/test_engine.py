"""What every engine does alike: the rows of tasks, in memory, in SQLite, in PostgreSQL."""

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from mrtr_tools.errors import Busy
from mrtr_tools.tasks import ENDED, Engine, MemoryEngine, Row
from tests.tasks.places import Place

pytestmark = pytest.mark.anyio

STATUSES = ("working", "input_required", "completed", "failed", "cancelled")
_numbers = itertools.count()


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
async def engine(request: pytest.FixtureRequest, clock: Clock, tmp_path) -> AsyncIterator[Engine]:
    match request.param:
        case "memory":
            made: Engine = MemoryEngine(clock)
        case "sqlite":
            made = Place(str(tmp_path / "tasks.sqlite3")).engine(clock=clock)
        case _:
            made = request.getfixturevalue("cluster").place().engine(clock=clock)
    yield made
    await made.close()


def row(task: str = "task", **other: Any) -> Row:
    made = Row(task, "owner", "input_required", 1, 1000.5, 1000.25, 2000.125, "k1", b"\x00key", b"\xffdata", None)
    return replace(made, **other)


async def test_a_task_comes_back_as_it_was_stored(engine: Engine):
    assert await engine.create(row(message=b"on its way"), at_most=1)

    assert await engine.get("task", "owner") == row(message=b"on its way")


async def test_a_task_that_never_expires_comes_back(engine: Engine, clock: Clock):
    await engine.create(row(expires=None), at_most=1)
    clock.now = 1e12

    assert await engine.get("task", "owner") == row(expires=None)


async def test_a_second_task_of_that_id_changes_nothing(engine: Engine):
    """Security 19"""
    assert await engine.create(row(), at_most=1)
    assert not await engine.create(row(data=b"other", status="working"), at_most=1)
    assert not await engine.create(row(owner="other", data=b"other"), at_most=1)

    assert await engine.get("task", "owner") == row()
    assert await engine.get("task", "other") is None


async def test_another_owner_has_no_such_task(engine: Engine):
    """Security 19: whatever another does is as if there were none."""
    await engine.create(row(), at_most=1)

    assert await engine.get("task", "other") is None
    assert not await engine.update(row(owner="other", version=2))
    assert not await engine.cancel(row(owner="other", version=2, status="cancelled"))
    await engine.tell("task", "other", b"told", 1001)
    assert await engine.get("task", "owner") == row()


async def test_of_two_who_change_it_one_has_to_look_again(engine: Engine):
    """Security 19: the first answer wins."""
    await engine.create(row(), at_most=1)
    done: list[bool] = []

    async def change(data: bytes) -> None:
        done.append(await engine.update(row(version=2, data=data)))

    async with anyio.create_task_group() as both:
        for number in range(8):
            both.start_soon(change, b"%d" % number)

    assert sorted(done) == [False] * 7 + [True]
    stored = await engine.get("task", "owner")
    assert stored is not None
    assert stored.version == 2


@pytest.mark.parametrize("version", [1, 3, 9])
async def test_only_the_next_version_is_taken(engine: Engine, version: int):
    await engine.create(row(), at_most=1)

    assert not await engine.update(row(version=version, data=b"other"))
    assert await engine.get("task", "owner") == row()


@pytest.mark.parametrize("ended", sorted(ENDED))
async def test_a_task_that_has_ended_never_changes(engine: Engine, ended: Any):
    await engine.create(row(), at_most=1)
    last = row(version=2, status=ended)
    assert await engine.update(last)

    for status in STATUSES:
        assert not await engine.update(replace(last, version=3, status=status, data=b"other"))
        assert not await engine.cancel(replace(last, version=3, status=status, data=b"other"))
    await engine.tell("task", "owner", b"told", 1001)
    assert await engine.get("task", "owner") == last


async def test_what_a_step_told_changes_no_version_and_stays(engine: Engine):
    await engine.create(row(), at_most=1)
    await engine.tell("task", "owner", b"half", 1001)
    assert await engine.get("task", "owner") == row(message=b"half", updated=1001)

    assert await engine.update(row(version=2, updated=1002))
    assert await engine.get("task", "owner") == row(version=2, updated=1002, message=b"half")

    assert await engine.update(row(version=3, updated=1003, message=b"all"))
    assert await engine.get("task", "owner") == row(version=3, updated=1003, message=b"all")


async def test_an_expired_task_is_gone(engine: Engine, clock: Clock):
    await engine.create(row(), at_most=1)
    clock.now = 2000.124
    assert await engine.get("task", "owner") == row()
    clock.now = 2000.125

    assert await engine.get("task", "owner") is None
    assert not await engine.update(row(version=2))
    assert not await engine.cancel(row(version=2, status="cancelled"))
    await engine.tell("task", "owner", b"told", 1001)


async def test_in_the_place_of_an_expired_task_another_may_be_made(engine: Engine, clock: Clock):
    await engine.create(row(owner="before"), at_most=1)
    clock.now = 3000

    assert await engine.create(row(expires=4000), at_most=1)
    assert await engine.get("task", "owner") == row(expires=4000)


async def test_an_owner_has_so_many_tasks_that_have_not_ended_and_no_more(engine: Engine, clock: Clock):
    """Security 19"""
    await engine.create(row("one"), at_most=2)
    await engine.create(row("two", expires=1500), at_most=2)
    with pytest.raises(Busy) as caught:
        await engine.create(row("three"), at_most=2)
    assert caught.value.data == {"reason": "overloaded"}
    assert await engine.get("three", "owner") is None
    assert await engine.create(row("four", owner="other"), at_most=2)

    assert await engine.update(row("one", version=2, status="completed"))
    assert await engine.create(row("three"), at_most=2)
    clock.now = 1500
    assert await engine.create(row("five"), at_most=2)


async def test_no_more_come_in_at_the_same_time_either(engine: Engine):
    """Security 19"""
    done: list[bool] = []

    async def create(number: int) -> None:
        try:
            done.append(await engine.create(row(f"task-{number}"), at_most=3))
        except Busy:
            done.append(False)

    async with anyio.create_task_group() as all_of_them:
        for number in range(12):
            all_of_them.start_soon(create, number)

    assert sorted(done) == [False] * 9 + [True] * 3


async def test_keys_are_counted_and_wrapped_anew(engine: Engine):
    """Security 19"""
    for number in range(3):
        await engine.create(row(f"task-{number}", key_id="old" if number else "new"), at_most=3)
    assert await engine.key_ids() == {"old": 2, "new": 1}
    assert sorted(each.id for each in await engine.rows("old")) == ["task-1", "task-2"]
    assert len(await engine.rows("old", 1)) == 1

    wrapped = row("task-1", key_id="old")
    assert await engine.rewrap(wrapped, b"again", "new")
    assert not await engine.rewrap(wrapped, b"once more", "newer")

    assert await engine.get("task-1", "owner") == replace(wrapped, key=b"again", key_id="new")
    assert await engine.key_ids() == {"old": 1, "new": 2}


async def test_a_row_wrapped_anew_meanwhile_is_changed_as_whoever_changes_it_knew_it(engine: Engine):
    """The key is the same, however it is wrapped."""
    await engine.create(row(), at_most=1)
    await engine.rewrap(row(), b"again", "k2")

    assert await engine.update(row(version=2, data=b"other"))
    assert await engine.get("task", "owner") == row(version=2, data=b"other")


@dataclass(frozen=True)
class Operation:
    """One thing that somebody does, with a row or without."""

    name: str
    task: str
    owner: str
    status: Any
    version: int
    expires: float | None
    message: bytes | None
    later: float


operations = st.builds(
    Operation,
    st.sampled_from(["create", "create", "update", "update", "update", "cancel", "tell", "get", "rewrap", "key_ids"]),
    st.sampled_from(["a", "b"]),
    st.sampled_from(["owner", "owner", "other"]),
    st.sampled_from(STATUSES),
    st.integers(2, 5),
    st.sampled_from([None, 1003.0, 2000.0]),
    st.sampled_from([None, b"told"]),
    st.sampled_from([0.0, 0.0, 1.0]),
)


def done(engine: Engine, operation: Operation, prefix: str) -> Callable[[], Awaitable[Any]]:
    made = row(
        prefix + operation.task,
        owner=operation.owner + prefix,
        status=operation.status,
        expires=operation.expires,
        message=operation.message,
        key_id=prefix,
    )
    later = replace(made, version=operation.version)
    return {
        "create": lambda: engine.create(made, at_most=1),
        "update": lambda: engine.update(later),
        "cancel": lambda: engine.cancel(replace(later, status="cancelled")),
        "tell": lambda: engine.tell(made.id, made.owner, b"more", 1001),
        "get": lambda: engine.get(made.id, made.owner),
        "rewrap": lambda: engine.rewrap(made, b"again", prefix),
        "key_ids": engine.key_ids,
    }[operation.name]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(story=st.lists(operations, min_size=1, max_size=12))
def test_a_database_answers_as_memory_does(
    kind: str, request: pytest.FixtureRequest, tmp_path_factory, story: list[Operation]
):
    durable, clock = shared(kind, request, tmp_path_factory)
    memory = MemoryEngine(clock)
    clock.now = 1000.0
    prefix = f"{next(_numbers)}-"

    async def tell_it() -> None:
        for operation in story:
            clock.now += operation.later
            answers: list[Any] = []
            for each in (memory, durable):
                try:
                    answer: Any = await done(each, operation, prefix)()
                except Busy as busy:
                    answer = busy.data
                answers.append(answer if operation.name != "key_ids" else answer.get(prefix, 0))
            assert answers[0] == answers[1], operation
        for task, owner in itertools.product("ab", ("owner", "other")):
            kept = [await each.get(prefix + task, owner + prefix) for each in (memory, durable)]
            assert kept[0] == kept[1]

    anyio.run(tell_it)


_shared: dict[str, tuple[Engine, Clock]] = {}


def shared(kind: str, request: pytest.FixtureRequest, tmp_path_factory) -> tuple[Engine, Clock]:
    """One database for all examples."""
    if kind not in _shared:
        clock = Clock()
        place = (
            Place(str(tmp_path_factory.mktemp("shared") / "tasks.sqlite3"))
            if kind == "sqlite"
            else request.getfixturevalue("cluster").place()
        )
        _shared[kind] = place.engine(clock=clock), clock
    return _shared[kind]
