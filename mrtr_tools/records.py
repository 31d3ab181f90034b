"""`record`: a dataclass that type checkers keep anybody from changing, and that costs little.

A frozen dataclass also stops whoever changes it when the code runs. For that Python compiles two more methods for each
class, which with as many classes as there are in here takes a tenth of the time to a server's first answer; and it
makes each object several times as slowly, which every request pays for some of them. What an author makes and hands to
us is frozen; what only this package makes is a record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast, dataclass_transform, overload

__all__ = ["record"]

T = TypeVar("T")


@overload
def record(cls: type[T], /) -> type[T]: ...
@overload
def record(*, eq: bool = True, shown: bool = True, kw_only: bool = False) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T] | None = None, /, *, eq: bool = True, shown: bool = True, kw_only: bool = False) -> Any:
    """Make a class a dataclass with slots, the objects of which are not to be changed.

    Args:
        cls: the class; left out when the decorator is called with options.
        eq: whether two of them are equal when what they hold is; else each is equal to itself alone, and has a hash.
        shown: whether their repr shows what they hold.
        kw_only: whether they are made with names alone.
    """
    made = cast("Callable[[type[T]], type[T]]", dataclass(slots=True, eq=eq, repr=shown, kw_only=kw_only))
    return made if cls is None else made(cls)
