"""What functions do that can be read: the first thing in their body, or in what they call, that should run once."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from mrtr_tools.reading.effects import Kind, is_grave, kind_of
from mrtr_tools.reading.functions import Function, Module
from mrtr_tools.reading.projects import Project, calls_in

__all__ = ["Deed", "deed_of", "written"]

_ORDER = list(Kind)


@dataclass(frozen=True, slots=True)
class Deed:
    """What a call does.

    Attributes:
        kind: why it matters.
        what: the call that does it, as it is written.
        line: where that stands.
        through: the name of the function that it stands in, where that is another one, else "".
        is_grave: whether it is sure enough, and bad enough, to refuse what runs it twice.
    """

    kind: Kind
    what: str
    line: int
    through: str = ""
    is_grave: bool = False


def deed_of(project: Project, module: Module, call: ast.Call, near: Function | None) -> Deed | None:
    """The weightiest thing that a call does, by itself or in the functions that it comes to."""
    return _deed(project, module, call, near, frozenset())


def _deed(
    project: Project, module: Module, call: ast.Call, near: Function | None, seen: frozenset[Function]
) -> Deed | None:
    other = project.callee(module, call.func, near)
    if other is None:
        kind = kind_of(module, call, near)
        if kind is None:
            return None
        grave = kind is Kind.ACTS or (kind is Kind.MAY_ACT and is_grave(module, call))
        return Deed(kind, written(call), call.lineno, is_grave=grave)
    if other in seen or other in project.asking:
        return None
    inside = [_deed(project, other.module, each, other, seen | {other}) for each in calls_in(other)]
    found = sorted((each for each in inside if each is not None), key=lambda each: _ORDER.index(each.kind))
    if not found:
        return None
    return replace(found[0], through=found[0].through or other.name)


def written(call: ast.Call) -> str:
    """A call as it is written, in short."""
    return f"{ast.unparse(call.func)[:80]}(...)" if call.args or call.keywords else f"{ast.unparse(call.func)[:80]}()"
