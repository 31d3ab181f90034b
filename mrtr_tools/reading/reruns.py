"""What runs again in each round: MRTR101 to MRTR106."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from mrtr_tools.reading.asking import found
from mrtr_tools.reading.asks import is_ask, is_on_context, message_of, page_of, shape_of
from mrtr_tools.reading.effects import Kind
from mrtr_tools.reading.flows import before_questions
from mrtr_tools.reading.functions import Function, Module
from mrtr_tools.reading.projects import Project, calls_in
from mrtr_tools.reading.rules import Finding
from mrtr_tools.reading.summaries import Deed, deed_of, written

__all__ = ["check_reruns", "varying"]

_SAID: Final = {
    Kind.ACTS: "acts again in each round",
    Kind.MAY_ACT: "may act again in each round",
    Kind.LIVE: "may bring something else in each round",
    Kind.CLOCK: "differs in each round",
    Kind.RANDOM: "differs in each round",
}
_VARYING: Final = (Kind.CLOCK, Kind.RANDOM, Kind.LIVE)


def check_reruns(project: Project, module: Module) -> Iterator[Finding]:
    """Report what runs before a question, and should not run twice."""
    for function, calls in before_questions(project).items():
        if function.module is not module:
            continue
        for each in calls:
            if is_on_context(each.call, function) or is_inside_once(function, each.call):
                continue
            deed = deed_of(project, module, each.call, function)
            if deed is not None:
                reason = f"{_told(each.call, deed)} {_SAID[deed.kind]}, until line {each.question} is answered"
                yield found(module, each.call, deed.kind.value, reason)
        yield from _check_shown(project, function)


def is_inside_once(function: Function, call: ast.Call) -> bool:
    """Whether a call is what ``ctx.once`` is given, such as ``functools.partial(...)``."""
    return any(
        isinstance(parent, ast.Call) and is_on_context(parent, function, "once")
        for _, parent in function.module.around(call)
    )


def _told(call: ast.Call, deed: Deed) -> str:
    return f"{written(call)}, through {deed.what} in line {deed.line} of {deed.through}," if deed.through else deed.what


def _check_shown(project: Project, function: Function) -> Iterator[Finding]:
    told: set[ast.Call] = set()
    for call, _, deed in varying(project, function):
        if call not in told:
            told.add(call)
            reason = f"{written(call)} shows what {deed.what} gives in line {deed.line}"
            yield found(function.module, call, "MRTR106", reason)


def varying(project: Project, function: Function) -> Iterator[tuple[ast.Call, ast.Call, Deed]]:
    """The questions of a function that differ from round to round: each, the call that its words or its form go by, at
    once or by way of a name, and what that does."""
    made = _made(project, function)
    for call in calls_in(function):
        if not is_ask(function.module, call, function):
            continue
        for part in (message_of(call), shape_of(call), page_of(call)):
            for node in ast.walk(part) if part is not None else ():
                by: tuple[ast.Call, Deed] | None = None
                if isinstance(node, ast.Name):
                    by = made.get(node.id)
                elif (
                    isinstance(node, ast.Call)
                    and (deed := deed_of(project, function.module, node, function)) is not None
                ):
                    by = (node, deed)
                if by is not None and by[1].kind in _VARYING:
                    yield call, *by


def _made(project: Project, function: Function) -> dict[str, tuple[ast.Call, Deed]]:
    """The names that are assigned from a call, at once or by way of another name, with the call and what it does."""
    made: dict[str, tuple[ast.Call, Deed]] = {}
    assigned = (node for node in ast.walk(function.node) if isinstance(node, (ast.Assign, ast.AnnAssign)))
    for statement in sorted(assigned, key=lambda node: node.lineno):
        if statement.value is None:
            continue
        calls = [node for node in ast.walk(statement.value) if isinstance(node, ast.Call)]
        if any(is_on_context(call, function) for call in calls):
            continue
        deeds = [(c, deed) for c in calls if (deed := deed_of(project, function.module, c, function)) is not None]
        read = (node.id for node in ast.walk(statement.value) if isinstance(node, ast.Name))
        deeds += [made[name] for name in read if name in made]
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names = [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
        made |= dict.fromkeys(names, deeds[0]) if deeds else {}
    return made
