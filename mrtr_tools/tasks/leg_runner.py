"""One process runs the legs of tasks, from when its server begins to when it has ended."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import Context
from typing import Final

import anyio

from mrtr_tools.errors import Busy
from mrtr_tools.tasks.engine import Engine, GaveUp, Leg

__all__ = ["LegRunner"]

AGAIN: Final = 5
"""Seconds before an engine that stopped is started again."""

_log = logging.getLogger("mrtr_tools")


class LegRunner:
    """Has an engine run legs in an event loop of asyncio.

    Args:
        engine: knows which legs there are to run.
        name: of the server, for the log.

    Attributes:
        until: when functions that run must have come to their end once it stops, as `time.monotonic` counts.
    """

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._name = name
        self._is_stopping = False
        self.until = 0.0
        self._legs = 0
        self._ended_one = anyio.Event()
        self._task: asyncio.Task[None] | None = None

    def begin(self, leg: Leg, gave_up: GaveUp) -> None:
        """Run legs in this loop, until `end`."""
        if self._task is None or self._task.done():
            self._is_stopping = False
            # It lives longer than the request that happens to be the first, whose context is its own affair.
            self._task = _asyncio_loop().create_task(self._run(leg, gave_up), context=Context())

    @contextmanager
    def leg(self) -> Generator[None]:
        """While a leg runs.

        Raises:
            Busy: none begins any more.
        """
        if self._is_stopping:
            raise Busy("stopping")
        self._legs += 1
        try:
            yield
        finally:
            self._legs -= 1
            self._ended_one.set()

    def stop(self, grace: float) -> None:
        """Begin no more legs in this process; others run them.

        Args:
            grace: seconds from now on that functions which run may take to their end.
        """
        if not self._is_stopping:
            self._is_stopping, self.until = True, time.monotonic() + grace

    async def end(self, grace: float) -> None:
        """Run no more legs, and let go of the store.

        Args:
            grace: as for `stop`, unless that was told before. A function that is cut short runs again, with the same
                idempotency key, wherever the task goes on.
        """
        self.stop(grace)
        with anyio.move_on_after(max(0.0, self.until - time.monotonic())):
            while self._legs:
                self._ended_one = anyio.Event()
                await self._ended_one.wait()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None
        await self._engine.close()

    async def _run(self, leg: Leg, gave_up: GaveUp) -> None:
        while True:
            try:
                await self._engine.run(leg, gave_up)
            except Exception:  # noqa: BLE001  whatever it is, tasks wait for the next try
                _log.exception("%s: its tasks cannot be run; trying again", self._name)
            await asyncio.sleep(AGAIN)


def _asyncio_loop() -> asyncio.AbstractEventLoop:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise RuntimeError("tasks are run on asyncio: serve with it, or leave tasks= out") from None
