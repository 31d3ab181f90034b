"""Where a toolbox is made, and where it is attached to the server that the tools were on."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mrtr_tools.reading.functions import Function, Module, last_name
from mrtr_tools.reading.sources import Source

__all__ = ["Insertion", "Place", "free_name", "last_import", "place_for"]

_STARTS: Final = {
    "run", "run_async", "run_stdio_async", "run_sse_async", "run_streamable_http_async", "run_http_async", "http_app",
    "streamable_http_app", "sse_app",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Insertion:
    """Lines to put beside a statement.

    Attributes:
        anchor: the statement, or None for the end of the file.
        after: whether they go after it.
        lines: what to put there.
    """

    anchor: ast.stmt | None
    after: bool
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A toolbox for one server in one scope.

    Attributes:
        toolbox: its name.
        insertions: what has to be written for it; nothing where it is there already.
        attaches: whether `attach` is written.
    """

    toolbox: str
    insertions: Sequence[Insertion]
    attaches: bool


def place_for(module: Module, server: str, around: Function | None, taken: set[str]) -> Place:
    """Find the place for the toolbox of a tool.

    Args:
        module: the file.
        server: the name of the server.
        around: the function in which the tool is registered, or None.
        taken: names of toolboxes that other servers of the file have got.
    """
    scope, assigned = _where(module, server, around)
    body = module.source.tree.body if scope is None else scope.node.body
    there = _existing(body)
    if there is not None and (attached := _attached(module, there, server)):
        return Place(there, (), attached is not True)
    toolbox = there or free_name(module.source, "toolbox", taken)
    insertions: list[Insertion] = []
    if there is None:
        made = f"{toolbox} = Toolbox({_name_for(module.source.path, server, assigned)})"
        anchor = assigned or (_first(body) if scope is not None else last_import(module.source))
        is_before = assigned is None and scope is not None
        insertions.append(Insertion(anchor, not is_before, (made,)))
    if assigned is None and scope is None:  # the server comes from another file
        note = f"# mrtr: call attach({toolbox}, {server}), of mrtr_tools.server, where {server} is started"
        insertions = [Insertion(each.anchor, each.after, (note, *each.lines)) for each in insertions]
        return Place(toolbox, insertions, attaches=False)
    line = f"attach({toolbox}, {server})"
    return Place(toolbox, [*insertions, *_attachments(module, server, scope, line)], attaches=True)


def _where(module: Module, server: str, scope: Function | None) -> tuple[Function | None, ast.stmt | None]:
    """The scope that a name belongs to, seen from inside, and the statement there that gives it its value."""
    if "." in server:
        return scope, None
    while True:
        body = module.source.tree.body if scope is None else scope.node.body
        for statement in _statements(body):
            targets = _targets(statement)
            if any(isinstance(target, ast.Name) and target.id == server for target in targets):
                return scope, statement
        if scope is None or server in scope.parameters:
            return scope, None
        scope = scope.owner


def _targets(statement: ast.stmt) -> list[ast.expr]:
    if isinstance(statement, ast.Assign):
        return statement.targets
    return [statement.target] if isinstance(statement, ast.AnnAssign) and statement.value is not None else []


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a scope, those of its ifs and tries as well."""
    for statement in body:
        yield statement
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for part in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(statement, part, []))


def _existing(body: Sequence[ast.stmt]) -> str | None:
    for statement in _statements(body):
        value = getattr(statement, "value", None)
        if isinstance(value, ast.Call) and last_name(value.func) == "Toolbox":
            for target in _targets(statement):
                if isinstance(target, ast.Name):
                    return target.id
    return None


def _attached(module: Module, toolbox: str, server: str) -> bool:
    for node in ast.walk(module.source.tree):
        if isinstance(node, ast.Call) and last_name(node.func) == "attach":
            given = [ast.unparse(each) for each in node.args]
            if given[:2] == [toolbox, server]:
                return True
    return f"attach({toolbox}, {server})" in " ".join(module.source.comments.values())


def _name_for(path: Path, server: str, assigned: ast.stmt | None) -> str:
    value = getattr(assigned, "value", None)
    if isinstance(value, ast.Call):
        named = next((each.value for each in value.keywords if each.arg == "name"), None)
        given = named or (value.args[0] if value.args else None)
        if (
            isinstance(given, ast.Constant)
            and isinstance(given.value, str)
            and given.value.isprintable()
            and given.value
        ):
            return _quoted(given.value)
        return f"{server}.name" if given is not None else _quoted(path.stem)
    return _quoted(path.stem)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _attachments(module: Module, server: str, scope: Function | None, line: str) -> Iterator[Insertion]:
    starts = [
        node
        for node in ast.walk(module.source.tree if scope is None else scope.node)
        if isinstance(node, ast.Attribute) and node.attr in _STARTS
        if ast.unparse(node.value) == server
    ]
    by_function: dict[Function | None, list[list[ast.stmt]]] = {}
    for start in starts:
        by_function.setdefault(module.function_around(start), []).append(_path(module, start))
    for paths in by_function.values():
        yield Insertion(_anchor(paths), after=False, lines=(line,))
    if not starts:
        yield _at_the_end(module, server, scope, line)


def _path(module: Module, node: ast.AST) -> list[ast.stmt]:
    """The statements that a node stands in, from the outside in, up to its function."""
    found: list[ast.stmt] = []
    parent: ast.AST | None = node
    while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(parent, ast.stmt):
            found.append(parent)
        parent = module.source.parents.get(parent)
    return found[::-1]


def _anchor(paths: list[list[ast.stmt]]) -> ast.stmt:
    """The statement before which all of them are still to come."""
    shared: list[ast.stmt] = []
    for steps in zip(*paths, strict=False):
        if any(step is not steps[0] for step in steps):
            break
        shared.append(steps[0])
    nexts = [path[len(shared)] for path in paths if len(path) > len(shared)]
    if len(nexts) < len(paths):  # one of them is where the others meet
        return shared[-1]
    body = getattr(shared[-1], "body", []) if shared else []
    if shared and not all(each in body for each in nexts):
        return shared[-1]
    return min(nexts, key=lambda each: each.lineno)


def _at_the_end(module: Module, server: str, scope: Function | None, line: str) -> Insertion:
    """Where a server is not started in the file: before a function gives it back, or where the file itself is run."""
    if scope is not None:
        body = scope.node.body
        returned = next((each for each in body if isinstance(each, ast.Return)), None)
        return Insertion(returned or body[-1], after=returned is None, lines=(line,))
    for statement in module.source.tree.body:
        if isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test):
            return Insertion(statement.body[0], after=False, lines=(line,))
    note = f"# mrtr: decide: what starts {server} from outside of this file has to call {line} first"
    return Insertion(None, after=True, lines=(f'{note}\nif __name__ == "__main__":\n    {line}\n    {server}.run()',))


def _first(body: Sequence[ast.stmt]) -> ast.stmt:
    is_docstring = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    return body[1] if is_docstring and len(body) > 1 else body[0]


def last_import(source: Source, *, until: float = math.inf) -> ast.stmt | None:
    """The last import at the top of a file, or what stands for it: the docstring.

    Args:
        source: the file.
        until: the last line that it may begin in.
    """
    last: ast.stmt | None = None
    for statement in source.tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or statement.lineno > until:
            break
        is_docstring = last is None and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if isinstance(statement, (ast.Import, ast.ImportFrom)) or is_docstring:
            last = statement
    return last


def free_name(source: Source, name: str, taken: set[str]) -> str:
    """A name that nothing in a file has."""
    used = {node.id for node in ast.walk(source.tree) if isinstance(node, ast.Name)} | taken
    return next(each for each in (name, *(f"{name}_{n}" for n in range(2, 1000))) if each not in used)
