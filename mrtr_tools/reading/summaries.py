"""What functions do that can be read: the first thing in their body, or in what they call, that should run once."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from mrtr_tools.reading.effects import Kind, kind_of
from mrtr_tools.reading.functions import Function, Module
from mrtr_tools.reading.projects import Project, calls_in

__all__ = ["Deed", "deed_of"]

_ORDER = list(Kind)


@dataclass(frozen=True, slots=True)
class Deed:
    """What a call does.

    Attributes:
        kind: why it matters.
        what: the call that does it, as it is written.
        line: where that stands.
        through: the name of the function that it stands in, where that is another one, else "".
    """

    kind: Kind
    what: str
    line: int
    through: str = ""


def deed_of(project: Project, module: Module, call: ast.Call, near: Function | None) -> Deed | None:
    """The weightiest thing that a call does, by itself or in the functions that it comes to."""
    return _deed(project, module, call, near, frozenset())


def _deed(
    project: Project, module: Module, call: ast.Call, near: Function | None, seen: frozenset[Function]
) -> Deed | None:
    other = project.callee(module, call.func, near)
    if other is None:
        kind = kind_of(module, call, near)
        return None if kind is None else Deed(kind, written(call), call.lineno)
    if other in seen or other in project.asking:
        return None
    inside = [_deed(project, other.module, each, other, seen | {other}) for each in calls_in(other)]
    found = sorted((each for each in inside if each is not None), key=lambda each: _ORDER.index(each.kind))
    if not found:
        return None
    return Deed(found[0].kind, found[0].what, found[0].line, other.name)


def written(call: ast.Call) -> str:
    """A call as it is written, in short."""
    return f"{ast.unparse(call.func)[:80]}(...)" if call.args or call.keywords else f"{ast.unparse(call.func)[:80]}()"
