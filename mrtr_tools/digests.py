"""Digests of values that are the same in every process."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, cast

from pydantic_core import to_json

__all__ = ["digest_of", "ordered"]


def ordered(value: Any) -> Any:
    """A value with the keys of dicts and the members of sets in an order that does not depend on the process."""
    if isinstance(value, Mapping):
        return {key: ordered(item) for key, item in sorted(cast("Mapping[Any, Any]", value).items(), key=_by_name)}
    if isinstance(value, (set, frozenset)):
        return sorted(to_json(ordered(item)) for item in cast("set[Any]", value))
    if isinstance(value, (list, tuple)):
        return [ordered(item) for item in cast("list[Any]", value)]
    return value


def _by_name(item: tuple[Any, Any]) -> str:
    return str(item[0])


def digest_of(value: object) -> str:
    """The same for equal values, in every process of one build."""
    return hashlib.sha256(to_json(ordered(value), fallback=repr)).hexdigest()[:16]
