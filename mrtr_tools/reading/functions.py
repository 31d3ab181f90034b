"""The functions of a file: where they stand, what they are called by, and which of their names hold a context."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from mrtr_tools.reading.sources import Source

__all__ = ["Definition", "Function", "Module", "dotted", "last_name", "own_nodes", "read_module"]

Definition = ast.FunctionDef | ast.AsyncFunctionDef

_CONTEXT_NAME: Final = re.compile(r"(^|_)(ctx|context)$")
_CONTEXT_TYPE: Final = re.compile(r"\bContext\b(?!\w)")


@dataclass(eq=False)
class Function:
    """One function or method.

    Attributes:
        module: the file.
        node: its definition.
        owner: the function that it stands in, or None.
        in_class: the class that it is a method of, or None.
    """

    module: Module = field(repr=False)
    node: Definition
    owner: Function | None = field(repr=False)
    in_class: ast.ClassDef | None = field(repr=False)

    @property
    def name(self) -> str:
        """Its name."""
        return self.node.name

    @property
    def is_async(self) -> bool:
        """Whether calling it gives a coroutine."""
        return isinstance(self.node, ast.AsyncFunctionDef)

    @cached_property
    def parameters(self) -> Mapping[str, ast.arg]:
        """What it takes, by name."""
        given = self.node.args
        extra = [each for each in (given.vararg, given.kwarg) if each is not None]
        return {each.arg: each for each in (*given.posonlyargs, *given.args, *given.kwonlyargs, *extra)}

    @cached_property
    def contexts(self) -> frozenset[str]:
        """The names that hold the context of a request, in it and around it."""
        around = self.owner.contexts if self.owner is not None else frozenset[str]()
        taken = {name for name, each in self.parameters.items() if is_context(name, each.annotation)}
        return (around - self.parameters.keys()) | taken | _assigned_contexts(self)

    @property
    def context(self) -> str | None:
        """The parameter that takes the context, or None."""
        return next((name for name in self.parameters if name in self.contexts), None)


def is_context(name: str, annotation: ast.expr | None) -> bool:
    """Whether a parameter takes the context: by its annotation, or without one by its name."""
    if annotation is None:
        return _CONTEXT_NAME.search(name) is not None
    return _CONTEXT_TYPE.search(ast.unparse(annotation)) is not None or (
        _CONTEXT_NAME.search(name) is not None and ast.unparse(annotation) in ("Any", "object", "typing.Any")
    )


def _assigned_contexts(function: Function) -> set[str]:
    """Such as ``ctx = mcp.get_context()``."""
    return {
        target.id
        for node in own_nodes(function.node)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        if last_name(node.value.func) == "get_context"
        for target in node.targets
        if isinstance(target, ast.Name)
    }


@dataclass(eq=False)
class Module:
    """A file and what is defined in it.

    Attributes:
        source: the file.
        functions: all of its functions, in the order of their lines.
        imports: what each imported name stands for, in dotted names; one dot in front for each level up.
    """

    source: Source
    functions: list[Function] = field(default_factory=list[Function], repr=False)
    imports: dict[str, str] = field(default_factory=dict[str, str], repr=False)

    @cached_property
    def by_node(self) -> Mapping[ast.AST, Function]:
        """The function of a definition."""
        return {function.node: function for function in self.functions}

    def function_around(self, node: ast.AST) -> Function | None:
        """The function whose body a node stands in."""
        child, parent = node, self.source.parents.get(node)
        while parent is not None:
            if isinstance(parent, Definition) and child in parent.body:
                return self.by_node[parent]
            child, parent = parent, self.source.parents.get(parent)
        return None

    def function_at(self, line: int) -> Function | None:
        """The innermost function that a line stands in, its decorators included."""
        around: list[Function] = []
        for each in self.functions:
            first = min([each.node.lineno, *(d.lineno for d in each.node.decorator_list)])
            if first <= line <= (each.node.end_lineno or first):
                around.append(each)
        return max(around, key=lambda each: each.node.lineno, default=None)

    def around(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """What a node stands in, from the inside out up to its function: each node, and the one above it."""
        child, parent = node, self.source.parents.get(node)
        while parent is not None and not isinstance(child, (Definition, ast.Lambda)):
            yield child, parent
            child, parent = parent, self.source.parents.get(parent)

    def full_name(self, node: ast.expr) -> str | None:
        """A dotted name with its first part replaced by what was imported; None for what is no name."""
        if (name := dotted(node)) is None:
            return None
        first, dot, rest = name.partition(".")
        return self.imports.get(first, first) + dot + rest

    @cached_property
    def _by_name(self) -> Mapping[tuple[str, Function | None], Function]:
        return {(each.name, each.owner): each for each in self.functions if each.in_class is None}

    def find(self, name: str, near: Function | None) -> Function | None:
        """The function of this file that a plain name stands for, seen from a place."""
        while True:
            found = self._by_name.get((name, near))
            if found is not None or near is None:
                return found
            near = near.owner

    def find_method(self, name: str, near: Function | None) -> Function | None:
        """The method of the class that a function is in."""
        while near is not None and near.in_class is None:
            near = near.owner
        owner = near.in_class if near is not None else None
        return next((each for each in self.functions if each.in_class is owner and each.name == name), None)


def read_module(source: Source) -> Module:
    """Find the functions and imports of a file."""
    module = Module(source)
    _collect(module, source.tree, None, None)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                module.imports[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            for alias in node.names:
                joint = "" if origin.endswith(".") or not origin else "."
                module.imports[alias.asname or alias.name] = f"{origin}{joint}{alias.name}"
    return module


def _collect(module: Module, node: ast.AST, owner: Function | None, in_class: ast.ClassDef | None) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            function = Function(module, child, owner, in_class)
            module.functions.append(function)
            _collect(module, child, function, None)
        elif isinstance(child, ast.ClassDef):
            _collect(module, child, owner, child)
        else:
            _collect(module, child, owner, in_class)


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Everything in a function or file, but not in the functions and lambdas inside of it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (Definition, ast.Lambda)):
            yield from own_nodes(child)


def dotted(node: ast.expr) -> str | None:
    """``a.b.c`` as text; a call or an item in between is left out: ``a().b`` is ``a.b``."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, (ast.Subscript, ast.Await)):
            node = node.value
        elif isinstance(node, ast.Name):
            return ".".join([node.id, *reversed(parts)])
        else:
            return None


def last_name(node: ast.expr) -> str:
    """The last part of a name: ``elicit`` of ``ctx.session.elicit``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
