"""The keys of tasks, wrapped anew."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from mrtr_tools.keys import Key, generate_key, read_keys
from mrtr_tools.tasks import MemoryEngine, Row
from mrtr_tools.tasks.rewrapping import Rewrapped, rewrap
from mrtr_tools.tasks.sealing import TaskSealer

pytestmark = pytest.mark.anyio

OLD, NEW, OTHER = read_keys([generate_key() for _ in range(3)])


def sealer(*ring: Key, audience: str = "works") -> TaskSealer:
    return TaskSealer.of(ring, audience)


async def stored(engine: MemoryEngine, seals: TaskSealer, count: int, first: int = 0) -> None:
    """Tasks that wait for answers."""
    for number in range(first, first + count):
        row = seals.wrapped(Row(f"task-{number}", "owner", "input_required", 1, 0, 0, None, "", b"", b""))
        row = replace(seals.with_data(row, {"number": number}), message=seals.sealed_message(row, "half"))
        assert await engine.create(row, at_most=10_000)


class Counting(MemoryEngine):
    """Says how many rows were read at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[int] = []

    async def rows(self, key_id: str, limit: int = 100) -> Sequence[Row]:
        found = await super().rows(key_id, limit)
        self.read.append(len(found))
        return found


async def test_all_tasks_open_with_the_new_key_alone_and_hold_what_they_held():
    engine, old, both, new = Counting(), sealer(OLD), sealer(NEW, OLD), sealer(NEW)
    await stored(engine, old, 25)
    await stored(engine, both, 3, first=25)
    versions = {row.id: row.version for row in await engine.rows(old.ring.key_id)}
    engine.read.clear()

    done = await rewrap(engine, both, batch=10)

    assert done == Rewrapped(25, {})
    assert engine.read == [10, 10, 5, 0]
    rows = await engine.rows(new.ring.key_id)
    assert sorted(str(new.data(row)["number"]) for row in rows) == sorted(map(str, range(28)))
    assert {new.message(row) for row in rows} == {"half"}
    assert {row.id: row.version for row in rows if row.id in versions} == versions


async def test_doing_it_again_does_nothing():
    engine, both = Counting(), sealer(NEW, OLD)
    await stored(engine, sealer(OLD), 3)

    first, again = await rewrap(engine, both), await rewrap(engine, both)

    assert (first, again) == (Rewrapped(3, {}), Rewrapped(0, {}))


async def test_what_another_has_rewrapped_meanwhile_is_not_counted():
    engine, both = MemoryEngine(), sealer(NEW, OLD)
    await stored(engine, sealer(OLD), 3)

    class Raced(MemoryEngine):
        async def rewrap(self, row: Row, key: bytes, key_id: str) -> bool:
            if row.id == "task-1":
                theirs = both.rewrapped(row)
                assert await engine.rewrap(row, theirs.key, theirs.key_id)
            return await engine.rewrap(row, key, key_id)

    raced = Raced()
    raced._rows = engine._rows

    assert await rewrap(raced, both) == Rewrapped(2, {})


async def test_a_key_that_is_not_in_the_ring_and_a_task_that_was_changed_are_left_and_counted():
    engine, old = MemoryEngine(), sealer(OLD)
    await stored(engine, old, 5)
    await stored(engine, sealer(OTHER), 2, first=5)
    changed = await engine.get("task-0", "owner")
    assert changed is not None
    engine._rows["task-0"] = replace(changed, key=changed.key[:-1] + bytes([changed.key[-1] ^ 1]))

    done = await rewrap(engine, sealer(NEW, OLD), batch=1)

    assert done == Rewrapped(4, {old.ring.key_id: 1, sealer(OTHER).ring.key_id: 2})


async def test_another_audience_opens_nothing():
    engine = MemoryEngine()
    await stored(engine, sealer(OLD), 1)

    done = await rewrap(engine, sealer(NEW, OLD, audience="elsewhere"))

    assert done == Rewrapped(0, {sealer(OLD).ring.key_id: 1})
