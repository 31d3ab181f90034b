"""The content of an accepted form, held against the schema that was sent, whoever made that schema.

What passes is plain JSON of the types that the schema names; `forms` makes values of it. Reading costs no more than the
length of what was asked for, however the answer was made up, and no message repeats what a client sent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final, cast, get_args

from pydantic import JsonValue
from pydantic_core import ErrorDetails
from pydantic_core.core_schema import ErrorType

from mrtr_tools.templates import shown

__all__ = ["DATE", "DATE_TIME", "EMAIL", "URI", "Misfit", "checked", "choices_of", "is_safe_decimal", "sentence"]

MAX_TEXT: Final = 16 * 1024
MAX_ITEMS: Final = 100
MAX_BITS: Final = 1023  # an integer stays in the range of a float

Spec = Mapping[str, Any]
"""The schema of one property."""


class Misfit(ValueError):
    """An answer that does not fit its form; the text tells the person why."""


def checked(content: object, schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The answers by property; what was left empty, or never asked for, is left out.

    ``"42"`` and ``42.0`` are taken as 42 and ``"true"`` as true. An empty text is no answer, unless plain text
    was asked for.

    Raises:
        Misfit: something required is missing, or does not fit.
    """
    if not isinstance(content, dict):
        raise Misfit("The form came back without its fields.")
    given = cast("dict[str, object]", content)
    required: Any = schema.get("required", ())
    answers: dict[str, JsonValue] = {}
    problems: list[str] = []
    properties: Any = schema["properties"]
    for name, spec in properties.items():
        raw = given.get(name)
        try:
            if not _is_blank(raw, spec):
                answers[name] = _fitting(raw, spec)
            elif name in required:
                problems.append(f"{spec.get('title', name)} is missing.")
        except Misfit as misfit:
            problems.append(f"{spec.get('title', name)} {misfit}.")
    if problems:
        raise Misfit(" ".join(problems))
    return answers


def choices_of(spec: Spec) -> Sequence[str] | None:
    """What may be chosen, as it looks on the wire; None when the property is no choice."""
    if "enum" in spec:
        return cast("list[str]", spec["enum"])
    titled = spec.get("oneOf") or spec.get("anyOf")
    return [choice["const"] for choice in titled] if titled else None


def _is_blank(raw: object, spec: Spec) -> bool:
    if raw is None:
        return True
    if not isinstance(raw, str) or raw.strip():
        return False
    choices = choices_of(spec)
    return raw not in choices if choices else spec["type"] != "string" or "format" in spec


def _fitting(raw: object, spec: Spec) -> JsonValue:
    choices = choices_of(spec)
    if choices is not None:
        return _chosen(raw, choices)
    match spec["type"]:
        case "array":
            return _many(raw, spec)
        case "boolean":
            return _yes_or_no(raw)
        case "integer":
            return _within(_whole(raw), spec)
        case "number":
            return _within(_number(raw), spec)
        case _:
            return _text(raw, spec)


def _chosen(raw: object, choices: Sequence[str]) -> str:
    if isinstance(raw, str) and raw in choices:
        return raw
    raise Misfit("must be one of the choices offered")


def _many(raw: object, spec: Spec) -> list[JsonValue]:
    if not isinstance(raw, list):
        raise Misfit("must be a list of the choices offered")
    picked = cast("list[object]", raw)
    if len(picked) > MAX_ITEMS:
        raise Misfit(f"has too many choices, at most {MAX_ITEMS} can be taken")
    choices = choices_of(spec["items"]) or ()
    kept = list(dict.fromkeys(_chosen(item, choices) for item in picked))
    if len(kept) < spec.get("minItems", 0):
        raise Misfit(f"needs at least {spec['minItems']} of the choices")
    if len(kept) > spec.get("maxItems", MAX_ITEMS):
        raise Misfit(f"takes at most {spec['maxItems']} of the choices")
    return list(kept)


def _yes_or_no(raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, str) and (word := raw.strip().lower()) in ("true", "false"):
        return word == "true"
    raise Misfit("must be true or false")


_WHOLE: Final = r"(?a)[+-]?\d{1,300}"
_NUMBER: Final = r"(?a)[+-]?(\d{1,300}(\.\d{0,300})?|\.\d{1,300})([eE][+-]?\d{1,3})?"


def _whole(raw: object) -> int:
    if isinstance(raw, str) and re.fullmatch(_WHOLE, raw := raw.strip()):
        return int(raw)
    if isinstance(raw, int) and not isinstance(raw, bool) and raw.bit_length() <= MAX_BITS:
        return raw
    if isinstance(raw, float) and raw.is_integer():
        return int(raw)
    raise Misfit("must be a whole number")


def _number(raw: object) -> int | float:
    if isinstance(raw, str) and re.fullmatch(_NUMBER, raw := raw.strip()):
        raw = float(raw)
    if isinstance(raw, int) and not isinstance(raw, bool) and raw.bit_length() <= MAX_BITS:
        return raw
    if isinstance(raw, float) and math.isfinite(raw):
        return raw
    raise Misfit("must be a number")


def _within(number: float, spec: Spec) -> int | float:
    if number < spec.get("minimum", number):
        raise Misfit(f"must be at least {spec['minimum']}")
    if number > spec.get("maximum", number):
        raise Misfit(f"must be at most {spec['maximum']}")
    return number


DATE: Final = "a date such as 2026-07-28"
DATE_TIME: Final = "a date and time such as 2026-07-28T09:30Z"
EMAIL: Final = "an e-mail address"
URI: Final = "an address such as https://example.com"

_FORMATS: Final[Mapping[str, tuple[str, Callable[[str], object], str]]] = {
    "date": (r"(?a)\d{4}-\d\d-\d\d", date.fromisoformat, DATE),
    "date-time": (r"(?a)\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*", datetime.fromisoformat, DATE_TIME),
    "email": (r"[^@\s]+@[^@\s]+", str, EMAIL),
    "uri": (r"[A-Za-z][A-Za-z0-9+.-]*:\S+", str, URI),
}


def _text(raw: object, spec: Spec) -> str:
    if not isinstance(raw, str):
        raise Misfit("must be text")
    if len(raw) > spec.get("maxLength", MAX_TEXT):
        raise Misfit(f"is too long, at most {spec.get('maxLength', MAX_TEXT)} characters can be taken")
    if len(raw) < spec.get("minLength", 0):
        raise Misfit(f"must have at least {spec['minLength']} characters")
    if not raw.isascii() and any("\ud800" <= character <= "\udfff" for character in raw):
        raise Misfit("must be text that is valid Unicode")
    return _formatted(raw, spec["format"]) if "format" in spec else raw


def _formatted(raw: str, name: str) -> str:
    shape, read, noun = _FORMATS[name]
    text = raw.strip()
    try:
        if re.fullmatch(shape, text):
            read(text)
            return text
    except ValueError:
        pass
    raise Misfit(f"must be {noun}")


_DECIMAL: Final = r"(?a)[+-]?(\d*)\.?(\d*)([eE][+-]?\d{1,3})?"
MAX_DIGITS: Final = 40


def is_safe_decimal(text: str) -> bool:
    """Whether a text is a decimal number of at most 40 digits and a power of ten within 40.

    ``1e3000000`` is short, and takes minutes as an integer.
    """
    match = re.fullmatch(_DECIMAL, text)
    if match is None:
        return False
    return 0 < len(match[1] + match[2]) <= MAX_DIGITS and abs(int((match[3] or "e0")[1:])) <= MAX_DIGITS


# What pydantic finds when it makes the value, said to a person.

_BY_PYDANTIC: Final = frozenset(get_args(ErrorType)) - {"value_error", "assertion_error"}
_REASONS: Final = {
    "missing": "is missing",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "string_pattern_mismatch": "does not look as it should",
    "string_too_short": "is too short",
    "string_too_long": "is too long",
    "date_past": "must be in the past",
    "date_future": "must be in the future",
    "datetime_past": "must be in the past",
    "datetime_future": "must be in the future",
    "timezone_aware": "needs a time zone, such as a Z at its end",
    "timezone_naive": "must have no time zone",
}


def sentence(problem: ErrorDetails, label: str | None, noun: str) -> str:
    """One finding as a sentence.

    Args:
        problem: the finding; an author's own words are kept, on one line and at most 200 characters of them.
        label: what a person calls the property, or None when it is about all of them.
        noun: what the property should be.
    """
    context = problem.get("ctx", {})
    if problem["type"] not in _BY_PYDANTIC:
        said = shown(str(context.get("error", problem["msg"])))
        return f"{label}: {said}" if label else said
    if label is None:
        return "The answers do not fit together."
    return f"{label} {_REASONS.get(problem['type'], 'must be {noun}').format(noun=noun, **context)}."
