"""Claims in Redis, for several machines. Needs ``mrtr-tools[redis]``."""

from __future__ import annotations

import math
from typing import Any, Final, cast

from redis import Redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry

from mrtr_tools.single_use.threads import PATIENCE, in_thread

__all__ = ["RedisClaims"]

AGAIN: Final = 0.1
"""Seconds until it is tried once more."""

_ADD: Final = """
local there = redis.call('GET', KEYS[1])
if there then return there end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return false
"""
_REPLACE: Final = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
"""
_REMOVE: Final = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
"""


class RedisClaims:
    """A `ClaimStore` in Redis, for all machines that reach it.

    It is as good as that Redis: one that evicts keys (``maxmemory-policy`` other than ``noeviction``), loses its last
    second when it ends (``appendfsync`` other than ``always``), or fails over to a copy that lags behind, forgets
    claims, and what was to happen once can then happen twice.

    Args:
        url: such as ``redis://127.0.0.1:6379/0``, or ``rediss://...`` with TLS.
        prefix: stands before each name.
    """

    def __init__(self, url: str, *, prefix: str = "mrtr_tools:claims:") -> None:
        redis: Any = Redis  # its options have no types
        # Once more and no oftener: where there is no Redis, nobody should wait for long to hear that.
        retry = Retry(ConstantBackoff(AGAIN), 1)
        self._redis = redis.from_url(url, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE, retry=retry)
        self._prefix = prefix

    def __repr__(self) -> str:
        return "RedisClaims()"  # the URL may hold a password

    async def add(self, name: str, value: bytes, keep: float) -> bytes | None:
        """See `ClaimStore`."""
        return cast("bytes | None", await self._eval(_ADD, name, value, _milliseconds(keep)))

    async def replace(self, name: str, old: bytes, new: bytes, keep: float) -> bool:
        """See `ClaimStore`."""
        return await self._eval(_REPLACE, name, old, new, _milliseconds(keep)) == 1

    async def remove(self, name: str, old: bytes) -> bool:
        """See `ClaimStore`."""
        return await self._eval(_REMOVE, name, old) == 1

    async def _eval(self, script: str, name: str, *values: bytes | int) -> object:
        return await in_thread(lambda: self._redis.eval(script, 1, self._prefix + name, *values))


def _milliseconds(seconds: float) -> int:
    return math.ceil(seconds * 1000)
