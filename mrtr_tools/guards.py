"""What pydantic must not be given: values of a type that cost far more time than they take room.

Sets and dicts with other keys than text can be filled with numbers that all fall into one place, which takes a time
that grows with the square of their number; a `Decimal` of ten characters can stand for a thousand million digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from pydantic import JsonValue
from pydantic_core import from_json

from mrtr_tools.answers import is_safe_decimal

__all__ = ["Guard"]

MAX_MEMBERS: Final = 1000
_ORDERED: Final = frozenset(
    ["str", "int", "float", "bool", "none", "literal", "nullable", "default", "list", "date", "datetime", "uuid", "url"]
)
_NUMBER: Final = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"


class Guard:
    """What to look for in an argument, by the types that it will become.

    Args:
        schema: pydantic's core schema of it.

    Attributes:
        is_needed: whether there is anything to look for.
        is_ordered: whether equal values always come out in the same order: there are no sets, and no dicts of any keys.
    """

    __slots__ = ("_decimals", "_json", "_members", "is_needed", "is_ordered")

    def __init__(self, schema: object) -> None:
        kinds = set(_kinds(schema))
        self._decimals = "decimal" in kinds
        self._members = bool(kinds & {"set", "frozenset", "keyed"})
        self._json = "json" in kinds
        self.is_needed = self._decimals or self._members
        self.is_ordered = kinds <= _ORDERED

    def trouble(self, value: JsonValue) -> str | None:
        """Why a value must not be read, or None."""
        if isinstance(value, str):
            return self._in_text(value)
        if not isinstance(value, (dict, list)):
            return None
        if self._members and len(value) > MAX_MEMBERS:
            return f"a list or object has at most {MAX_MEMBERS} members here"
        inner = value if isinstance(value, list) else [*value, *value.values()]
        return next((trouble for item in inner if (trouble := self.trouble(item)) is not None), None)

    def _in_text(self, value: str) -> str | None:
        """What is wrong with a text, which may be read as a number, or as JSON with numbers in it."""
        plain = value.strip().replace("_", "")
        if self._decimals and re.fullmatch(_NUMBER, plain) and not is_safe_decimal(plain):
            return "a number has at most 40 digits"
        inner = _from_json(value) if self._json else None
        return self.trouble(inner) if isinstance(inner, (str, dict, list)) else None


def _from_json(text: str) -> JsonValue:
    """What stands in a text that will be read as JSON; None for what is none, which fails later."""
    try:
        return cast("JsonValue", from_json(text, cache_strings="keys"))
    except ValueError:
        return None


def _kinds(node: object) -> Iterator[str]:
    """The types in a core schema; ``keyed`` is a dict with other keys than text."""
    if isinstance(node, (list, tuple)):
        for item in cast("list[object]", node):
            yield from _kinds(item)
    elif isinstance(node, Mapping):
        fields = cast("Mapping[str, Any]", node)
        kind = fields.get("type")
        if isinstance(kind, str):
            keys = cast("Mapping[str, Any]", fields.get("keys_schema") or {})
            yield "keyed" if keys.get("type", "str") not in ("str", "any") else kind
        for name, item in fields.items():
            if name not in ("metadata", "serialization", "cls"):
                yield from _kinds(item)
