"""The annotation of `ctx`: that of the bridge, where nothing but ported tools and what they call has it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Final

import libcst as cst

from mrtr_tools.reading.functions import Function, Module
from mrtr_tools.rewriting.dialects import CONTEXT_MODULES, LOOKED_UP, V1, moved, without
from mrtr_tools.rewriting.edits import Edits

__all__ = ["can_swap", "change_imports", "strip_parameters"]

NAME: Final = "Context"
LOOK_UP: Final = "get_context"


def can_swap(module: Module, ported: Iterable[Function]) -> bool:
    """Whether the name `Context` can be that of the bridge in all of a file.

    It stays where anything else has it: a tool that asks nothing is still one of the SDK or of FastMCP, which go by it.
    """
    if module.imports.get(NAME, "").rpartition(".")[0] not in CONTEXT_MODULES:
        return False
    functions = set(ported)
    inside = {
        id(node)
        for function in functions
        for each in function.parameters.values()
        if each.annotation is not None
        for node in ast.walk(each.annotation)
    }
    return all(
        id(node) in inside
        for node in ast.walk(module.source.tree)
        if (isinstance(node, ast.Name) and node.id == NAME)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in (NAME, f"{NAME} | None"))
    )


def change_imports(*, swaps: bool, looks_up: bool) -> Callable[[cst.ImportFrom], cst.ImportFrom | None]:
    """What becomes of each import: names of version 1 are those of version 2, and `Context` comes from elsewhere."""

    def change(node: cst.ImportFrom) -> cst.ImportFrom | None:
        name = cst.Module([]).code_for_node(node.module) if node.module is not None and not node.relative else ""
        new = moved(node)
        after = without(new, NAME) if swaps and name in CONTEXT_MODULES else new
        if looks_up and after is not None and f"{name}.{LOOK_UP}" in LOOKED_UP:
            after = without(after, LOOK_UP)
        return after

    return change


def strip_parameters(module: Module, edits: Edits, *, swaps: bool) -> None:
    """Take the parameters of a generic context away, which are others in version 2 and none on the bridge."""
    if not swaps and not module.imports.get(NAME, "").startswith(V1):
        return
    for node in ast.walk(module.source.tree):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == NAME:
            edits.change(module.source, cst.Subscript, node, lambda written: written.value)
