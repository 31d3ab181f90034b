"""Functions in threads, no more of them at a time than anyio allows, whoever cancels what waits for them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Generic, TypeVar, cast

from anyio import CancelScope, CapacityLimiter, WouldBlock, to_thread

__all__ = ["in_thread", "in_time"]

T = TypeVar("T")


async def in_thread(function: Callable[[], T]) -> T:
    """What a function returns in a worker thread.

    A thread cannot be ended, but it can ask whether it should: `anyio.from_thread.check_cancelled`. What anyio cancels
    waits for its thread. A task that asyncio cancels, as servers do, does not; its thread goes on to take up a place
    until it ends, or else whoever calls and cancels could have as many threads as they like.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # on trio, nothing but scopes is ever cancelled
        return await to_thread.run_sync(function)
    limiter = to_thread.current_default_thread_limiter()
    run = _Run(function, lambda: limiter.release_on_behalf_of(run))
    try:
        limiter.acquire_on_behalf_of_nowait(run)
    except WouldBlock:
        await limiter.acquire_on_behalf_of(run)
    cancelled: asyncio.CancelledError | None = None
    with CancelScope() as scope:
        try:
            return await to_thread.run_sync(run.in_thread, loop, limiter=CapacityLimiter(1))
        except asyncio.CancelledError as error:
            scope.cancel()
            cancelled = error
        finally:
            run.leave()
    raise cast("asyncio.CancelledError", cancelled)


async def in_time(work: Callable[[], T], limiter: CapacityLimiter, seconds: float) -> T:
    """Do what blocks in one of the few threads that `limiter` gives, if one is free in time.

    Raises:
        TimeoutError: none was.
    """
    until = time.monotonic() + seconds

    def begin() -> T:
        if time.monotonic() > until:
            raise TimeoutError(f"no thread was free for {seconds:g} seconds")
        return work()

    return await to_thread.run_sync(begin, limiter=limiter)


class _Run(Generic[T]):
    """One run of a function.

    Args:
        function: what runs.
        over: is called in the loop when it has ended and nobody waits for it, whichever comes last.
    """

    def __init__(self, function: Callable[[], T], over: Callable[[], None]) -> None:
        self._function = function
        self._over = over
        self._lock = Lock()
        self._is_running = self._is_left = False

    def in_thread(self, loop: asyncio.AbstractEventLoop) -> T:
        with self._lock:
            if self._is_left:
                raise RuntimeError("it was cancelled before it began")
            self._is_running = True
        try:
            return self._function()
        finally:
            with self._lock:
                self._is_running = False
                is_left = self._is_left
            if is_left:
                with suppress(RuntimeError):  # the loop has ended
                    loop.call_soon_threadsafe(self._over)

    def leave(self) -> None:
        with self._lock:
            self._is_left = True
            is_running = self._is_running
        if not is_running:
            self._over()
