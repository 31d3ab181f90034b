"""How long a state may be used, and which numbers are a length of time.

Nothing here waits, and nothing anywhere else runs while a person thinks: the age of a state is asked when it comes
back, and what a person takes for an answer counts against no limit of how long a function may run.
"""

from __future__ import annotations

import math
from typing import Final, TypeGuard

__all__ = ["DAY", "LEEWAY", "greatest_age", "is_expired", "is_lifetime"]

DAY: Final = 24 * 3600
LEEWAY: Final = 60
"""Seconds by which two clocks may differ, in both directions: a state lives up to this much longer than its `ttl`."""


def is_lifetime(value: object) -> TypeGuard[float]:
    """Whether it is a positive, finite number of seconds; a bool is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf


def greatest_age(ttl: float, max_age: float | None) -> float:
    """Seconds that a call may take from its first state on: what was said, else a day, or `ttl` when that is longer."""
    return max(ttl, DAY) if max_age is None else max_age


def is_expired(now: float, *, minted: float, born: float, ttl: float, max_age: float) -> bool:
    """Whether a state is too old to be used. The last second that counts is `LEEWAY` after its time.

    Args:
        now: seconds since 1970, as are the next two.
        minted: when the state was made.
        born: when the first state of its call was.
        ttl: seconds that a state lives.
        max_age: seconds that a call may take.
    """
    late = now - LEEWAY
    return late > minted + ttl or late > born + max_age
