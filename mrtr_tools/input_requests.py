"""What a step may ask of the other side, and how it looks on the wire.

Authors make these; whoever sends one turns it into an `inputRequests` entry. See the protocol's page on elicitation,
revision 2026-07-28.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

__all__ = ["Confirm", "Elicit", "confirm", "form_request"]

FORM: Final[Mapping[str, JsonValue]] = {"elicitation": {"form": {}}}
"""The client capability that a form needs."""


@dataclass(frozen=True, slots=True)
class Elicit:
    """A form for the person on the other side.

    In `needs_input` the message is a template over the step's parameters; returned from an input function it is sent
    as it is.

    Attributes:
        message: the question.
        form: the type of the form, when it is not that of the parameter (a flat model, dataclass or TypedDict).
        choices: what may be chosen, as values or as ``{value: label}``; many when the parameter is a list.
    """

    message: str
    form: type | None = field(default=None, kw_only=True)
    choices: Sequence[object] | Mapping[str, str] | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Confirm:
    """A yes that must be given; made by `confirm`."""

    message: str


def confirm(message: str) -> Confirm:
    """Ask for a yes: one required boolean without a default.

    Only an accepted form that says true is a yes. An accepted form that says false is a refusal, one without the field
    is asked again. As an input it is a gate and needs no parameter; where there is one it must admit `Refused`.
    """
    return Confirm(message)


def form_request(message: str, schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The `inputRequests` entry of a form."""
    return {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": message, "requestedSchema": dict(schema)},
    }
