"""How a command ends before its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

__all__ = ["FAILED", "INTERRUPTED", "USAGE", "Stop"]

FAILED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130


class Stop(Exception):
    """Ends the command with a message on stderr; the text names the thing and the way out.

    Attributes:
        code: what the process exits with.
        details: what a program may want to know beside the message.
    """

    def __init__(self, message: str, code: int = USAGE, details: Mapping[str, JsonValue] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.details: Mapping[str, JsonValue] = details or {}
