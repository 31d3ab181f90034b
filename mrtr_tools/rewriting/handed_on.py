"""What one step hands on to the next: the names that are needed below, and what they are annotated with."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from mrtr_tools.reading.functions import last_name
from mrtr_tools.reading.projects import Project
from mrtr_tools.rewriting.onces import is_carriable
from mrtr_tools.rewriting.straight_lines import Asked, Line

__all__ = ["annotations_of", "names_read"]

_MADE: Final = {"str": "str", "int": "int", "float": "float", "bool": "bool", "len": "int", "repr": "str"}
_OF_TEXT: Final = {"strip", "lower", "upper", "title", "lstrip", "rstrip", "format", "join", "replace", "capitalize"}


def names_read(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that some code reads."""
    inside = (each for node in nodes for each in ast.walk(node))
    return {each.id for each in inside if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}


def annotations_of(project: Project, line: Line) -> Mapping[str, str | None]:
    """What each name of a function is, as an annotation; None where nobody has written that down."""
    function = line.function
    known: dict[str, str | None] = {
        name: ast.unparse(each.annotation) if each.annotation is not None else None
        for name, each in function.parameters.items()
        if name != function.context
    }
    for each in line.asked:
        known[each.name] = _narrowed(each)
    dropped = {id(statement) for each in line.asked for statement in each.dropped}
    for node in ast.walk(function.node):
        if id(node) in dropped or node in [each.statement for each in line.asked]:
            continue
        for name, annotation in _bound(project, line, known, node):
            known[name] = annotation if known.get(name, annotation) == annotation else None
    return known


def _narrowed(asked: Asked) -> str:
    """The answer below its guard: without the refusal, where that ends the function."""
    first = next((each for each in asked.after if each not in asked.dropped), None)
    ends = isinstance(first, ast.If) and not first.orelse and isinstance(first.body[-1], (ast.Return, ast.Raise))
    if isinstance(first, ast.If) and ends and _refuses(first.test, asked.result):
        return asked.annotation
    return f"{asked.annotation} | Refused"


def _refuses(test: ast.expr, result: str) -> bool:
    """Whether a guard holds at least where the answer is refused."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(_refuses(each, result) for each in test.values)
    return ast.unparse(test) in (
        f"{result}.action != 'accept'",
        f"not isinstance({result}, AcceptedElicitation)",
        f"isinstance({result}, (DeclinedElicitation, CancelledElicitation))",
        f"not {result}.action == 'accept'",
    )


def _bound(
    project: Project, line: Line, known: Mapping[str, str | None], node: ast.AST
) -> Iterator[tuple[str, str | None]]:
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id, ast.unparse(node.annotation)
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, _kind(project, line, known, node.value)
            else:
                yield from ((each.id, None) for each in ast.walk(target) if isinstance(each, ast.Name))
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in known:
        parent = line.function.module.source.parents[node]
        if not isinstance(parent, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            yield node.id, None


def _kind(project: Project, line: Line, known: Mapping[str, str | None], value: ast.expr) -> str | None:
    if isinstance(value, ast.Await):
        value = value.value
    if isinstance(value, ast.JoinedStr):
        return "str"
    if isinstance(value, ast.Constant) and isinstance(value.value, (str, int, float)):
        return type(value.value).__name__
    if isinstance(value, ast.Name):
        return known.get(value.id)
    if isinstance(value, ast.Attribute):
        return _kind_of_field(line, value)
    return _kind_of_call(project, line, value) if isinstance(value, ast.Call) else None


def _kind_of_call(project: Project, line: Line, value: ast.Call) -> str | None:
    function = line.function
    called = value.args[0] if last_name(value.func) == "once" and value.args else value.func
    other = project.callee(function.module, called, function)
    if other is not None:
        returns = other.node.returns
        is_told = returns is not None and is_carriable(project, other.module, returns)
        return ast.unparse(returns) if returns is not None and is_told else None
    if isinstance(value.func, ast.Attribute) and value.func.attr in _OF_TEXT:
        return "str"
    return _MADE.get(value.func.id) if isinstance(value.func, ast.Name) else None


def _kind_of_field(line: Line, value: ast.Attribute) -> str | None:
    """``result.data.amount``: what the form says of it."""
    text = ast.unparse(value)
    for asked in line.asked:
        if text == f"{asked.result}.data":
            return asked.annotation
        for node in ast.walk(line.function.module.source.tree):
            if isinstance(node, ast.ClassDef) and node.name == asked.annotation:
                for field in node.body:
                    if isinstance(field, ast.AnnAssign) and text == f"{asked.result}.data.{ast.unparse(field.target)}":
                        return ast.unparse(field.annotation)
    return None
