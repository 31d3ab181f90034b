"""What comes next in a round, as `Round` says it and a driver does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final, cast

from pydantic import JsonValue
from pydantic_core import to_jsonable_python

from mrtr_tools.calls import Complete
from mrtr_tools.errors import RequestError, ToolError
from mrtr_tools.once import Claim
from mrtr_tools.records import record
from mrtr_tools.steps import Step

__all__ = [
    "FAILED",
    "Event",
    "Finished",
    "HandBack",
    "NeedInput",
    "RunStep",
    "StartTask",
    "alone",
    "meant_for_the_client",
    "tool_error",
    "unexpected",
]

FAILED: Final = "The tool failed unexpectedly."


@record
class RunStep:
    """Call a function of the author, then report with `Round.returned` or `Round.raised`.

    Attributes:
        step: the step, or the function that makes an input of one (its name is then the input's path).
        arguments: what to call it with, by name.
        pin: for a function that makes an input: what tells its product from that of other values.
        claim: what must be claimed before, for a step that runs once; else None.
    """

    step: Step
    arguments: Mapping[str, object] = field(repr=False)
    pin: str = field(default="", repr=False, compare=False)
    claim: Claim | None = field(default=None, repr=False, compare=False)


@record
class NeedInput:
    """The round is over: these questions must be answered.

    Attributes:
        requests: by wire key, as they go over the wire.
        keep: whether there is progress to keep; False only for the first round of a tool with cold answers.
    """

    requests: Mapping[str, Mapping[str, JsonValue]] = field(repr=False)
    keep: bool = True


@record
class HandBack:
    """The round is over and nothing is asked: the call goes on when its state comes back."""


@record
class StartTask:
    """The round is over and nothing is asked: the call goes on as a durable task, see `Round.step`."""


@record
class Finished:
    """The call is over.

    Attributes:
        reply: the result, or a tool error.
        cause: the exception behind an unexpected end, or why a result of single use cannot be kept; for the log only.
        failure: a JSON-RPC error of the author's that ends the request in place of the reply; or None.
    """

    reply: Complete
    cause: Exception | None = field(default=None, compare=False)
    failure: RequestError | None = None


Event = RunStep | NeedInput | HandBack | StartTask | Finished


def alone(error: Exception) -> Exception:
    """What one task of a task group raised, for itself."""
    inner = cast("Sequence[Exception]", getattr(error, "exceptions", ()))
    return alone(inner[0]) if len(inner) == 1 and isinstance(error, BaseExceptionGroup) else error


def meant_for_the_client(error: Exception) -> ToolError | RequestError | None:
    """What an error of the SDK or of FastMCP is here, if its text is meant for the client; neither is imported for it.

    Returns:
        For a `ToolError` of theirs one of ours, for an `MCPError` a request error with its code; else None.
    """
    for base in type(error).__mro__:
        if base.__module__.partition(".")[0] in ("mcp", "fastmcp"):
            if base.__name__ == "ToolError":
                return ToolError(str(error))
            if base.__name__ == "MCPError":
                theirs = cast("Any", error)
                told = RequestError(str(theirs.message), to_jsonable_python(theirs.data, fallback=str))
                told.code = theirs.code
                return told
    return None


def tool_error(error: ToolError) -> Finished:
    """The end of a call whose author, or whose rules, gave up."""
    return Finished(
        Complete((str(error) or "The tool gave up.").encode(errors="backslashreplace").decode(), is_error=True)
    )


def unexpected(error: Exception) -> Finished:
    """The end of a call whose code failed; outside it says nothing of why."""
    return Finished(Complete(FAILED, is_error=True), error)
