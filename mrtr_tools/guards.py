"""What pydantic must not be given: values of a type that cost far more time than they take room.

Sets and dicts with other keys than text can be filled with numbers that all fall into one place, which takes a time
that grows with the square of their number; a `Decimal` of ten characters can stand for a thousand million digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from pydantic import JsonValue

from mrtr_tools.answers import is_safe_decimal

__all__ = ["Guard"]

MAX_MEMBERS: Final = 1000
_NUMBER: Final = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")


class Guard:
    """What to look for in arguments, by the types that they will become.

    Args:
        schema: pydantic's core schema of them.
    """

    __slots__ = ("_decimals", "_members")

    def __init__(self, schema: object) -> None:
        kinds = set(_kinds(schema))
        self._decimals = "decimal" in kinds
        self._members = bool(kinds & {"set", "frozenset", "keyed"})

    def trouble(self, value: JsonValue) -> str | None:
        """Why a value must not be read, or None."""
        if not self._decimals and not self._members:
            return None
        if isinstance(value, str):
            unsafe = self._decimals and _NUMBER.fullmatch(value) and not is_safe_decimal(value.strip())
            return "a number has at most 40 digits" if unsafe else None
        if not isinstance(value, (dict, list)):
            return None
        if self._members and len(value) > MAX_MEMBERS:
            return f"a list or object has at most {MAX_MEMBERS} members here"
        inner = value if isinstance(value, list) else [*value, *value.values()]
        return next((trouble for item in inner if (trouble := self.trouble(item)) is not None), None)


def _kinds(node: object) -> Iterator[str]:
    """The types in a core schema; ``keyed`` is a dict with other keys than text."""
    if isinstance(node, list):
        for item in cast("list[object]", node):
            yield from _kinds(item)
    elif isinstance(node, Mapping):
        fields = cast("Mapping[str, Any]", node)
        kind = fields.get("type")
        if isinstance(kind, str):
            keys = cast("Mapping[str, Any]", fields.get("keys_schema") or {})
            yield "keyed" if kind == "dict" and keys.get("type", "str") not in ("str", "any") else kind
        for name, item in fields.items():
            if name not in ("metadata", "serialization", "cls"):
                yield from _kinds(item)
