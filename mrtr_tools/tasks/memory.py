"""Tasks that end with the process: for tests, and to try a tool."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import anyio

from mrtr_tools.errors import Busy
from mrtr_tools.tasks.engine import TOO_MANY, GaveUp, Leg, Row

__all__ = ["MemoryEngine"]

AGAIN: float = 1.0
"""Seconds before a leg that could not be run is tried again."""
TRIES: int = 5

_log = logging.getLogger("mrtr_tools")


class MemoryEngine:
    """Keeps tasks in this process, and runs their legs in its event loop, one at a time for each task.

    Args:
        clock: seconds since 1970.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._rows: dict[str, Row] = {}
        self._waiting: dict[str, None] = {}  # tasks, in the order of coming
        self._running: dict[str, anyio.CancelScope] = {}
        self._woken = anyio.Event()

    async def create(self, row: Row, *, at_most: int) -> bool:
        """See `Engine.create`."""
        self._sweep()
        if row.id in self._rows:
            return False
        owned = [each for each in (*self._rows.values(), row) if each.owner == row.owner]
        if sum(not each.has_ended for each in owned) > at_most:
            raise Busy("overloaded", TOO_MANY)
        self._store(row)
        return True

    async def get(self, task: str, owner: str) -> Row | None:
        """See `Engine.get`."""
        self._sweep()
        row = self._rows.get(task)
        return row if row is not None and row.owner == owner else None

    async def update(self, row: Row) -> bool:
        """See `Engine.update`."""
        current = await self.get(row.id, row.owner)
        if current is None or current.has_ended or current.version != row.version - 1:
            return False
        self._store(row if row.message is not None else replace(row, message=current.message))
        return True

    async def cancel(self, row: Row) -> bool:
        """See `Engine.cancel`."""
        if not await self.update(row):
            return False
        if row.id in self._running:
            self._running[row.id].cancel()
        return True

    async def tell(self, task: str, owner: str, message: bytes, updated: float) -> None:
        """See `Engine.tell`."""
        row = await self.get(task, owner)
        if row is not None and not row.has_ended:
            self._rows[task] = replace(row, message=message, updated=updated)

    async def run(self, leg: Leg, gave_up: GaveUp) -> None:
        """See `Engine.run`."""
        async with anyio.create_task_group() as legs:
            while True:
                for task in [each for each in self._waiting if each not in self._running]:
                    del self._waiting[task]
                    self._running[task] = anyio.CancelScope()
                    legs.start_soon(self._play, self._rows[task], leg, gave_up)
                self._woken = anyio.Event()
                await self._woken.wait()

    async def key_ids(self) -> Mapping[str, int]:
        """See `Engine.key_ids`."""
        self._sweep()
        found: dict[str, int] = {}
        for row in self._rows.values():
            found[row.key_id] = found.get(row.key_id, 0) + 1
        return found

    async def rows(self, key_id: str, limit: int = 100) -> Sequence[Row]:
        """See `Engine.rows`."""
        self._sweep()
        return [row for row in self._rows.values() if row.key_id == key_id][:limit]

    async def rewrap(self, row: Row, key: bytes, key_id: str) -> bool:
        """See `Engine.rewrap`."""
        current = await self.get(row.id, row.owner)
        if current is None or current.key != row.key:
            return False
        self._rows[row.id] = replace(current, key=key, key_id=key_id)
        return True

    async def close(self) -> None:
        """See `Engine.close`."""

    def _store(self, row: Row) -> None:
        self._rows[row.id] = row
        if row.status == "working":
            self._waiting[row.id] = None
            self._woken.set()
        else:
            self._waiting.pop(row.id, None)

    def _sweep(self) -> None:
        now = self._clock()
        for task in [row.id for row in self._rows.values() if row.expires is not None and row.expires <= now]:
            del self._rows[task]
            self._waiting.pop(task, None)
            if task in self._running:
                self._running[task].cancel()

    async def _play(self, row: Row, leg: Leg, gave_up: GaveUp) -> None:
        """Run the legs of a task until it waits or ends."""
        try:
            with self._running[row.id]:
                while await self._until_it_ran(row.id, row.owner, leg, gave_up):
                    self._waiting.pop(row.id, None)  # what this leg stored is run by the next
        finally:
            del self._running[row.id]
            self._woken.set()

    async def _until_it_ran(self, task: str, owner: str, leg: Leg, gave_up: GaveUp) -> bool:
        tries = 0
        while True:
            try:
                if tries == TRIES:
                    await gave_up(task, owner)
                    return False
                return await leg(task, owner)
            except Busy:
                pass  # not its fault, so it does not count
            except Exception:  # noqa: BLE001  the log has it, and it is tried again
                _log.exception("task %s: its leg could not be run", task)
                tries = min(tries + 1, TRIES)
            await anyio.sleep(AGAIN)
