"""What a step tells while it runs, where nobody listens: its progress becomes the message of the task."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from pydantic import JsonValue

from mrtr_tools.errors import Busy
from mrtr_tools.tasks.engine import Engine, Row
from mrtr_tools.tasks.sealing import TaskSealer

__all__ = ["TaskChannel"]

EVERY: Final = 0.5
"""Seconds between two messages that are written down; what is told in between is not, but for the end."""
LONGEST: Final = 500

_log = logging.getLogger("mrtr_tools")


class TaskChannel:
    """The way back of one leg; a `Channel`.

    Args:
        engine: keeps the message.
        sealer: seals it.
        row: the task.
        clock: seconds since 1970.
    """

    def __init__(self, engine: Engine, sealer: TaskSealer, row: Row, clock: Callable[[], float]) -> None:
        self._engine = engine
        self._sealer = sealer
        self._row = row
        self._clock = clock
        self._last = float("-inf")

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """See `Channel.progress`."""
        now = self._clock()
        if now - self._last < EVERY and progress != total:
            return
        self._last = now
        part = f"{progress:g}" if total is None else f"{progress:g} of {total:g}"
        told = f"{part}: {message}" if message else part
        try:
            sealed = self._sealer.sealed_message(self._row, told[:LONGEST])
            await self._engine.tell(self._row.id, self._row.owner, sealed, now)
        except Busy:  # the next one may get through
            _log.debug("the progress of task %s was not written down", self._row.id)

    async def log(self, level: str, data: JsonValue, logger: str | None) -> None:
        """Log messages of a task go nowhere: the protocol has none."""
