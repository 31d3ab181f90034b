"""Progress and log messages of one request of 2026-07-28, written before its answer and without the SDK."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, cast, get_args

from pydantic import JsonValue

from mrtr_tools.context import LogLevel
from mrtr_tools.server.envelope import LOG_LEVEL, Request
from mrtr_tools.server.wire import encoded

__all__ = ["Notifications"]

LEVELS: Final[tuple[str, ...]] = get_args(LogLevel)


class Notifications:
    """A `mrtr_tools.calls.Channel` for a request that says in its `_meta` what it wants to hear.

    Args:
        request: whose `_meta` is an object; what is in it need not be checked.
        send: writes one message, and waits first while too many are unread.
    """

    def __init__(self, request: Request, send: Callable[[bytes], Awaitable[None]]) -> None:
        meta = cast("Mapping[str, JsonValue]", (request.params or {})["_meta"])
        token, least = meta.get("progressToken"), meta.get(LOG_LEVEL)
        self._token = token if isinstance(token, (str, int)) and not isinstance(token, bool) else None
        self._levels = LEVELS[LEVELS.index(least) :] if isinstance(least, str) and least in LEVELS else ()
        self._send = send
        self._reached = -math.inf
        self._is_open = True

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Tell how far the request is, to a client that sent a ``progressToken``. What is no step ahead is left out."""
        if self._token is None or not self._reached < progress < math.inf:
            return
        self._reached = progress
        params: dict[str, JsonValue] = {"progressToken": self._token, "progress": progress}
        if total is not None and math.isfinite(total):
            params["total"] = total
        if message is not None:
            params["message"] = message
        await self._notify("notifications/progress", params)

    async def log(self, level: str, data: JsonValue, logger: str | None) -> None:
        """Send a log message, to a client that asked for this level."""
        if level in self._levels:
            named: dict[str, JsonValue] = {} if logger is None else {"logger": logger}
            await self._notify("notifications/message", {"level": level, **named, "data": data})

    def close(self) -> None:
        """Send nothing more: the request is answered."""
        self._is_open = False

    async def _notify(self, method: str, params: dict[str, JsonValue]) -> None:
        if self._is_open:
            await self._send(encoded({"jsonrpc": "2.0", "method": method, "params": params}))
