"""The result of a question in the code below it: it was an object with an action, and is the answer or a refusal."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from mrtr_tools.reading.functions import Function, last_name
from mrtr_tools.reading.projects import Project
from mrtr_tools.reading.sources import Source
from mrtr_tools.rewriting.edits import Span, is_placed, span_of
from mrtr_tools.rewriting.straight_lines import Asked, NotStraight

__all__ = ["Replaced", "of_context", "of_result", "text_of"]

_LEVELS: Final = {"debug", "info", "warning", "error"}
_ACTIONS: Final = {
    "AcceptedElicitation": "accept",
    "DeclinedElicitation": "decline",
    "CancelledElicitation": "cancel",
}
_TIGHT: Final = (ast.Compare, ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript, ast.Await)


@dataclass(frozen=True, slots=True)
class Replaced:
    """A node and the text in its place.

    Attributes:
        node: what it stands for.
        text: what is written.
        until: where it ends, where that is not the end of the node: the beginning of another node.
    """

    node: ast.expr
    text: str
    until: ast.AST | None = None

    def span(self, source: Source) -> Span:
        """What is taken out; nothing, where it ends where it begins."""
        first = span_of(source, self.node)
        return first if self.until is None else (*first[:2], *span_of(source, self.until)[:2])


def of_result(function: Function, asked: Asked, nodes: Iterable[ast.AST]) -> Iterator[Replaced]:
    """What becomes of the result of a question in some code below it.

    Raises:
        NotStraight: it is used for more than its action and its data.
    """
    parents = function.module.source.parents
    for node in nodes:
        if isinstance(node, ast.Name) and node.id == asked.result:
            if isinstance(node.ctx, ast.Store):
                raise NotStraight(f"{asked.result} is given another value", node.lineno)
            yield _replaced(asked, node, parents)


def _replaced(asked: Asked, node: ast.Name, parents: Mapping[ast.AST, ast.AST]) -> Replaced:
    parent = parents[node]
    if isinstance(parent, ast.Attribute) and parent.attr == "data":
        return Replaced(parent, asked.name)
    is_action = isinstance(parent, ast.Attribute) and parent.attr == "action"
    if is_action and isinstance(parent, ast.expr) and not isinstance(parents[parent], ast.Compare):
        return Replaced(parent, f'({asked.name}.action if isinstance({asked.name}, Refused) else "accept")')
    tested = parents[parent] if isinstance(parent, ast.Attribute) else parent
    told = _told(node, parent, tested)
    if told is None or not isinstance(tested, ast.expr):
        raise NotStraight(f"{asked.result} is used for more than its action and its data", node.lineno)
    action, is_so = told
    above = parents[tested]
    if isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not):
        return Replaced(above, _condition(asked, action, is_so=not is_so))
    return Replaced(tested, _condition(asked, action, is_so=is_so))


def _told(node: ast.Name, parent: ast.AST, tested: ast.AST) -> tuple[str, bool] | None:
    """Which action is asked about, and whether it is that one; None for another question."""
    if isinstance(tested, ast.Compare) and isinstance(parent, ast.Attribute) and parent.attr == "action":
        action, operator = tested.comparators[0], tested.ops[0]
        if tested.left is parent and isinstance(action, ast.Constant) and isinstance(operator, (ast.Eq, ast.NotEq)):
            return str(action.value), isinstance(operator, ast.Eq)
    if isinstance(tested, ast.Call) and last_name(tested.func) == "isinstance" and tested.args[0] is node:
        kinds = tested.args[1].elts if isinstance(tested.args[1], ast.Tuple) else [tested.args[1]]
        actions = {_ACTIONS.get(last_name(kind), "") for kind in kinds}
        if actions == {"decline", "cancel"}:
            return "accept", False
        if len(actions) == 1 and "" not in actions:
            return next(iter(actions)), True
    return None


def _condition(asked: Asked, action: str, *, is_so: bool) -> str:
    name = asked.name
    if action == "accept":
        if asked.is_gate:
            return name if is_so else f"not {name}"
        return f"{'not ' if is_so else ''}isinstance({name}, Refused)"
    told = f'isinstance({name}, Refused) and {name}.action == "{action}"'
    return told if is_so else f"not ({told})"


def of_context(project: Project, function: Function, nodes: Iterable[ast.AST]) -> Iterator[Replaced]:
    """What becomes of the context: what it logged, it logs otherwise; what ran once is called, for a step runs once.

    Raises:
        NotStraight: it is used for something that a step does otherwise.
    """
    parents = function.module.source.parents
    for node in nodes:
        if not (isinstance(node, ast.Name) and node.id == function.context):
            continue
        taken = parents[node]
        call = parents[taken]
        if not isinstance(taken, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not taken:
            raise NotStraight(f"{node.id} is used for more than to ask, to log and to report progress", node.lineno)
        if taken.attr in _LEVELS and len(call.args) == 1 and not call.keywords:
            yield Replaced(taken, f"{node.id}.log")
            yield Replaced(call.args[0], f'"{taken.attr}", ', until=call.args[0])
        elif taken.attr == "once":
            yield from _once(project, function, taken, call)
        elif taken.attr not in ("report_progress", "elicit"):
            raise NotStraight(f"{ast.unparse(taken)} is not there in a step", node.lineno)


def _once(project: Project, function: Function, taken: ast.Attribute, call: ast.Call) -> Iterator[Replaced]:
    called, awaited = call.args[0], function.module.source.parents[call]
    other = project.callee(function.module, called, function)
    if other is None or not isinstance(awaited, ast.Await):
        raise NotStraight(f"nobody can tell whether {ast.unparse(called)} has to be awaited", call.lineno)
    given = [*call.args[1:], *call.keywords]
    if not other.is_async:
        yield Replaced(awaited, "", until=call)
    yield Replaced(taken, ast.unparse(called))
    yield Replaced(called, "", until=given[0] if given else None)


def text_of(source: Source, node: ast.AST, replaced: Iterable[Replaced]) -> str:
    """The code of a node, with some nodes in it replaced."""
    first, start, last, end = span_of(source, node)
    lines = source.text.split("\n")[first - 1 : last]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    text = "\n".join(lines)
    inside = [(each, each.span(source)) for each in replaced if _is_inside(source, each.node, node)]
    for each, (a, b, c, d) in sorted(inside, key=lambda pair: pair[1], reverse=True):
        if (first, start) <= (a, b) and (c, d) <= (last, end):
            at = _offset(text, a - first, b - (start if a == first else 0))
            to = _offset(text, c - first, d - (start if c == first else 0))
            text = text[:at] + _parenthesized(source, each) + text[to:]
    return text


def _is_inside(source: Source, node: ast.AST, outer: ast.AST) -> bool:
    at: ast.AST | None = node
    while at is not None and at is not outer:
        at = source.parents.get(at)
    return at is outer


def _parenthesized(source: Source, replaced: Replaced) -> str:
    parent = source.parents.get(replaced.node)
    text = _requoted(source, replaced)
    is_loose = " " in text and not text.startswith("(") and replaced.until is None
    return f"({text})" if is_loose and isinstance(parent, _TIGHT) else text


def _requoted(source: Source, replaced: Replaced) -> str:
    """Inside of an f-string, quotes are the others; before Python 3.12 it has to be so."""
    at = source.parents.get(replaced.node)
    while at is not None and not isinstance(at, ast.JoinedStr):
        at = source.parents.get(at)
    if at is None:
        return replaced.text
    if not is_placed(source, replaced.node):
        raise NotStraight("an answer stands in a text of several lines; give that a name above", replaced.node.lineno)
    line, column, _, _ = span_of(source, at)
    written = source.text.split("\n")[line - 1][column:].lstrip("rRfF")
    return replaced.text.replace('"', "'") if written.startswith('"') else replaced.text


def _offset(text: str, line: int, column: int) -> int:
    at = 0
    for _ in range(line):
        at = text.index("\n", at) + 1
    return at + column
