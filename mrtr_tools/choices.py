"""What may be chosen in a form, as texts on the wire, and what the texts stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Literal, cast, get_args, get_origin

from pydantic import JsonValue
from pydantic_core import to_jsonable_python

__all__ = ["FormError", "choices_in", "choices_shown", "listed", "wire_text"]


class FormError(TypeError):
    """An annotation, or choices, that no flat form can show; the text names the field and the way out."""


def choices_in(name: str, kind: object) -> Mapping[str, object]:
    """The choices of a `Literal` or an `Enum` by their texts; none for any other type.

    Raises:
        FormError: two of them read alike, or there are none; `name` is the field they are for.
    """
    if get_origin(kind) is Literal:
        values = list(cast("tuple[object, ...]", get_args(kind)))
    elif isinstance(kind, type) and issubclass(kind, Enum):
        values = list[object](kind)
        if not values:
            raise FormError(f"{name!r}: {kind.__name__} has no members to choose from")
    else:
        return {}
    choices = {wire_text(value): value for value in values}
    if len(choices) != len(values):
        raise FormError(f"{name!r}: two of its choices read alike; give them texts that can be told apart")
    return choices


def wire_text(value: object) -> str:
    """The text of a choice; an enum member is its value if that is a text or a number, else its name.

    Raises:
        ValueError: there is no text for such a value.
    """
    if isinstance(value, Enum):
        of = cast("object", value.value)
        return str(of) if isinstance(of, (str, int, float)) and not isinstance(of, bool) else value.name
    if isinstance(value, str):
        return value
    data = cast("object", to_jsonable_python(value))
    return str(data).lower() if isinstance(data, bool) else str(data)


def listed(choices: object) -> list[object]:
    """The choices that an author gave, as values or as ``{value: label}``.

    Raises:
        FormError: they are neither, or there are none.
    """
    if isinstance(choices, (str, bytes)) or not isinstance(choices, (Sequence, Mapping)):
        raise FormError("choices= takes a list of values, or {value: label}")
    if not choices:
        raise FormError("choices= is empty; ask only when there is something to choose")
    labels = list(cast("Mapping[object, object]", choices).values()) if isinstance(choices, Mapping) else []
    if not all(isinstance(label, str) and label for label in labels):
        raise FormError("choices={value: label} takes a text as the label of each value")
    return list(cast("Sequence[object]", choices))


def choices_shown(
    texts: Sequence[str], *, labels: Sequence[str] | None = None, many: bool = False
) -> dict[str, JsonValue]:
    """The schema of a choice among texts, or of several choices."""
    if labels is None:
        choice: dict[str, JsonValue] = {"type": "string", "enum": list[JsonValue](texts)}
        return {"type": "array", "items": choice} if many else choice
    titled: list[JsonValue] = [{"const": text, "title": label} for text, label in zip(texts, labels, strict=True)]
    return {"type": "array", "items": {"anyOf": titled}} if many else {"type": "string", "oneOf": titled}
