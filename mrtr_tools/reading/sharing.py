"""What outlives a round only in memory: MRTR212 to MRTR214."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from mrtr_tools.reading.asking import found
from mrtr_tools.reading.flows import asks_of
from mrtr_tools.reading.functions import Function, Module, last_name, own_nodes
from mrtr_tools.reading.projects import Project, calls_in
from mrtr_tools.reading.registrations import Role, role_of
from mrtr_tools.reading.rules import Finding

__all__ = ["check_sharing", "live_objects", "repacks"]

_LIVE: Final = re.compile(
    r".*(Client|Session|Connection|Browser|Page|Cursor|Engine|Socket|Transport|Playwright|Driver|Pool|SMTP|SSH\w*)"
    r"|connect|open_connection|create_engine|create_pool|launch|new_page|sessionmaker|login"
)
_CHANGING: Final = {"append", "add", "update", "pop", "setdefault", "clear", "remove", "extend", "insert", "popitem"}


def check_sharing(project: Project, module: Module) -> Iterator[Finding]:
    """Report what the next round, perhaps on another machine, will not find."""
    for function in module.functions:
        if function not in project.asking:
            continue
        asks = asks_of(project, function, calls_in(function))
        lines = [call.lineno for call in asks]
        for name, node in live_objects(function, min(lines), max(lines)):
            reason = f"{name} is opened in line {node.lineno}, before a question, and used after it"
            yield found(module, node, "MRTR212", reason)
        yield from _check_globals(function, max(lines))
        if role_of(function) in (Role.TOOL, Role.OURS):
            yield from _check_wrappers(function)


def live_objects(function: Function, first: int, last: int) -> Iterator[tuple[str, ast.stmt]]:
    """Names that are assigned a connection or its like above the last question, and read below the first one."""
    for node in own_nodes(function.node):
        if not isinstance(node, ast.Assign) or node.lineno >= last:
            continue
        calls = [part for part in ast.walk(node.value) if isinstance(part, ast.Call)]
        if not any(_LIVE.fullmatch(last_name(call.func)) for call in calls):
            continue
        for target in node.targets:
            if isinstance(target, ast.Name) and _is_read(function, target.id, max(first, node.lineno)):
                yield target.id, node


def _is_read(function: Function, name: str, after: int) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) and node.lineno > after
        for node in own_nodes(function.node)
    )


def _check_globals(function: Function, last: int) -> Iterator[Finding]:
    """What a function keeps in the process and sees before a question: the next round may be in another process."""
    module = function.module
    shared = _module_state(module)
    told: set[str] = set()
    for node in own_nodes(function.node):
        for name in _changed(node, shared):
            if name in told or name in function.parameters or not _matters(function, node, name, last):
                continue
            told.add(name)
            reason = f"{function.name} keeps something in {name}, in the memory of this process"
            yield found(module, node, "MRTR213", reason)


def _changed(node: ast.AST, shared: set[str]) -> list[str]:
    """The module globals that a node changes."""
    if isinstance(node, ast.Global):
        return node.names
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        held = [target.value for target in targets if isinstance(target, ast.Subscript)]
        return [each.id for each in held if isinstance(each, ast.Name) and each.id in shared]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
        held_by = node.func.value
        return [held_by.id] if isinstance(held_by, ast.Name) and held_by.id in shared else []
    return []


def _matters(function: Function, node: ast.AST, name: str, last: int) -> bool:
    """Whether a change comes before the last question, or is seen before it in another round or call."""
    names = (each for each in own_nodes(function.node) if isinstance(each, ast.Name) and each.id == name)
    return getattr(node, "lineno", 0) < last or any(each.lineno < last for each in names)


def _module_state(module: Module) -> set[str]:
    """The names of lists, dicts and sets at module level."""
    names: set[str] = set()
    for node in module.source.tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(
            node.value, (ast.Dict, ast.List, ast.Set, ast.Call)
        ):
            if isinstance(node.value, ast.Call) and last_name(node.value.func) not in (
                "dict",
                "list",
                "set",
                "defaultdict",
            ):
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


def _check_wrappers(function: Function) -> Iterator[Finding]:
    for each in function.node.decorator_list:
        called = each.func if isinstance(each, ast.Call) else each
        wrapper = function.module.find(called.id, function.owner) if isinstance(called, ast.Name) else None
        if wrapper is not None and repacks(wrapper):
            reason = f"{wrapper.name} gives {function.name} other parameters than those it shows"
            yield found(function.module, each, "MRTR214", reason)


def repacks(wrapper: Function) -> bool:
    """Whether a decorator returns a function that does not hand on what it gets, or hides what it wraps."""
    inner = [each for each in wrapper.module.functions if _is_inside(each, wrapper)]
    returned = {name.id for part in ast.walk(wrapper.node) if isinstance(part, ast.Return)
                for name in ([part.value] if isinstance(part.value, ast.Name) else [])}  # fmt: skip
    replaced = [each for each in inner if each.name in returned]
    wraps = [each for each in replaced if any(last_name(_called(d)) == "wraps" for d in each.node.decorator_list)]
    outermost = [each for each in replaced if each not in inner or not any(o.owner is each for o in replaced)]
    return any(each not in wraps for each in outermost)


def _is_inside(function: Function, outer: Function) -> bool:
    owner = function.owner
    while owner is not None and owner is not outer:
        owner = owner.owner
    return owner is outer


def _called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node
