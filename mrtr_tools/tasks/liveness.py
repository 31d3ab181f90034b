"""Which processes have ended without a word."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

__all__ = ["Watch"]


class Watch:
    """Watches the beats of other processes, which are numbers that grow: no two clocks are ever compared.

    Args:
        lapse: seconds without a beat after which a process is taken for ended.
        clock: seconds, of this process.
    """

    def __init__(self, lapse: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._lapse = lapse
        self._clock = clock
        self._seen: dict[str, tuple[int, float]] = {}
        self._looked: float | None = None

    def silent(self, beats: Mapping[str, int]) -> set[str]:
        """Those that have not beaten for so long, while this process looked all the time.

        When nobody could reach the database for a while, all are as silent as this one was blind; so a gap between two
        looks begins the count anew.
        """
        now = self._clock()
        if self._looked is None or now - self._looked > self._lapse:
            self._seen = {}
        self._looked = now
        self._seen = {
            name: self._seen[name] if name in self._seen and self._seen[name][0] == beat else (beat, now)
            for name, beat in beats.items()
        }
        return {name for name, (_, since) in self._seen.items() if now - since >= self._lapse}

    def forget(self) -> None:
        """Begin anew: this process could not look, or not beat itself."""
        self._looked = None
