"""What a server asks, and what is answered, as this side of the wire sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast

from pydantic import JsonValue

from mrtr_tools import answers
from mrtr_tools.answers import Misfit
from mrtr_tools.cli.exits import FAILED, Stop
from mrtr_tools.templates import shown

__all__ = ["Action", "Misfit", "Question", "Response", "Spec", "checked", "choices_of", "question_of", "yes_or_no"]

Action = Literal["accept", "decline", "cancel"]
Spec = Mapping[str, Any]

MAX_URL: Final = 2000  # characters on the screen; nobody agrees to a page whose address they cannot read to its end


@dataclass(frozen=True, slots=True)
class Question:
    """A question, untrusted: whoever shows any of it escapes it.

    Attributes:
        key: under which it is answered.
        message: what is asked.
        schema: the form to fill in; empty when there is a `url`.
        url: the page to go to instead, or None.
    """

    key: str
    message: str
    schema: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    url: str | None = None

    @property
    def fields(self) -> Mapping[str, Spec]:
        """The form's fields by name."""
        properties = self.schema.get("properties")
        return cast("Mapping[str, Spec]", properties) if isinstance(properties, dict) else {}

    @property
    def required(self) -> list[str]:
        """The names of the fields that must be filled in."""
        required = self.schema.get("required")
        return cast("list[str]", required) if isinstance(required, list) else []


@dataclass(frozen=True, slots=True)
class Response:
    """What goes back for a question."""

    action: Action
    content: Mapping[str, JsonValue] | None = None

    def wire(self) -> dict[str, JsonValue]:
        """As it is sent."""
        sent: dict[str, JsonValue] = {"action": self.action}
        if self.content is not None:
            sent["content"] = dict(self.content)
        return sent


def question_of(key: str, method: str, params: Mapping[str, Any]) -> Question:
    """The question of one input request.

    Raises:
        Stop: it asks for something that nobody in a terminal can give, or for a page with an endless address.
    """
    if method != "elicitation/create":
        raise Stop(
            f"The server asks for {method}, which this client never offered; only questions can be answered", FAILED
        )
    if "url" in params:
        url = str(params["url"])
        if len(shown(url, 10 * len(url))) > MAX_URL:  # an escape has at most 10 characters
            raise Stop(f"The server asks to open a page whose address is too long to be shown (over {MAX_URL})", FAILED)
        return Question(key, str(params.get("message")), url=url)
    return Question(key, str(params.get("message")), params.get("requestedSchema") or {})


def yes_or_no(text: str) -> bool | None:
    """What a typed word says, or None when it says neither."""
    return _YES_OR_NO.get(text.strip().lower())


_YES_OR_NO: Final = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}


def checked(content: Mapping[str, JsonValue], schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The content of a form as it will be sent, held against its schema first; the server decides in any case.

    Raises:
        Misfit: it does not fit.
    """
    try:
        return answers.checked(dict(content), schema)
    except Misfit:
        raise
    except (AttributeError, KeyError, TypeError, ValueError):  # a schema beyond the protocol's: the server will tell
        return dict(content)


def choices_of(spec: Spec) -> list[tuple[str, str]]:
    """What may be chosen, as values and titles; empty when the field is no choice."""
    items = spec.get("items")
    if isinstance(items, dict):
        spec = cast("Spec", items)
    if titled := spec.get("oneOf") or spec.get("anyOf"):
        return [(str(choice["const"]), str(choice.get("title", choice["const"]))) for choice in titled]
    values = [str(value) for value in spec.get("enum") or ()]
    titles = [str(title) for title in spec.get("enumNames") or ()]
    return list(zip(values, titles if len(titles) == len(values) else values, strict=True))
