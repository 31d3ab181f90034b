"""Cheap dataclasses: `record`, which type checkers keep anybody from changing, `frozen`, which nobody can change, and
`mutable`.

What an author makes and hands to us is frozen; what only this package makes is a record, or mutable. A frozen object
takes several times as long to make, which every request would pay for some of them.

For each method that `dataclasses` writes for a class Python compiles a piece of text when that is imported, and with as
many classes as there are in here that took a tenth of the time to a server's first answer. So what compares, shows and
guards an object is the same function for all classes, and slower; `__init__`, which is called often, is made in
`initializers`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass
from reprlib import recursive_repr
from typing import Any, Final, TypeVar, cast, dataclass_transform, overload

from mrtr_tools.initializers import initializer

__all__ = ["frozen", "mutable", "record"]

T = TypeVar("T")
State = tuple[list[object], dict[str, object]]
"""The values of the fields, and what a class that is derived holds beside them."""


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

    def make(cls: type[T]) -> type[T]:
        if eq:
            _add(cls, "__eq__", _equal)
        return _made(cls, shown=shown, kw_only=kw_only)

    return make if cls is None else make(cls)


@overload
def frozen(cls: type[T], /) -> type[T]: ...
@overload
def frozen(*, eq: bool = True) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T] | None = None, /, *, eq: bool = True) -> Any:
    """Make a class a dataclass with slots, the objects of which cannot be changed and, when equal, have one hash.

    The arguments are as for `record`.
    """

    def make(cls: type[T]) -> type[T]:
        if eq:
            _add(cls, "__eq__", _equal)
            _add(cls, "__hash__", _hash)
        return _made(cls, is_frozen=True)

    return make if cls is None else make(cls)


@overload
def mutable(cls: type[T], /) -> type[T]: ...
@overload
def mutable(*, eq: bool = True, shown: bool = False) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(field_specifiers=(field,))
def mutable(cls: type[T] | None = None, /, *, eq: bool = True, shown: bool = False) -> Any:
    """Make a class a dataclass with slots, the objects of which may be changed.

    The arguments are as for `record`.
    """

    def make(cls: type[T]) -> type[T]:
        if eq:
            _add(cls, "__eq__", _equal)
        return _made(cls, shown=shown)

    return make if cls is None else make(cls)


def _made(cls: type[T], *, shown: bool = True, kw_only: bool = False, is_frozen: bool = False) -> type[T]:
    if shown:
        _add(cls, "__repr__", _shown)
    if is_frozen:
        _freeze(cls)
    made = dataclass(slots=True, init=False, repr=False, eq=False, kw_only=kw_only)(cls)
    if "__init__" not in vars(cls):
        made.__init__ = initializer(made, is_frozen=is_frozen)
    cast("Any", made).__dataclass_params__.frozen = is_frozen  # and so has to be what is derived from it
    return made


def _freeze(cls: type) -> None:
    """Keep the objects of a class from being changed, and yet have them copied."""
    if any(map(is_dataclass, cls.__mro__[1:])) or not vars(cls).keys().isdisjoint(("__setattr__", "__delattr__")):
        raise TypeError(f"{cls.__name__}: what is frozen here derives from no dataclass and sets no attributes itself")
    for methods in _FREEZING:
        if vars(cls).keys().isdisjoint(methods):  # what has one of a pair has its own way
            for name, method in methods.items():
                setattr(cls, name, method)


def _add(cls: type, name: str, method: Callable[..., object]) -> None:
    if name not in cls.__dict__:
        setattr(cls, name, method)


def _refuse_to_assign(self: Any, name: str, value: object) -> None:
    if not hasattr(self, "__dict__") or name in _names(self):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _refuse_to_delete(self: Any, name: str) -> None:
    if not hasattr(self, "__dict__") or name in _names(self):
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _state(self: Any) -> State:
    return [getattr(self, name) for name in _names(self)], getattr(self, "__dict__", {})


def _set_state(self: Any, state: State) -> None:
    values, more = state
    for name, value in (*zip(_names(self), values, strict=True), *more.items()):
        object.__setattr__(self, name, value)


def _names(self: Any) -> list[str]:
    return [each.name for each in fields(self)]


_FREEZING: Final[Sequence[Mapping[str, Callable[..., object]]]] = (
    {"__setattr__": _refuse_to_assign, "__delattr__": _refuse_to_delete},
    {"__getstate__": _state, "__setstate__": _set_state},
)


def _compared(holder: Any) -> Sequence[object]:
    return [getattr(holder, each.name) for each in fields(holder) if each.compare]


def _equal(self: object, other: object) -> bool:  # pragma: no cover  under the name that it gets below
    return _compared(self) == _compared(other) if type(other) is type(self) else NotImplemented


# The name that what `dataclasses` writes has: by it, pytest knows that it may tell field by field what differs.
_equal.__code__ = _equal.__code__.replace(co_filename="<string>")


def _hash(self: object) -> int:
    return hash(tuple(_compared(self)))


@recursive_repr()
def _shown(self: Any) -> str:
    held = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({held})"
