"""Waiting for a client, with an end, at no cost where nobody has to wait.

Most bodies are there when they are read, and most calls are answered without a pause. A timer, or a task that looks
out for the client to hang up, would cost such a request more than all its checks. So a coroutine is run up to where it
first waits, and only one that does wait gets them. This is for asyncio, on which uvicorn runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from typing import Any, Generic, TypeVar, cast

from mrtr_tools.server.gate import Receive

__all__ = ["Gone", "Started", "unless_gone"]

T = TypeVar("T")


class Gone(Exception):
    """The client hung up: there is nobody to answer to."""


class Started(Generic[T]):
    """Something awaitable, run up to where it first waits. Await it, in the same task, to go on.

    Attributes:
        result: in a list, what it returned without waiting at all; else None.
    """

    __slots__ = ("_steps", "_waits_for", "result")

    def __init__(self, awaitable: Awaitable[T]) -> None:
        self.result: list[T] | None = None
        self._steps = awaitable.__await__()
        try:
            self._waits_for = next(self._steps)
        except StopIteration as done:
            self.result = [done.value]

    def __await__(self) -> Generator[Any, Any, T]:
        waits_for = self._waits_for
        while True:
            step: Callable[[Any], Any]
            try:
                step, sent = self._steps.send, (yield waits_for)
            except BaseException as error:  # noqa: BLE001 - a cancellation is its own to deal with
                step, sent = self._steps.throw, error
            try:
                waits_for = step(sent)
            except StopIteration as done:
                return done.value


async def unless_gone(started: Started[T], receive: Receive) -> T:
    """What it returns.

    Args:
        started: what is done for the client, and waits.
        receive: of a request whose body has been read.

    Raises:
        Gone: the client hung up meanwhile, and it was cancelled.
    """
    serving, gone = cast("asyncio.Task[Any]", asyncio.current_task()), False

    async def watch() -> None:
        nonlocal gone
        while (await receive())["type"] != "http.disconnect":
            pass
        gone = True
        serving.cancel()

    watching = asyncio.create_task(watch())
    try:
        return await started
    except asyncio.CancelledError:
        if not gone or serving.uncancel() > 0:
            raise  # by somebody else
        raise Gone from None
    finally:
        watching.cancel()
