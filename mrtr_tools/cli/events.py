"""What happens in a call, as it is told to whoever shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from mrtr_tools.cli.exits import Stop
from mrtr_tools.cli.questions import Question, Response

__all__ = ["Answered", "Asked", "Asking", "Detached", "Ended", "Event", "Failed", "Noted", "Show", "TaskSeen"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A round came back with questions, or without any: then it only goes on.

    Attributes:
        round: its number, from 1.
        server: how the server calls itself, untrusted, or None.
        requests: its `inputRequests` as they came.
    """

    round: int
    server: str | None
    requests: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Asking:
    """One of the questions is up."""

    question: Question


@dataclass(frozen=True, slots=True)
class Answered:
    """A question has its answer, `beforehand` when that stood on the command line."""

    round: int
    question: Question
    response: Response
    beforehand: bool


@dataclass(frozen=True, slots=True)
class TaskSeen:
    """How a task is: a `CreateTaskResult` or `DetailedTask`."""

    task: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Detached:
    """The call goes on as a task, and nobody here follows it.

    Attributes:
        task: its id, untrusted.
        told: what becomes of it, and what to type to see how it is.
    """

    task: str
    told: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The call is over, with this `CallToolResult`."""

    result: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Failed:
    """The call is over without a result."""

    stop: Stop


@dataclass(frozen=True, slots=True)
class Noted:
    """Something that helps a person, and no program."""

    text: str


Event = Asked | Asking | Answered | TaskSeen | Detached | Ended | Failed | Noted
Show = Callable[[Event], None]
