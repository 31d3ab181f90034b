"""Claims in the memory of one process."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable

__all__ = ["MemoryClaims"]


class MemoryClaims:
    """A `ClaimStore` for one process whose states end with it, and for tests.

    Args:
        clock: seconds, never going back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[float, bytes]] = {}
        self._ends: list[tuple[float, str]] = []

    async def add(self, name: str, value: bytes, keep: float) -> bytes | None:
        """See `ClaimStore`."""
        self._forget()
        there = self._kept.get(name)
        if there is not None:
            return there[1]
        self._keep(name, value, keep)
        return None

    async def replace(self, name: str, old: bytes, new: bytes, keep: float) -> bool:
        """See `ClaimStore`."""
        there = self._kept.get(name)
        if there is None or there[1] != old:
            return False
        self._keep(name, new, keep)
        return True

    async def remove(self, name: str, old: bytes) -> bool:
        """See `ClaimStore`."""
        there = self._kept.get(name)
        if there is None or there[1] != old:
            return False
        del self._kept[name]
        return True

    def _keep(self, name: str, value: bytes, keep: float) -> None:
        end = self._clock() + keep
        self._kept[name] = (end, value)
        heapq.heappush(self._ends, (end, name))

    def _forget(self) -> None:
        now = self._clock()
        while self._ends and self._ends[0][0] < now:
            _, name = heapq.heappop(self._ends)
            if name in self._kept and self._kept[name][0] < now:
                del self._kept[name]
