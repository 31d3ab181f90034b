"""How a value differs from the one that came back: by a type, a length, a key, or by what ``==`` looks away from.

A difference is told by types and places only; what is compared stands in no message.
"""

from __future__ import annotations

import dataclasses
import datetime
import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, cast

from pydantic import BaseModel
from pydantic_core import TzInfo

from mrtr_tools.secret_values import SECRETS

__all__ = ["differences", "kind_named"]


def differences(sent: object, back: object, path: str) -> Iterator[str]:
    """What is not the same in the two, each as a sentence that begins with its place; nothing when they are alike.

    Args:
        sent: the value that goes.
        back: the one that would come back.
        path: how messages call it. The keys of a dict and the members of a set are data, and stand there as dots.
    """
    if _plainly_same(sent, back):
        return
    if type(sent) is not type(back):
        if not (type(sent) is int and type(back) is float and sent == back):
            yield f"{path} is {kind_named(sent)} and would come back as {kind_named(back)}"
        return
    parts, others = _parts(sent), _parts(back)
    if parts is None or others is None:
        if not _alike(sent, back):
            yield f"{path} is {kind_named(sent)} and would come back changed{_advice(sent)}"
    elif parts.keys() != others.keys():
        yield f"{path} is {kind_named(sent)} and would come back with other keys, or another length"
    else:
        pairs = ((name, *pair) for name, mine in parts.items() for pair in zip(mine, others[name], strict=True))
        for name, mine, theirs in pairs:
            yield from differences(mine, theirs, path + _step(sent, name))


def kind_named(value: object) -> str:
    """What a value is, for a message that must not show it."""
    return "None" if value is None else f"of type {type(value).__name__}"


def _plainly_same(a: object, b: object) -> bool:
    """Spares most parts the long way."""
    return type(a) is type(b) and type(a) in _ATOMS and a == b


_ATOMS: Final = frozenset({str, int, bool, type(None)})


def _step(owner: object, name: object) -> str:
    """The place of a part inside its owner."""
    if isinstance(owner, (list, tuple)):
        return f"[{name}]"
    return f".{name}" if _has_fields(owner) else "[...]"


def _parts(value: object) -> dict[object, tuple[object, ...]] | None:
    """What a value is made of: each part by its place, for a dict with its key; None for a value that has no parts."""
    if isinstance(value, (list, tuple)):
        return {index: (item,) for index, item in enumerate(cast("list[object]", value))}
    if isinstance(value, Mapping):
        return {key: (key, item) for key, item in cast("Mapping[object, object]", value).items()}
    if isinstance(value, (set, frozenset)):
        return {item: (item,) for item in cast("set[object]", value)}
    if isinstance(value, BaseModel):
        own = {name: getattr(value, name, None) for name in type(value).model_fields}
        own |= (value.model_extra or {}) | (value.__pydantic_private__ or {})
        return {name: (item,) for name, item in own.items()}
    if isinstance(value, SECRETS):
        return {None: (cast("object", value.get_secret_value()),)}
    if _has_fields(value):
        return {item.name: (getattr(value, item.name, None),) for item in dataclasses.fields(cast("Any", value))}
    return None


def _has_fields(value: object) -> bool:
    return isinstance(value, BaseModel) or dataclasses.is_dataclass(value)


def _alike(sent: object, back: object) -> bool:
    return sent == back and _unseen(sent) == _unseen(back)


def _unseen(value: object) -> object:
    """What ``==`` looks away from: the sign of a zero, the zeros of a decimal, the zone of a time."""
    match value:
        case float():
            return math.copysign(1, value)
        case Decimal():
            return value.as_tuple()
        case datetime.datetime() | datetime.time():
            return value.fold if value.tzinfo is None else isinstance(value.tzinfo, (datetime.timezone, TzInfo))
        case _:
            return None


def _advice(value: object) -> str:
    if isinstance(value, (datetime.datetime, datetime.time)):
        return ": JSON keeps the offset, not the time zone; use UTC, and hand the zone on by name"
    return ""
