"""Functions that ask, are no tools that `port` could edit, and whose author would otherwise be told nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from mrtr_tools.reading.functions import Function, Module, last_name
from mrtr_tools.reading.projects import Project
from mrtr_tools.reading.registrations import Role, is_resumable, role_of
from mrtr_tools.rewriting.outcomes import Outcome, Reason, Verdict

__all__ = ["beyond_reach"]

_REASONS: Final = {
    Role.LOW_LEVEL: "it is a handler of a low-level server; give each tool a function on a toolbox",
    Role.MIDDLEWARE: "it is a middleware, where nobody can be asked; ask in the tools",
    Role.LIFESPAN: "it is a lifespan, where nobody can be asked; ask in the tools",
}


def beyond_reach(project: Project, module: Module, reached: Iterable[Function]) -> Iterator[Outcome]:
    """Say of handlers, middlewares and bound methods that they ask, and why they stay as they are.

    Args:
        project: the files that were read.
        module: the file.
        reached: the functions that belong to a tool that has an outcome of its own.
    """
    known, methods = {*reached}, _registered_methods(module)
    for function in module.functions:
        if function not in project.asking or function in known or is_resumable(function):
            continue
        told = _REASONS.get(role_of(function))
        if told is None and function.in_class is not None and function.name in methods:
            told = "it is a method; make it a function"
        if told is not None:
            line = function.node.lineno
            yield Outcome(function.name, line, Verdict.REFUSED, [Reason(line, "", told)])


def _registered_methods(module: Module) -> set[str]:
    """What is made a tool from an object: ``mcp.tool(shop.buy)``, ``self.mcp.tool()(self.buy)``."""
    found: set[str] = set()
    for node in ast.walk(module.source.tree):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Attribute):
            called = node.func.func if isinstance(node.func, ast.Call) else node.func
            if last_name(called) in ("tool", "add_tool", "from_function"):
                found.add(node.args[0].attr)
    return found
