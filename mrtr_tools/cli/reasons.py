"""Why a call ended without a result, in words for a person."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

import httpx2
from mcp import MCPError, types
from pydantic import JsonValue, ValidationError

from mrtr_tools.cli.exits import FAILED, Stop
from mrtr_tools.cli.questions import Question, choices_of
from mrtr_tools.cli.targets import Target
from mrtr_tools.cli.terminal import label, paragraph

__all__ = ["NoAnswer", "missing_answers", "reason_of"]

MAX_CHOICES: Final = 20
EXAMPLES: Final = {"boolean": ("yes", "or no"), "integer": ("...", "a whole number"), "number": ("...", "a number")}


class NoAnswer(Exception):
    """Something between here and a server has answered in its place.

    Attributes:
        status: the HTTP status.
    """

    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP {status} instead of an answer")
        self.status = status


def missing_answers(questions: Sequence[Question], refused: Sequence[str], unused: Sequence[str]) -> Stop:
    """The end of a call where nobody can be asked.

    Args:
        questions: those without an answer.
        refused: the keys of those whose answer was sent, and asked for again.
        unused: the keys of answers that nothing has asked for.
    """
    lines = ["An answer is missing, and nobody can be asked here."]
    for question in questions:
        lines.append(f"  {label(question.key)}: {paragraph(question.message)}".replace("\n", "\n    "))
        told = "was not taken; give another one: " if question.key in refused else "add: "
        value, hint = _example(question)
        pair = shlex.quote(f"{label(question.key)}={value}")
        lines.append(f"    {told}--answer {pair}" + (f"   ({hint})" if hint else ""))
    if unused:
        lines.append(f"Nothing has asked for: {', '.join(unused)}")
    return Stop("\n".join(lines), details={"missing": [question.key for question in questions]})


def _example(question: Question) -> tuple[str, str]:
    """What an answer looks like, and a hint."""
    if question.url is not None:
        return "@accept", f"once you have opened {paragraph(question.url)}"
    if not question.fields:
        return "@accept", "or @decline"
    if len(question.fields) > 1:
        return "{" + ", ".join(f'"{label(name)}": ...' for name in question.fields) + "}", ""
    spec = next(iter(question.fields.values()))
    if choices := [label(value) for value, _ in choices_of(spec)]:
        return "...", "one of: " + ", ".join(choices[:MAX_CHOICES]) + (", ..." if choices[MAX_CHOICES:] else "")
    return EXAMPLES.get(str(spec.get("type")), ("...", ""))


def reason_of(error: BaseException, target: Target) -> Stop | None:
    """What went wrong, out of the groups of exceptions that the client wraps it in; None for what nobody foresaw."""
    match error:
        case BaseExceptionGroup():
            return next((reason for each in error.exceptions if (reason := reason_of(each, target)) is not None), None)
        case Stop():
            return error
        case MCPError():
            return _protocol_error(error, target)
        case httpx2.HTTPError() | NoAnswer():
            return Stop(f"{target.url} cannot be reached: {error}. Is the server running?", FAILED)
        case ValidationError():
            deepest = max(error.errors(include_url=False, include_input=False), key=lambda each: len(each["loc"]))
            place = label(".".join(str(part) for part in deepest["loc"]))
            return Stop(f"The server does not keep to the protocol: {place}: {paragraph(deepest['msg'])}", FAILED)
        case RuntimeError():  # by the SDK, for a result that its tool's output schema does not have
            return Stop(f"The server does not keep to the protocol: {paragraph(str(error))}", FAILED)
        case _:
            return None


def _protocol_error(error: MCPError, target: Target) -> Stop:
    if error.code == types.CONNECTION_CLOSED:
        more = "" if target.url else "; what it said is above"
        return Stop(f"{target.name} ended before the call was over{more}", FAILED)
    told = paragraph(error.message)
    if error.code == types.METHOD_NOT_FOUND and target.url and urlsplit(target.url).path != "/mcp":
        told += ". Is the address right? It usually ends in /mcp"
    details: dict[str, JsonValue] = {"code": error.code}
    if error.data is not None:
        details["data"] = error.data
    return Stop(told, FAILED, details)
