"""Digests of values that are the same in every process."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, cast

from pydantic_core import SchemaSerializer, from_json, to_json

from mrtr_tools.secret_values import SECRETS

__all__ = ["digest_of"]


def digest_of(
    serializer: SchemaSerializer, value: object, *, is_ordered: bool, by_alias: bool, exclude_unset: bool = False
) -> str:
    """16 hex digits that are the same for equal values, in whatever order keys and members of sets come.

    Args:
        serializer: what makes JSON of the value.
        value: the value.
        is_ordered: whether equal values come out in the same order anyway.
        by_alias: see `SchemaSerializer.to_json`.
        exclude_unset: see there.
    """
    if is_ordered:
        text = serializer.to_json(value, by_alias=by_alias, exclude_unset=exclude_unset)
    else:
        try:
            plain = serializer.to_python(value, by_alias=by_alias, exclude_unset=exclude_unset)
            text = to_json(_ordered(plain))
        except (TypeError, ValueError):  # such as a set of models, which is no set of dicts
            plain = from_json(
                serializer.to_json(value, by_alias=by_alias, exclude_unset=exclude_unset), cache_strings="keys"
            )
            text = to_json(_ordered(plain, lists=True))
    return hashlib.sha256(text).hexdigest()[:16]


def _ordered(value: Any, *, lists: bool = False) -> Any:
    """A value with the keys of dicts and the members of sets sorted, and of lists too where nobody can tell.

    A secret is what it hides: all of them would be the same stars.
    """
    if isinstance(value, SECRETS):
        hidden = cast("object", value.get_secret_value())
        return hidden.hex() if isinstance(hidden, bytes) else _ordered(hidden, lists=lists)
    if isinstance(value, Mapping):
        items = sorted(cast("Mapping[Any, Any]", value).items(), key=_by_name)
        return {key: _ordered(item, lists=lists) for key, item in items}
    if isinstance(value, (set, frozenset)) or (lists and isinstance(value, list)):
        return sorted(to_json(_ordered(item, lists=lists)) for item in cast("list[Any]", value))
    if isinstance(value, (list, tuple)):
        return [_ordered(item, lists=lists) for item in cast("list[Any]", value)]
    return value


def _by_name(item: tuple[Any, Any]) -> str:
    return str(item[0])
