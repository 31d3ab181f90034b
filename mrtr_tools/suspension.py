"""How a body that asks for itself ends when it waits for an answer; see `mrtr_tools.asks`."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final, cast

__all__ = ["Suspended", "is_suspension", "stuck"]

stuck: Final[ContextVar[bool]] = ContextVar("mrtr_tools_stuck")
"""Set in the context of a body that swallows one suspension after the other, as ``while True`` around a bare ``except``
does: where it waits next, it is left there."""


class Suspended(BaseException):
    """Ends a run of a body that waits for an answer. It is no `Exception`, so that no handler takes it for a failure;
    let it pass."""


def is_suspension(error: BaseException) -> bool:
    """Whether this is how a suspended body ends, also out of a task group."""
    if isinstance(error, BaseExceptionGroup):
        return any(is_suspension(inner) for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions)
    return isinstance(error, Suspended)
