"""Every exception of the library, by whose fault it is.

=====================  ==========================  ====================================================
family                 raised                      what becomes of it
=====================  ==========================  ====================================================
`DefinitionError`      while tools are defined     the program does not start
`StateTooLarge`        while a state is minted     a tool error that names the largest values
`ToolError`            by the author, in a step    a tool error (``isError``) with the author's words
`RequestError`         for what a client sent      a JSON-RPC error with `RequestError.code`
=====================  ==========================  ====================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

__all__ = [
    "DefinitionError",
    "InvalidArguments",
    "InvalidParams",
    "InvalidState",
    "MissingCapability",
    "RequestError",
    "StateTooLarge",
    "ToolError",
]


class DefinitionError(Exception):
    """A tool, step or input is defined in a way that cannot work; the text names it and the way out."""


class ToolError(Exception):
    """Ends the call with a tool error whose text the client shows: ``raise ToolError("No such order")``."""


class InvalidArguments(ToolError):
    """The arguments of a call do not fit; the text tells the caller which and why. For a tool that is a tool error."""


class StateTooLarge(ToolError):
    """What a call has to carry does not fit the budget of a ``requestState``; names the largest values."""


class RequestError(Exception):
    """What the client sent cannot be served; becomes a JSON-RPC error.

    Attributes:
        code: the JSON-RPC error code.
        message: the text on the wire; it never quotes what the client sent.
        data: what goes beside it, or None.
    """

    code: int = -32600

    def __init__(self, message: str, data: JsonValue = None) -> None:
        super().__init__(message)
        self.message = message
        self.data = data


class InvalidParams(RequestError):
    """The parameters of a request have the wrong shape, or name a tool that is not there (-32602)."""

    code = -32602


class InvalidState(InvalidParams):
    """A ``requestState`` was refused (-32602).

    All refusals look alike on the wire. Why one was refused is in `reason`, for the log only. The exception is a
    state that is genuine and bound to this very call: `public` then tells the client why it came too late
    (``expired``) or no longer fits this build (``no_longer_fits``).
    """

    MESSAGE: Final = "Invalid or expired requestState"

    def __init__(self, reason: str, *, public: str | None = None) -> None:
        super().__init__(self.MESSAGE, None if public is None else {"reason": public})
        self.reason = reason


class MissingCapability(RequestError):
    """The call must ask something that this request's client did not declare it can show (-32021).

    Args:
        required: the `ClientCapabilities` object that is missing, such as ``{"elicitation": {"form": {}}}``.
    """

    code = -32021

    def __init__(self, required: Mapping[str, JsonValue]) -> None:
        named = ", ".join(required)
        super().__init__(f"This call needs a client capability: {named}", {"requiredCapabilities": dict(required)})
        self.required = dict(required)
