"""Cheap dataclasses: `record`, which type checkers keep anybody from changing, and `frozen`, which nobody can change.

What an author makes and hands to us is frozen; what only this package makes is a record. A frozen object takes several
times as long to make, which every request would pay for some of them.

For each method that `dataclasses` writes for a class Python compiles a piece of text when that is imported, and with as
many classes as there are in here that took a tenth of the time to a server's first answer. So what compares, shows and
guards an object is the same function for all classes, and slower; and `__init__`, which is called often, is compiled
once for each number of fields, and then given their names.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from functools import cache
from reprlib import recursive_repr
from types import CellType, CodeType, FunctionType
from typing import Any, Final, TypeVar, cast, dataclass_transform, overload

__all__ = ["frozen", "record"]

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


def _made(cls: type[T], *, shown: bool = True, kw_only: bool = False, is_frozen: bool = False) -> type[T]:
    if shown:
        _add(cls, "__repr__", _shown)
    if hasattr(cls, "__post_init__") or not all(map(_is_plain, vars(cls).values())):
        return dataclass(slots=True, repr=False, eq=False, kw_only=kw_only, frozen=is_frozen)(cls)
    made = dataclass(slots=True, repr=False, eq=False, kw_only=kw_only, init=False)(cls)
    made.__init__ = _initializer(made, is_frozen=is_frozen)
    if is_frozen:
        for name, method in _FREEZING.items():
            setattr(made, name, method)
        cast("Any", made).__dataclass_params__.frozen = True  # and so has to be what is derived from it
    return made


def _is_plain(held: object) -> bool:
    """Whether what a class holds for a field is its default, as far as `__init__` needs to know."""
    if not isinstance(held, Field):
        return True
    given = cast("Field[object]", held)
    return given.init and given.default_factory is MISSING


def _add(cls: type, name: str, method: Callable[..., object]) -> None:
    if name not in cls.__dict__:
        setattr(cls, name, method)


def _initializer(cls: Any, *, is_frozen: bool) -> FunctionType:
    """The `__init__` of a dataclass: the code for as many fields, with their names in it."""
    every: Sequence[Field[Any]] = fields(cls)
    by_place, by_name = [each for each in every if not each.kw_only], [each for each in every if each.kw_only]
    held = [*by_place, *by_name]
    named = {f"_{number}": each.name for number, each in enumerate(held)}
    code = _assigning(len(held), is_frozen=is_frozen)
    code = code.replace(
        co_argcount=1 + len(by_place),
        co_kwonlyargcount=len(by_name),
        co_varnames=tuple(named.get(name, name) for name in code.co_varnames),
        co_names=tuple(named.get(name, name) for name in code.co_names),
        co_consts=tuple(named.get(value, value) for value in code.co_consts),
    )
    closure = (CellType(object.__setattr__),) if code.co_freevars else None
    init = FunctionType(code, vars(sys.modules[cls.__module__]), closure=closure)
    init.__defaults__ = tuple(each.default for each in by_place if each.default is not MISSING)
    init.__kwdefaults__ = {each.name: each.default for each in by_name if each.default is not MISSING}
    init.__annotations__ = {each.name: each.type for each in held} | {"return": None}
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


@cache
def _assigning(count: int, *, is_frozen: bool) -> CodeType:
    """What an `__init__` does that sets so many fields, ``_0``, ``_1`` and so on."""
    names = [f"_{number}" for number in range(count)]
    lines = [f"_set(self, {name!r}, {name})" if is_frozen else f"self.{name} = {name}" for name in names]
    text = f"def __init__({', '.join(['self', *names])}): {'; '.join(lines) or 'pass'}"
    made: dict[str, Callable[[object], FunctionType]] = {}
    exec(f"def make(_set):\n {text}\n return __init__", {}, made)  # noqa: S102  as `dataclasses` does
    return made["make"](None).__code__


def _refuse_to_assign(self: Any, name: str, value: object) -> None:
    if not hasattr(self, "__dict__") or name in _names(self):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _refuse_to_delete(self: Any, name: str) -> None:
    if not hasattr(self, "__dict__") or name in _names(self):
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _state(self: Any) -> list[object]:
    return [getattr(self, name) for name in _names(self)]


def _set_state(self: Any, state: Sequence[object]) -> None:
    for name, value in zip(_names(self), state, strict=True):
        object.__setattr__(self, name, value)


def _names(self: Any) -> list[str]:
    return [each.name for each in fields(self)]


_FREEZING: Final = {
    "__setattr__": _refuse_to_assign,
    "__delattr__": _refuse_to_delete,
    "__getstate__": _state,
    "__setstate__": _set_state,
}
"""What keeps an object from being changed, and yet has it copied."""


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
