"""Sending again what a server says it has not begun."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import anyio
from mcp import MCPError

from mrtr_tools.errors import Busy

__all__ = ["DELAYS", "patiently", "pause"]

T = TypeVar("T")

DELAYS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds before each of the times that something is sent again; about a quarter of a minute in all."""


async def patiently(send: Callable[[], Awaitable[T]], told: Callable[[MCPError], object] | None = None) -> T:
    """Send a request, and again while the server says that it was not begun (-31001), a little later each time.

    Args:
        send: sends it.
        told: is told of each time that it was not begun, but for the last.

    Raises:
        MCPError: the server has another error, or the same one still.
    """
    for tried in range(len(DELAYS)):
        try:
            return await send()
        except MCPError as error:
            if error.code != Busy.code:
                raise
            if told is not None:
                told(error)
        await pause(tried)
    return await send()


async def pause(tried: int) -> None:
    """Wait before something is sent again, having been sent `tried` times more than once; not as long as others do."""
    await anyio.sleep(DELAYS[tried] * random.uniform(0.5, 1))  # noqa: S311 - nobody gains by guessing it
