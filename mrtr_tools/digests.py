"""Digests of values that are the same in every process."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, cast

from pydantic_core import to_json

__all__ = ["digest_of", "ordered"]


def ordered(value: Any, *, lists: bool = False) -> Any:
    """A value with the keys of dicts and the members of sets in an order that does not depend on the process.

    Args:
        value: a value, or its JSON.
        lists: sort lists as well; for JSON in which some of them were sets.
    """
    if isinstance(value, Mapping):
        items = sorted(cast("Mapping[Any, Any]", value).items(), key=_by_name)
        return {key: ordered(item, lists=lists) for key, item in items}
    if isinstance(value, (set, frozenset)) or (lists and isinstance(value, list)):
        return sorted(to_json(ordered(item, lists=lists)) for item in cast("list[Any]", value))
    if isinstance(value, (list, tuple)):
        return [ordered(item, lists=lists) for item in cast("list[Any]", value)]
    return value


def _by_name(item: tuple[Any, Any]) -> str:
    return str(item[0])


def digest_of(text: bytes) -> str:
    """16 hex digits of SHA-256."""
    return hashlib.sha256(text).hexdigest()[:16]
