"""Threads for stores that block, apart from those that steps run in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from anyio import CapacityLimiter
from anyio.lowlevel import RunVar

from mrtr_tools.threads import in_time

__all__ = ["PATIENCE", "in_thread"]

PATIENCE: Final = 5
"""Seconds that a store waits: for a thread, for another process that writes, for an answer."""
THREADS: Final = 8

T = TypeVar("T")

_limiter: RunVar[CapacityLimiter] = RunVar("mrtr_tools_claims")


async def in_thread(work: Callable[[], T]) -> T:
    """Do what blocks in one of a few threads.

    They are not those of steps: when all of these were taken by steps that wait, nobody could say that they are at
    work; and when claims cannot be reached, steps that claim nothing would wait with the others.

    Raises:
        TimeoutError: no thread was free in time.
    """
    try:
        limiter = _limiter.get()
    except LookupError:
        limiter = CapacityLimiter(THREADS)
        _limiter.set(limiter)
    return await in_time(work, limiter, PATIENCE)
