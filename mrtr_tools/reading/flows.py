"""What runs before a question: the calls of a function that a question may come after.

On the bridge a body runs again in each round, so all of these run again. The statements are walked from the last one to
the first: after each of them, the line of the next question is known, or that there is none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mrtr_tools.reading.asks import is_ask
from mrtr_tools.reading.functions import Function
from mrtr_tools.reading.projects import Project

__all__ = ["Before", "asks_of", "before_questions"]

Line = int | None
"""The line of the question that comes next, or None."""


@dataclass(frozen=True, slots=True, eq=False)
class Before:
    """A call that a question may come after.

    Attributes:
        function: whose body it stands in.
        call: the call.
        question: the line of the next question.
    """

    function: Function
    call: ast.Call
    question: int


def asks_of(project: Project, function: Function, nodes: Iterable[ast.AST]) -> list[ast.Call]:
    """The calls among some nodes that ask, by themselves or through others."""
    return [
        node
        for node in nodes
        if isinstance(node, ast.Call)
        and (
            is_ask(function.module, node, function)
            or project.asks_through(function.module, node, function, project.asking)
        )
    ]


@lru_cache(maxsize=4)
def before_questions(project: Project) -> Mapping[Function, Sequence[Before]]:
    """For each function that asks, the calls in it that a question may come after, here or in what called it."""
    after: dict[Function, int] = {}
    while True:
        found: dict[Function, list[Before]] = {}
        known = dict(after)
        for function in project.asking:
            walk = _Walk(project, function, after.get(function))
            walk.block(function.node.body, walk.after)
            found[function] = sorted(walk.before, key=lambda each: (each.call.lineno, each.call.col_offset))
            for each in walk.before:
                other = project.callee(function.module, each.call.func, function)
                if other in project.asking and other is not function:
                    after.setdefault(other, each.question)
        if after == known:
            return found


class _Walk:
    def __init__(self, project: Project, function: Function, after: Line) -> None:
        self.project = project
        self.function = function
        self.after = after
        self.before: list[Before] = []
        self._raised: list[Line] = [None]
        self._loops: list[tuple[Line, Line]] = []

    def block(self, statements: Sequence[ast.stmt], then: Line) -> Line:
        """Walk statements backwards; the line of the question that follows their beginning."""
        for statement in reversed(statements):
            then = self._statement(statement, then)
        return then

    def _statement(self, node: ast.stmt, then: Line) -> Line:
        if isinstance(node, (*_DEFINITIONS, ast.ClassDef)):
            return then
        walk = getattr(self, f"_{type(node).__name__.lower()}", None)
        return walk(node, then) if walk is not None else self._expressions(ast.iter_child_nodes(node), then)

    def _return(self, node: ast.Return, _then: Line) -> Line:
        return self._expressions([node.value] if node.value else [], self.after)

    def _raise(self, node: ast.Raise, _then: Line) -> Line:
        return self._expressions(ast.iter_child_nodes(node), self._raised[-1])

    def _break(self, _node: ast.Break, then: Line) -> Line:
        return self._loops[-1][1] if self._loops else then

    def _continue(self, _node: ast.Continue, then: Line) -> Line:
        return self._loops[-1][0] if self._loops else then

    def _if(self, node: ast.If, then: Line) -> Line:
        branches = self.block(node.body, then) or self.block(node.orelse, then)
        return self._expressions([node.test], branches)

    def _while(self, node: ast.While, then: Line) -> Line:
        return self._loop(node, [node.test], then)

    def _for(self, node: ast.For | ast.AsyncFor, then: Line) -> Line:
        return self._expressions([node.iter], self._loop(node, [], then))

    _asyncfor = _for

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, test: list[ast.expr], then: Line) -> Line:
        inside = [each for part in node.body for each in ast.walk(part)]
        again = min((call.lineno for call in asks_of(self.project, self.function, inside)), default=None) or then
        self._loops.append((again, then))
        first = self.block(node.body, again)
        self._loops.pop()
        done = self.block(node.orelse, then)
        return self._expressions(test, first or again or done)

    def _with(self, node: ast.With | ast.AsyncWith, then: Line) -> Line:
        first = self.block(node.body, then)
        return self._expressions([item.context_expr for item in node.items], first)

    _asyncwith = _with

    def _try(self, node: ast.Try, then: Line) -> Line:
        last = self.block(node.finalbody, then)
        handled = [self.block(handler.body, last) for handler in node.handlers]
        caught = next((line for line in handled if line is not None), None)
        done = self.block(node.orelse, last)
        self._raised.append(caught or self._raised[-1])
        first = self.block(node.body, done or caught)
        self._raised.pop()
        return first

    _trystar = _try

    def _match(self, node: ast.Match, then: Line) -> Line:
        cases = [self.block(case.body, then) for case in node.cases]
        first = next((line for line in cases if line is not None), then)
        guards = [case.guard for case in node.cases if case.guard is not None]
        return self._expressions([node.subject, *guards], first)

    def _expressions(self, nodes: Iterable[ast.AST], then: Line) -> Line:
        calls: list[ast.Call] = []
        for node in nodes:
            _in_order(node, calls)
        for call in reversed(calls):
            asks = bool(asks_of(self.project, self.function, [call]))
            if then is not None and not is_ask(self.function.module, call, self.function):
                self.before.append(Before(self.function, call, then))
            if asks:
                then = call.lineno
        return then


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _in_order(node: ast.AST, calls: list[ast.Call]) -> None:
    """The calls of an expression in the order in which they happen: what is given, then the call itself."""
    if isinstance(node, (ast.Lambda, *_DEFINITIONS)):
        return
    for child in ast.iter_child_nodes(node):
        _in_order(child, calls)
    if isinstance(node, ast.Call):
        calls.append(node)
