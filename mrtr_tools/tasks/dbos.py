"""`DbosEngine`: tasks that survive. Needs ``mrtr-tools[tasks]``."""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread

from mrtr_tools.errors import Busy
from mrtr_tools.sealing import Sealer
from mrtr_tools.tasks.engine import GaveUp, Leg, Row
from mrtr_tools.tasks.keeping import Keeping
from mrtr_tools.tasks.legs import Legs, running_leg
from mrtr_tools.tasks.places import CONNECTIONS, PATIENCE, Place, place_at
from mrtr_tools.threads import in_time

if TYPE_CHECKING:
    from mrtr_tools.tasks.database import Database
    from mrtr_tools.tasks.queue import Queue
    from mrtr_tools.tasks.store import Store

__all__ = ["DbosEngine"]

LAPSE: Final = 10.0
AGAIN: Final = 1.0
"""Seconds between two tries, while the database cannot be reached."""

T = TypeVar("T")

if find_spec("dbos") is None or find_spec("sqlalchemy") is None:
    raise ImportError("durable tasks need their packages: pip install 'mrtr-tools[tasks]'")


@dataclass(frozen=True, slots=True)
class Opened:
    """What SQLAlchemy and DBOS are imported for, which takes most of a second: in a thread, when it is needed."""

    database: Database
    queue: Queue
    store: Store


class DbosEngine:
    """Keeps tasks in a file for the processes of one machine, or in PostgreSQL for those of several, and runs them.

    Nothing is opened or begun before it is needed. A process has one engine that runs, because DBOS is one for a
    process; any number may create, read and change tasks.

    Args:
        place: a file in a directory that is there, made when it is not there, readable by its owner alone, and not on a
            network drive, where locks do not hold; or ``postgresql://user@host:5432/database``.
        sealer: for the purpose ``task/queue``; seals what stands in the queue.
        schema: of PostgreSQL, made when it is not there. Each server has one of its own; a file is for one server, and
            knows it by this name.
        at_once: how many legs a process runs at a time.
        lapse: seconds without a sign of life after which the legs of a process are run by others. One that only stood
            still for so long stores nothing of them any more, but what they did is done twice, with the same
            idempotency key.
        clock: seconds since 1970.

    Raises:
        ValueError: the place is neither.
    """

    def __init__(
        self,
        place: str | os.PathLike[str],
        *,
        sealer: Sealer,
        schema: str = "mrtr_tools",
        at_once: int = 32,
        lapse: float = LAPSE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._place = place_at(place, schema)
        self._sealer = sealer
        self._at_once = at_once
        self._lapse = lapse
        self._clock = clock
        self._mutex = threading.Lock()
        self._all: Opened | None = None
        self._limiter = CapacityLimiter(CONNECTIONS)
        self._legs: Legs | None = None

    def __repr__(self) -> str:
        return f"DbosEngine({str(self._place)!r})"

    async def create(self, row: Row, *, at_most: int) -> bool:
        """See `Engine.create`."""
        return await self._in_thread(lambda store: store.create(row, at_most))

    async def get(self, task: str, owner: str) -> Row | None:
        """See `Engine.get`."""
        return await self._in_thread(lambda store: store.get(task, owner))

    async def update(self, row: Row) -> bool:
        """See `Engine.update`. A leg waits here while the database cannot be reached: what it did is not done again."""
        mine = running_leg(row.id)
        if mine is None:
            return await self._in_thread(lambda store: store.update(row))
        is_certain = True
        while True:
            try:
                is_done = await self._in_thread(lambda store: store.update(row, runner=mine.process))
                if not (is_done or is_certain):  # it may have been stored when nothing was heard of it
                    kept = await self.get(row.id, row.owner)
                    is_done = kept is not None and (kept.version, kept.data) == (row.version, row.data)
                break
            except Busy:
                is_certain = False
                mine.has_stored = row.status != "working"  # perhaps, and then the task is no longer seen to be run here
                await anyio.sleep(AGAIN)
        mine.has_stored = is_done and row.status != "working"
        return is_done

    async def cancel(self, row: Row) -> bool:
        """See `Engine.cancel`."""
        if not await self._in_thread(lambda store: store.update(row)):
            return False
        if self._legs is not None:
            self._legs.cancel_task(row.id)
        return True

    async def tell(self, task: str, owner: str, message: bytes, updated: float) -> None:
        """See `Engine.tell`."""
        await self._in_thread(lambda store: store.tell(task, owner, message, updated))

    async def run(self, leg: Leg, gave_up: GaveUp) -> None:
        """See `Engine.run`. Needs asyncio.

        Raises:
            RuntimeError: DBOS runs in this process already, or the event loop is not asyncio's.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            raise RuntimeError("durable tasks are run on asyncio: serve with it, or keep tasks in memory") from None
        opened, process = await to_thread.run_sync(self._opened), secrets.token_hex(16)

        async def begin(workflow: str, task: str, owner: str, is_counted: bool) -> int | None:  # noqa: FBT001
            return await self._in_thread(
                lambda store: store.begin(workflow, task, owner, process, is_counted=is_counted)
            )

        async def give_back(workflow: str) -> None:
            opened.queue.take_no_more()
            await self._in_thread(lambda store: store.forgive([workflow], process))
            await self._in_thread(lambda _: opened.queue.give_back(workflow, process))

        legs = Legs(leg, gave_up, begin, give_back, process=process)
        keeping = Keeping(opened.store, opened.queue, legs, process=process, lapse=self._lapse, clock=self._clock)
        self._legs = legs
        try:
            await self._begin(keeping)
            await anyio.sleep_forever()
        finally:
            self._legs = None
            with anyio.CancelScope(shield=True):
                left = await legs.stop()
                await to_thread.run_sync(keeping.end, left)

    async def _begin(self, keeping: Keeping) -> None:
        while True:
            try:
                await to_thread.run_sync(keeping.begin)
            except Busy:
                await anyio.sleep(AGAIN)
            else:
                return

    async def key_ids(self) -> Mapping[str, int]:
        """See `Engine.key_ids`."""
        return await self._in_thread(lambda store: store.key_ids())

    async def rows(self, key_id: str, limit: int = 100) -> Sequence[Row]:
        """See `Engine.rows`."""
        return await self._in_thread(lambda store: store.rows(key_id, limit))

    async def rewrap(self, row: Row, key: bytes, key_id: str) -> bool:
        """See `Engine.rewrap`."""
        return await self._in_thread(lambda store: store.rewrap(row, key, key_id))

    async def close(self) -> None:
        """See `Engine.close`."""
        if self._all is not None:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(self._all.database.close)

    async def _in_thread(self, work: Callable[[Store], T]) -> T:
        try:
            return await in_time(lambda: work(self._opened().store), self._limiter, PATIENCE)
        except TimeoutError:
            raise Busy("unavailable") from None

    def _opened(self) -> Opened:
        with self._mutex:
            if self._all is None:
                self._all = _open(self._place, self._sealer, self._at_once, self._clock)
            return self._all


def _open(place: Place, sealer: Sealer, at_once: int, clock: Callable[[], float]) -> Opened:
    database = import_module("mrtr_tools.tasks.database").Database(place)
    queue = import_module("mrtr_tools.tasks.queue").Queue(database, sealer, at_once)
    return Opened(database, queue, import_module("mrtr_tools.tasks.store").Store(database, queue, clock))
