"""Wrapping the keys of all tasks with the current key of a ring, so that older ones can be taken out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mrtr_tools.tasks.engine import Engine
from mrtr_tools.tasks.sealing import TaskSealer

__all__ = ["BATCH", "Rewrapped", "rewrap"]

BATCH: Final = 100
"""Tasks that are read at a time."""


@dataclass(frozen=True, slots=True)
class Rewrapped:
    """What was done.

    Attributes:
        done: how many tasks have the current key now that had another one before.
        left: how many have another one still, by its id: those that no key of the ring has wrapped, those that were
            changed where they are kept, and those that some server has made meanwhile with an older ring.
    """

    done: int
    left: Mapping[str, int]


async def rewrap(engine: Engine, sealer: TaskSealer, *, batch: int = BATCH) -> Rewrapped:
    """Wrap the keys of all tasks with the current key of the ring, while servers go on with them.

    What a task holds is not touched, nor opened. Done again, or by two at the same time, it does what is left to do.

    Args:
        engine: keeps the tasks.
        sealer: has the ring.
        batch: tasks that are read at a time.

    Raises:
        Busy: the store cannot be reached; what was done is done.
    """
    done = 0
    for key_id in await engine.key_ids():
        if key_id != sealer.ring.key_id and key_id in sealer.ring.key_ids:
            done += await _rewrap_all(engine, sealer, key_id, batch)
    left = await engine.key_ids()
    return Rewrapped(done, {key_id: count for key_id, count in left.items() if key_id != sealer.ring.key_id})


async def _rewrap_all(engine: Engine, sealer: TaskSealer, key_id: str, batch: int) -> int:
    """Rewrap what one key has wrapped, and count it."""
    done, broken = 0, set[str]()
    while rows := [row for row in await engine.rows(key_id, batch + len(broken)) if row.id not in broken]:
        for row in rows:
            try:
                wrapped = sealer.rewrapped(row)
            except ValueError:  # it would come again and again
                broken.add(row.id)
                continue
            done += await engine.rewrap(row, wrapped.key, wrapped.key_id)
    return done
