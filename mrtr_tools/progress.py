"""What a call has so far, and its way into JSON and back.

`Progress` is all that a call is between two requests: whatever drives the steps keeps this and nothing else. Its size
depends on the current step and on the names of the questions already answered, never on the number of rounds played.
Its `repr` shows nothing of what it holds: that belongs in no log.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Final, Literal, cast

from pydantic import JsonValue
from pydantic_core import to_json

from mrtr_tools import base64url
from mrtr_tools.records import mutable

__all__ = ["Open", "Progress", "Slot", "new_call_id"]

Json = dict[str, JsonValue]


def new_call_id() -> str:
    """128 random bits as 22 characters."""
    return base64url.encode(os.urandom(16)).decode()


_new_dict: Final = cast("Callable[[], dict[str, Any]]", dict)  # ten times as quick as calling dict[str, Any]
_new_list: Final = cast("Callable[[], list[str]]", list)


@mutable
class Slot:
    """A settled input.

    Attributes:
        pin: the digest of the question or function it came from.
        value: the answer as JSON.
        refused: ``decline``, ``cancel`` or ``unsupported`` when there is no answer.
        is_yes: whether it is a yes, to a `confirm` or to a page: given to all that was answered before it.
    """

    pin: str
    value: JsonValue = None
    refused: Literal["decline", "cancel", "unsupported"] | None = None
    is_yes: bool = False


@mutable
class Open:
    """A question that was sent and waits for its answer.

    Attributes:
        path: the input it belongs to, ``name`` or ``outer.name``.
        pin: the digest of the question's definition.
        asked: the question as it was sent, when a function made it; else None.
    """

    path: str
    pin: str
    asked: dict[str, JsonValue] | None = None


@mutable
class Progress:
    """Where a call stands.

    Attributes:
        call: the call's id.
        born: when its first state was minted, in seconds since 1970; 0 before that.
        version: the version of the tool it began with.
        n: how often it went on by `then` or `AskAgain`.
        ran: whether a function of the author has run.
        rounds: how often it was answered with ``input_required``.
        step: the name of the current step.
        formerly: what it was called when the call came to it, where another build has another name for it.
        defaults: the values of arguments that the client left out, by their names on the wire.
        given: a digest of the values of the arguments that the client sent.
        carried: what was handed on to the current step, by parameter.
        same: parameters that were handed an argument of the tool unchanged.
        slots: the settled inputs of the current step, by path.
        open: the questions that are out, by wire key.
        why: why an input is asked again, by path.
        misfits: how often an answer did not fit, by path.
        used: how many wire keys were used up, by path.
        visits: how often the call went on to a step that runs once, by its oldest name.
        moves: how often a round ended without a question.
        moves_in_a_row: how often since the last question.
        is_task: whether the call goes on as a durable task, whose rounds nobody counts and whose keys are used once.
    """

    call: str = field(default_factory=new_call_id)
    born: int = 0
    version: int = 0
    n: int = 0
    ran: bool = False
    rounds: int = 0
    step: str = ""
    formerly: str = ""
    defaults: dict[str, JsonValue] = field(default_factory=_new_dict)
    given: str = ""
    carried: dict[str, JsonValue] = field(default_factory=_new_dict)
    same: list[str] = field(default_factory=_new_list)
    slots: dict[str, Slot] = field(default_factory=_new_dict)
    open: dict[str, Open] = field(default_factory=_new_dict)
    why: dict[str, str] = field(default_factory=_new_dict)
    misfits: dict[str, int] = field(default_factory=_new_dict)
    used: dict[str, int] = field(default_factory=_new_dict)
    visits: dict[str, int] = field(default_factory=_new_dict)
    moves: int = 0
    moves_in_a_row: int = 0
    is_task: bool = False

    @property
    def is_bare(self) -> bool:
        """Whether there is nothing in it that the same request would not give again."""
        return not (self.ran or self.rounds or self.defaults or self.slots or self.misfits or self.used)

    def largest(self, count: int) -> list[tuple[int, str]]:
        """The values that take most room: how many bytes of JSON each, and what it is, but not the value."""
        data = self.to_json()
        sizes = [
            (len(to_json(value)), f"{kind} {name}")
            for section, kind in _KINDS.items()
            for name, value in cast("Mapping[str, JsonValue]", data.get(section, {})).items()
        ]
        return sorted(sizes, reverse=True)[:count]

    def to_json(self) -> dict[str, JsonValue]:
        """A JSON object that `from_json` turns back into an equal `Progress`; what is empty is left out."""
        data: dict[str, JsonValue] = {"call": self.call}
        if self.step:
            data["step"] = self.step
        if self.formerly:
            data["formerly"] = self.formerly
        if self.given:
            data["given"] = self.given
        if self.is_task:
            data["is_task"] = True
        self._write_counts(data)
        self._write_tables(data)
        if self.slots:
            data["slots"] = {
                path: _trimmed(s.pin, s.value, s.refused, s.is_yes or None) for path, s in self.slots.items()
            }
        if self.open:
            data["open"] = {
                key: [o.path, o.pin] if o.asked is None else [o.path, o.pin, o.asked] for key, o in self.open.items()
            }
        return data

    # Line by line: to go through the names of the fields takes four times as long, in every round.

    def _write_counts(self, data: dict[str, JsonValue]) -> None:
        if self.born:
            data["born"] = self.born
        if self.version:
            data["version"] = self.version
        if self.n:
            data["n"] = self.n
        if self.ran:
            data["ran"] = self.ran
        if self.rounds:
            data["rounds"] = self.rounds
        if self.moves:
            data["moves"] = self.moves
        if self.moves_in_a_row:
            data["moves_in_a_row"] = self.moves_in_a_row

    def _write_tables(self, data: dict[str, Any]) -> None:
        if self.defaults:
            data["defaults"] = self.defaults
        if self.carried:
            data["carried"] = self.carried
        if self.same:
            data["same"] = self.same
        if self.why:
            data["why"] = self.why
        if self.misfits:
            data["misfits"] = self.misfits
        if self.used:
            data["used"] = self.used
        if self.visits:
            data["visits"] = self.visits

    @classmethod
    def from_json(cls, data: Mapping[str, JsonValue]) -> Progress:
        """Read what `to_json` wrote.

        Raises:
            ValueError: the object was not written by a build that speaks the same format.
        """
        try:
            progress = cls(cast("str", data["call"]))
            for name, value in data.items():
                if type(value) is not _TYPES[name]:
                    raise TypeError
                if name == "open":
                    progress.open = {key: Open(*_row(row)) for key, row in cast("Json", value).items()}
                elif name == "slots":
                    progress.slots = {path: Slot(*_row(row)) for path, row in cast("Json", value).items()}
                else:
                    setattr(progress, name, value)
        except (KeyError, TypeError) as error:
            raise ValueError("not the progress of a call") from error
        return progress


_KINDS: Final = {"defaults": "default", "carried": "value", "slots": "answer", "open": "question"}
_TYPES: Final[dict[str, type]] = {
    "call": str,
    "step": str,
    "formerly": str,
    "born": int,
    "version": int,
    "n": int,
    "ran": bool,
    "rounds": int,
    "defaults": dict,
    "given": str,
    "carried": dict,
    "same": list,
    "slots": dict,
    "open": dict,
    "why": dict,
    "misfits": dict,
    "used": dict,
    "visits": dict,
    "moves": int,
    "moves_in_a_row": int,
    "is_task": bool,
}


def _row(row: object) -> list[Any]:
    if not isinstance(row, list):
        raise TypeError
    return cast("list[Any]", row)


def _trimmed(*row: JsonValue) -> list[JsonValue]:
    """The row without the Nones at its end."""
    items = list(row)
    while items and items[-1] is None:
        items.pop()
    return items
