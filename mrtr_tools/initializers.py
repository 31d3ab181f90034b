"""The `__init__` of a dataclass, without compiling a piece of text for each class.

`dataclasses` does that, and with as many classes as there are in here it took a twentieth of the time to a server's
first answer. Here the code is compiled once for each shape, that is how many fields there are, the defaults of which of
them are made anew, and what is done beside, and then given the names of the fields. It is what `dataclasses` writes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, fields
from functools import cache
from types import CellType, CodeType, FunctionType
from typing import Any, Final

__all__ = ["initializer"]


class _Made:
    """Stands for a default that is made anew for each object."""

    def __repr__(self) -> str:
        return "<factory>"


_MADE: Final = _Made()


def initializer(cls: Any, *, is_frozen: bool) -> FunctionType:
    """The `__init__` of a class.

    Args:
        cls: a dataclass, without an `InitVar`. A field that is no parameter is for its `__post_init__` to set.
        is_frozen: whether its objects refuse to be changed.

    Raises:
        TypeError: a field without a default comes after one that has one, or one that is no parameter has a default.
    """
    every: Sequence[Field[Any]] = [each for each in fields(cls) if each.init]
    by_place, by_name = [each for each in every if not each.kw_only], [each for each in every if each.kw_only]
    held = [*by_place, *by_name]
    if any(not each.init and not _is_required(each) for each in fields(cls)):
        raise TypeError(f"{cls.__name__}: a field that is no parameter cannot have a default here")
    if sorted(by_place, key=_is_required, reverse=True) != by_place:
        raise TypeError(f"{cls.__name__}: a field without a default comes after one that has one")
    named, made = {f"_{number}": each.name for number, each in enumerate(held)}, tuple(map(_is_made, held))
    code = _assigning(made, goes_on=hasattr(cls, "__post_init__"), is_frozen=is_frozen)
    code = code.replace(
        co_argcount=1 + len(by_place),
        co_kwonlyargcount=len(by_name),
        co_varnames=tuple(named.get(name, name) for name in code.co_varnames),
        co_names=tuple(named.get(name, name) for name in code.co_names),
        co_consts=tuple(named.get(value, value) for value in code.co_consts),
    )
    cells = {f"make_{number}": each.default_factory for number, each in enumerate(held) if _is_made(each)}
    cells |= {"MADE": _MADE, "assign": object.__setattr__}
    closure = tuple(CellType(cells[name]) for name in code.co_freevars)
    init = FunctionType(code, vars(sys.modules[cls.__module__]), closure=closure)
    init.__defaults__ = tuple(_default(each) for each in by_place if not _is_required(each))
    init.__kwdefaults__ = {each.name: _default(each) for each in by_name if not _is_required(each)}
    init.__annotations__ = {each.name: each.type for each in held} | {"return": None}
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


@cache
def _assigning(made: tuple[bool, ...], *, goes_on: bool, is_frozen: bool) -> CodeType:
    """What an `__init__` does that sets as many fields, ``_0``, ``_1`` and so on.

    Args:
        made: of each field, whether its default is made anew.
        goes_on: whether there is a `__post_init__`.
        is_frozen: whether the object cannot be changed otherwise.
    """
    names = [f"_{number}" for number in range(len(made))]
    values = [
        f"make{name}() if {name} is MADE else {name}" if new else name for name, new in zip(names, made, strict=True)
    ]
    pairs = zip(names, values, strict=True)
    lines = [f"assign(self, {name!r}, {value})" if is_frozen else f"self.{name} = {value}" for name, value in pairs]
    body = "; ".join([*lines, *["self.__post_init__()"] * goes_on]) or "pass"
    around = ", ".join(["MADE", "assign", *(f"make{name}" for name, new in zip(names, made, strict=True) if new)])
    text = f"def make({around}):\n def __init__({', '.join(['self', *names])}): {body}\n return __init__"
    compiled: dict[str, Callable[..., FunctionType]] = {}
    exec(text, {}, compiled)  # noqa: S102  as `dataclasses` does
    return compiled["make"](*[None] * (2 + sum(made))).__code__


def _is_made(held: Field[Any]) -> bool:
    return held.default_factory is not MISSING


def _is_required(held: Field[Any]) -> bool:
    return held.default is MISSING and not _is_made(held)


def _default(held: Field[Any]) -> object:
    return _MADE if _is_made(held) else held.default
