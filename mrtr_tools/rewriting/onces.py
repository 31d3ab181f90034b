"""Which calls before a question can be run once: their function says what it returns, and JSON can carry that."""

from __future__ import annotations

import ast
from typing import Final

from mrtr_tools.reading.flows import Before
from mrtr_tools.reading.functions import Function, Module, last_name
from mrtr_tools.reading.projects import Project

__all__ = ["can_run_once", "is_carriable"]

_PLAIN: Final = {
    "str", "int", "float", "bool", "bytes", "None", "dict", "list", "tuple", "set", "frozenset", "date", "datetime",
    "time", "timedelta", "Decimal", "UUID", "Path", "Dict", "List", "Tuple", "Set", "FrozenSet", "Optional", "Union",
    "Literal", "Annotated", "Sequence", "Mapping", "Final",
}  # fmt: skip
_MODELS: Final = {"BaseModel", "TypedDict", "NamedTuple", "Enum", "StrEnum", "IntEnum"}


def can_run_once(project: Project, before: Before) -> bool:
    """Whether ``await ctx.once(function, ...)`` can stand in place of a call."""
    function, call = before.function, before.call
    other = project.callee(function.module, call.func, function)
    if other is None or function.context is None or other in project.asking or not isinstance(call.func, ast.Name):
        return False
    if other.node.decorator_list or any(isinstance(each, ast.Starred) for each in call.args):
        return False
    if any(each.arg is None for each in call.keywords) or not _can_await(function, call, other):
        return False
    return other.node.returns is not None and is_carriable(project, other.module, other.node.returns)


def _can_await(function: Function, call: ast.Call, other: Function) -> bool:
    """Whether it is awaited, or sync and alone in its statement, where an `await` can be put before it."""
    parent = function.module.source.parents.get(call)
    if other.is_async:
        return isinstance(parent, ast.Await)
    return function.is_async and isinstance(parent, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return))


def is_carriable(project: Project, module: Module, annotation: ast.expr) -> bool:
    """Whether an annotation is made of what JSON brings back as it was, as far as the files tell."""
    if isinstance(annotation, ast.Constant):
        if not isinstance(annotation.value, str):
            return annotation.value is None
        try:
            return is_carriable(project, module, ast.parse(annotation.value, mode="eval").body)
        except SyntaxError:
            return False
    if isinstance(annotation, ast.Subscript):
        if last_name(annotation.value) == "Literal":
            return True
        inside = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        inside = inside[:1] if last_name(annotation.value) == "Annotated" else inside
        parts = [each for each in inside if not (isinstance(each, ast.Constant) and each.value is ...)]
        return last_name(annotation.value) in _PLAIN and all(_is_part(project, module, each) for each in parts)
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        return all(is_carriable(project, module, each) for each in (annotation.left, annotation.right))
    name = last_name(annotation)
    return name in _PLAIN or _is_model(module, name)


def _is_part(project: Project, module: Module, part: ast.expr) -> bool:
    return last_name(part) == "Any" or is_carriable(project, module, part)


def _is_model(module: Module, name: str) -> bool:
    for node in ast.walk(module.source.tree):
        if isinstance(node, ast.ClassDef) and node.name == name:
            marked = any(
                last_name(each.func if isinstance(each, ast.Call) else each) == "dataclass"
                for each in node.decorator_list
            )
            return marked or any(
                last_name(base) in _MODELS or _is_model(module, last_name(base))
                for base in node.bases
                if last_name(base) != name
            )
    return False
