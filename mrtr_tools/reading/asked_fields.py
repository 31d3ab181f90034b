"""Fields that no form shows: MRTR219."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from mrtr_tools.reading.asking import found
from mrtr_tools.reading.asks import is_ask, shape_of
from mrtr_tools.reading.functions import Module, last_name
from mrtr_tools.reading.projects import Project, calls_in
from mrtr_tools.reading.rules import Finding

__all__ = ["check_fields"]

_LISTS: Final = {"list", "List", "Sequence", "set", "Set", "tuple", "Tuple", "frozenset"}
_NO_CHOICES: Final = {"str", "int", "float", "Any"}
_DICTS: Final = {"dict", "Dict", "Mapping"}
_FORMS: Final = {"BaseModel", "TypedDict", "NamedTuple"}


def check_fields(project: Project, module: Module) -> Iterator[Finding]:
    """Report forms with lists that are no choices, and with dicts and models in them."""
    classes = {node.name: node for node in ast.walk(module.source.tree) if isinstance(node, ast.ClassDef)}
    for function in module.functions:
        if function not in project.asking:
            continue
        for call in calls_in(function):
            shape = shape_of(call)
            form = classes.get(shape.id) if isinstance(shape, ast.Name) else None
            if form is None or last_name(call.func) != "elicit" or not is_ask(module, call, function):
                continue
            for each in form.body:
                if isinstance(each, ast.AnnAssign) and not _is_shown(each, classes):
                    field = f"{ast.unparse(each.target)}: {ast.unparse(each.annotation)}"
                    yield found(module, call, "MRTR219", f"{form.name} has {field}, which no form shows")


def _is_shown(field: ast.AnnAssign, classes: dict[str, ast.ClassDef]) -> bool:
    """Whether a form may have a field; what is not plain to see passes."""
    if last_name(field.annotation) == "ClassVar" or "json_schema_extra" in ast.unparse(field):
        return True
    return all(_is_simple(each, classes) for each in _kinds(field.annotation))


def _kinds(annotation: ast.expr) -> Iterator[ast.expr]:
    """The types that an annotation admits, without what `Annotated` notes."""
    if isinstance(annotation, ast.BinOp):
        yield from _kinds(annotation.left)
        yield from _kinds(annotation.right)
    elif isinstance(annotation, ast.Subscript) and last_name(annotation.value) in ("Optional", "Union", "Annotated"):
        inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        for each in inner[:1] if last_name(annotation.value) == "Annotated" else inner:
            yield from _kinds(each)
    else:
        yield annotation


def _is_simple(kind: ast.expr, classes: dict[str, ast.ClassDef]) -> bool:
    of = kind.value if isinstance(kind, ast.Subscript) else kind
    name = last_name(of)
    if name in _LISTS:
        return isinstance(kind, ast.Subscript) and last_name(kind.slice) not in _NO_CHOICES
    return name not in _DICTS and not (
        name in classes and any(last_name(base) in _FORMS for base in classes[name].bases)
    )
