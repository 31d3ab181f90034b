"""Every exception of the library, by whose fault it is.

=====================  ==========================  ====================================================
family                 raised                      what becomes of it
=====================  ==========================  ====================================================
`DefinitionError`      while tools are defined     the program does not start
`StateTooLarge`        while a state is minted     a tool error that names the largest values
`ToolError`            by the author, in a step    a tool error (``isError``) with the author's words
`RequestError`         for what a client sent, or  a JSON-RPC error with `RequestError.code`
                       by the author, in a step
=====================  ==========================  ====================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from pydantic import JsonValue

__all__ = [
    "AlreadyDone",
    "Busy",
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

    A step that raises one ends its call with that. Most often a `ToolError` is better: a model can read it, and go on.

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
    (``expired``) or no longer fits this build (``no_longer_fits``). What of it is in `because`, for the log as well.
    """

    MESSAGE: Final = "Invalid or expired requestState"

    def __init__(self, reason: str, *, public: str | None = None, because: str = "") -> None:
        super().__init__(self.MESSAGE, None if public is None else {"reason": public})
        self.reason = reason
        self.because = because


class AlreadyDone(InvalidParams):
    """What may happen once in this call has happened, or may have (-32602).

    `data.reason` is ``used`` when it was done with other answers, and ``unfinished`` when whoever did it ended inside
    it, so that nobody knows how far it came, or when what it left cannot be read.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(self.MESSAGES[reason], {"reason": reason})

    MESSAGES: Final[Mapping[str, str]] = {
        "used": "This call went on already, with other answers",
        "unfinished": "This was begun before and did not come to its end; whether it acted is not known",
    }


class Busy(RequestError):
    """The request was not served and may be sent again as it is, a little later (-31001).

    `data.reason` is ``in_progress`` when the same is being done for another request, ``unavailable`` when what has to
    be asked before cannot be reached, ``overloaded`` when there are too many calls, or tasks of one owner, and
    ``stopping`` when the server begins nothing new.
    """

    code = -31001  # the protocol leaves what is outside -32768 to -32000 to applications

    def __init__(self, reason: str, message: str | None = None) -> None:
        super().__init__(self.MESSAGES[reason] if message is None else message, {"reason": reason})

    MESSAGES: Final[Mapping[str, str]] = {
        "in_progress": "This is being done for another request; send it again in a moment",
        "unavailable": "This cannot be done at the moment; send it again later",
        "overloaded": "There are too many calls at the moment; send it again later",
        "stopping": "This server is stopping; send it again",
    }


class MissingCapability(RequestError):
    """The call must ask something that this request's client did not declare it can show (-32021).

    Args:
        required: the `ClientCapabilities` object that is missing, such as ``{"elicitation": {"form": {}}}``.
    """

    code = -32021

    def __init__(self, required: Mapping[str, JsonValue]) -> None:
        extensions = cast("Mapping[str, JsonValue]", required.get("extensions") or {})
        named = [*(name for name in required if name != "extensions"), *(f"extension {name}" for name in extensions)]
        told = f"This call needs a client capability: {', '.join(named)}"
        super().__init__(told, {"requiredCapabilities": dict(required)})
        self.required = dict(required)
