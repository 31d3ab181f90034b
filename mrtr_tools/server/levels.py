"""`logging/setLevel` of clients before 2026-07-28, where no other part of the server knows it."""

from __future__ import annotations

from typing import Final, cast
from weakref import ref

from mcp_types import LoggingLevel
from pydantic import JsonValue

from mrtr_tools.server.clients import Request

__all__ = ["Levels", "with_logging"]

EVERYTHING: Final = "debug"


class Levels:
    """The least level that each session wants; all of them until it says so.

    A session is known by what it sent in `initialize`, which the SDK holds for as long as it lives.
    """

    def __init__(self) -> None:
        self._set: dict[int, tuple[ref[object], LoggingLevel]] = {}

    def of(self, ctx: Request) -> LoggingLevel:
        """The level of the session that a request belongs to."""
        return self._set[id(ctx.session.client_params)][1] if id(ctx.session.client_params) in self._set else EVERYTHING

    def set(self, ctx: Request, level: LoggingLevel) -> None:
        """Remember a session's level until it ends."""
        began = ctx.session.client_params
        if began is not None:  # without a session there is nothing to remember it by
            key = id(began)
            self._set[key] = (ref(began, lambda _: self._set.pop(key, None)), level)


def with_logging(told: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The result of `initialize` or `server/discover`, with log messages among what the server can send."""
    capabilities = cast("dict[str, JsonValue]", told.get("capabilities") or {})
    return {**told, "capabilities": {"logging": {}, **capabilities}}
