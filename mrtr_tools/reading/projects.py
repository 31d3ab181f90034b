"""Several files together: which function a call means, in its own file or in one beside it, and which of them ask."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final

from mrtr_tools.reading.asks import gives_an_ask, is_ask
from mrtr_tools.reading.functions import Function, Module, dotted, own_nodes, read_module
from mrtr_tools.reading.sources import NotReadable, Source, read_source

__all__ = ["Project", "calls_in"]

MAX_FILES: Final = 400
MAX_LEVELS: Final = 6


class Project:
    """Files that were given, and those beside them that they import from. They are read, never imported.

    Args:
        sources: the files that were given.
    """

    def __init__(self, sources: Iterable[Source]) -> None:
        self.given = [read_module(source) for source in sources]
        self._modules = {module.source.path.resolve(): module for module in self.given}
        self._missing: set[Path] = set()

    @cached_property
    def asking(self) -> set[Function]:
        """All functions that ask, by themselves or through others."""
        calls = {function: list(calls_in(function)) for function in self._reachable()}
        found = {
            function
            for function, made in calls.items()
            if any(
                is_ask(function.module, call, function) or gives_an_ask(function.module, call, function)
                for call in made
            )
        }
        while True:
            more = {
                function
                for function, made in calls.items()
                if function not in found and any(self.asks_through(function.module, c, function, found) for c in made)
            }
            if not more:
                return found
            found |= more

    def asks_through(self, module: Module, call: ast.Call, near: Function | None, asking: set[Function]) -> bool:
        """Whether a call is of a function that asks, or gives one to something that may call it."""
        if self.callee(module, call.func, near) in asking or gives_an_ask(module, call, near):
            return True
        given = (*call.args, *(each.value for each in call.keywords))
        return any(self.callee(module, each, near) in asking for each in given if isinstance(each, ast.Name))

    def callee(self, module: Module, called: ast.expr, near: Function | None) -> Function | None:
        """The function that is called, where its file can be read."""
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "self":
            return module.find_method(called.attr, near)
        if not isinstance(called, (ast.Name, ast.Attribute)) or "()" in ast.unparse(called):
            return None
        if isinstance(called, ast.Name) and (found := module.find(called.id, near)) is not None:
            return found
        name = dotted(called)
        if name is None or name.partition(".")[0] not in module.imports:
            return None
        return self._imported(module, module.full_name(called) or name)

    def _reachable(self) -> list[Function]:
        seen: list[Function] = []
        waiting = [function for module in self.given for function in module.functions]
        known = set(waiting)
        while waiting:
            function = waiting.pop()
            seen.append(function)
            for call in calls_in(function):
                other = self.callee(function.module, call.func, function)
                if other is not None and other not in known:
                    known.add(other)
                    waiting.append(other)
        return seen

    def _imported(self, module: Module, name: str) -> Function | None:
        path, _, function = name.rpartition(".")
        if not path.strip("."):
            return None
        for folder in _folders(module.source.path, path):
            parts = [part for part in path.split(".") if part]
            for file in (folder.joinpath(*parts).with_suffix(".py"), folder.joinpath(*parts, "__init__.py")):
                if (other := self._read(file)) is not None:
                    found = other.find(function, None)
                    again = other.imports.get(function)  # handed on by an __init__.py
                    return self._imported(other, again) if found is None and again and again != name else found
        return None

    def _read(self, file: Path) -> Module | None:
        if file in self._missing:
            return None
        path = file.resolve()
        if path in self._modules:
            return self._modules[path]
        if len(self._modules) >= MAX_FILES or not path.is_file():
            self._missing.add(file)
            return None
        try:
            self._modules[path] = read_module(read_source(path))
        except NotReadable:
            self._missing.add(file)
            return None
        return self._modules[path]


def _folders(file: Path, path: str) -> Sequence[Path]:
    """Where a module may be: so many levels up when the import is relative, else in the folders around the file."""
    level = len(path) - len(path.lstrip("."))
    around = _around(file)
    if level:
        return around[level - 1 : level]
    return () if path.partition(".")[0] in sys.stdlib_module_names else around


@lru_cache(maxsize=256)
def _around(file: Path) -> Sequence[Path]:
    """The folders that a file is in, up to that of its project; but not those of installed packages."""
    found: list[Path] = []
    for folder in [file.resolve().parent, *file.resolve().parent.parents][:MAX_LEVELS]:
        if folder.name in ("site-packages", "dist-packages"):
            break
        found.append(folder)
        if any((folder / name).exists() for name in ("pyproject.toml", "setup.py", ".git")):
            break
    return found


def calls_in(function: Function) -> Iterator[ast.Call]:
    """Every call in the body of a function, but not in functions inside of it."""
    for statement in function.node.body:
        if isinstance(statement, ast.Call):
            yield statement
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for node in own_nodes(statement):
            if isinstance(node, ast.Call):
                yield node
