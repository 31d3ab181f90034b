"""The way back to a client while its request is served: progress and log messages, on the request's own stream."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, cast, get_args

import mcp_types as types
from pydantic import JsonValue

from mrtr_tools.context import LogLevel
from mrtr_tools.server.clients import Request, is_modern
from mrtr_tools.server.levels import Levels
from mrtr_tools.server.wire import sendable

__all__ = ["RequestChannel"]

LEVELS: Final[tuple[str, ...]] = get_args(LogLevel)


class RequestChannel:
    """A `mrtr_tools.calls.Channel` for one request. Once that is answered, the SDK sends nothing more for it.

    Args:
        ctx: the request.
        levels: what older clients asked for in their sessions.
    """

    def __init__(self, ctx: Request, levels: Levels) -> None:
        self._ctx = ctx
        self._levels = levels
        self._reached = -math.inf

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Tell how far the request is, to a client that sent a ``progressToken``. What is no step ahead is left out."""
        if not self._reached < progress < math.inf:
            return
        self._reached = progress
        told = cast("dict[str, str]", sendable({"message": message})) if message is not None else {}
        known = total if total is not None and math.isfinite(total) else None
        await self._ctx.session.report_progress(progress, known, told.get("message"))

    async def log(self, level: str, data: JsonValue, logger: str | None) -> None:
        """Send a log message, to a client that asked for this level."""
        if level not in LEVELS or not self._asked_for(level):
            return
        told = cast("dict[str, Any]", sendable({"data": data, "logger": logger}))
        params = types.LoggingMessageNotificationParams(
            level=cast("LogLevel", level), data=told["data"], logger=told["logger"]
        )
        # `send_log_message` would warn of its deprecation, at each message.
        await self._ctx.session.send_notification(
            types.LoggingMessageNotification(params=params), related_request_id=self._ctx.request_id
        )

    def _asked_for(self, level: str) -> bool:
        if is_modern(self._ctx):
            meta = cast("Mapping[str, object]", (self._ctx.params or {}).get("_meta") or {})
            least = meta.get(types.LOG_LEVEL_META_KEY)
        else:
            least = self._levels.of(self._ctx)
        return isinstance(least, str) and least in LEVELS and LEVELS.index(level) >= LEVELS.index(least)
