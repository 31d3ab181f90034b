"""Which tools can go on the bridge, and why others cannot."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from mrtr_tools.reading.asking import ON_THE_BRIDGE, check_asking
from mrtr_tools.reading.asks import is_ask
from mrtr_tools.reading.effects import Kind
from mrtr_tools.reading.flows import asks_of, before_questions
from mrtr_tools.reading.functions import Function, Module, last_name, own_nodes
from mrtr_tools.reading.projects import Project, calls_in
from mrtr_tools.reading.registrations import Role, decorator, role_of
from mrtr_tools.reading.reruns import check_reruns, varying
from mrtr_tools.reading.rules import Finding
from mrtr_tools.reading.sharing import check_sharing
from mrtr_tools.reading.summaries import deed_of
from mrtr_tools.reading.surroundings import check_surroundings, is_parallel
from mrtr_tools.rewriting.decorated import refused_options, told_options
from mrtr_tools.rewriting.onces import can_run_once
from mrtr_tools.rewriting.outcomes import Reason

__all__ = ["Plan", "plans_of"]

_REFUSED: Final = {"MRTR101", "MRTR203", "MRTR207", "MRTR208", "MRTR209", "MRTR210", "MRTR214", "MRTR217"}
_TOLD: Final = {"MRTR102", "MRTR103", "MRTR201", "MRTR202", "MRTR205", "MRTR212", "MRTR213"}
_FROM_ELSEWHERE: Final = {
    "Depends",
    "Resolve",
    "CurrentFastMCP",
    "CurrentRequest",
    "CurrentHeaders",
    "CurrentAccessToken",
}
_RESULTS: Final = {"CallToolResult", "ToolResult", "CreateTaskResult", "InputRequiredResult"}


@dataclass(slots=True, eq=False)
class Plan:
    """What to do with one tool that asks.

    Attributes:
        function: the tool.
        registered: its decorator.
        reached: the functions of this file that ask for it, itself among them.
        onces: calls that go into ``ctx.once``.
        gathers: calls that become ``ctx.gather``.
        refused: why it stays as it is.
        told: what a person must decide, by the function that it is in.
    """

    function: Function
    registered: ast.expr
    reached: Sequence[Function] = ()
    onces: list[ast.Call] = field(default_factory=list[ast.Call])
    gathers: list[ast.Call] = field(default_factory=list[ast.Call])
    refused: list[Reason] = field(default_factory=list[Reason])
    told: list[tuple[Function, Reason]] = field(default_factory=list[tuple[Function, Reason]])

    @property
    def server(self) -> str:
        """The name of the server that it is on."""
        called = self.registered.func if isinstance(self.registered, ast.Call) else self.registered
        return ast.unparse(called.value) if isinstance(called, ast.Attribute) else ""


def plans_of(project: Project, module: Module) -> list[Plan]:
    """A plan for each tool of a file that asks and is on no toolbox."""
    plans: list[Plan] = []
    for function in module.functions:
        registered = decorator(function)
        if function in project.asking and registered is not None and role_of(function) is Role.TOOL:
            plan = Plan(function, registered)
            _fill(project, plan)
            plans.append(plan)
    return plans


def _fill(project: Project, plan: Plan) -> None:
    function = plan.function
    reached = _reached(project, function)
    plan.reached = [each for each in reached if each.module is function.module]
    plan.refused += _unfit(plan)
    plan.told += [(function, reason) for reason in told_options(plan.registered)]
    for each in reached:
        plan.refused += _unfit_names(each)
        plan.gathers += _gathers(project, each)
        plan.onces += _onces(project, each)
        for asked, made_by, deed in varying(project, each):
            if made_by not in plan.onces and deed.kind in (Kind.CLOCK, Kind.RANDOM):
                reason = f"line {asked.lineno} shows what {deed.what} gives, and that is another question in each round"
                plan.refused.append(Reason(asked.lineno, "MRTR106", reason))
    for module in {each.module for each in reached}:
        _take_findings(project, plan, module, [each for each in reached if each.module is module])


def _onces(project: Project, function: Function) -> Iterator[ast.Call]:
    for before in before_questions(project).get(function, ()):
        if can_run_once(project, before) and deed_of(project, function.module, before.call, function) is not None:
            yield before.call


def _take_findings(project: Project, plan: Plan, module: Module, reached: Sequence[Function]) -> None:
    done = {(call.lineno, call.col_offset + 1) for call in (*plan.onces, *plan.gathers)}
    for finding in _findings(project, module):
        inside = module.function_at(finding.line)
        while inside is not None and inside not in reached:
            inside = inside.owner
        if inside is None or (finding.line, finding.column) in done:
            continue
        reason = Reason(finding.line, finding.code, finding.reason)
        if finding.code in _REFUSED:
            plan.refused.append(reason)
        elif finding.code in _TOLD and module is plan.function.module:
            plan.told.append((inside, reason))


def _findings(project: Project, module: Module) -> Iterator[Finding]:
    for check in (check_asking, check_reruns, check_surroundings, check_sharing):
        yield from check(project, module)


def _reached(project: Project, function: Function) -> list[Function]:
    found, waiting = [function], [function]
    while waiting:
        each = waiting.pop()
        for call in calls_in(each):
            given = [call.func, *(a for a in call.args if isinstance(a, ast.Name))]
            for other in (project.callee(each.module, part, each) for part in given):
                if other is not None and other in project.asking and other not in found:
                    found.append(other)
                    waiting.append(other)
    return found


def _unfit(plan: Plan) -> Iterator[Reason]:
    function, node = plan.function, plan.function.node
    line = node.lineno
    named = last_name(plan.registered.func if isinstance(plan.registered, ast.Call) else plan.registered)
    if named != "tool":
        yield Reason(line, "", f"only tools can be resumable, and this is a {named}; write it in steps")
    if function.in_class is not None:
        yield Reason(line, "", "it is a method; make it a function")
    if not function.is_async:
        yield Reason(line, "MRTR208", "it is sync: make it async, and await its questions")
    if function.context is None:
        yield Reason(line, "", "it has no parameter for its context; take ctx: Context, and hand it on")
    if not plan.server.isidentifier():
        yield Reason(line, "", f"its server is {plan.server}, which is no plain name")
    if node.returns is not None and any(name in ast.unparse(node.returns) for name in _RESULTS):
        yield Reason(line, "", f"it returns {ast.unparse(node.returns)}; return the content itself")
    yield from refused_options(function.module, plan.registered)
    yield from _unfit_parameters(function)


def _unfit_parameters(function: Function) -> Iterator[Reason]:
    given, line = function.node.args, function.node.lineno
    if given.vararg or given.kwarg or given.posonlyargs:
        yield Reason(line, "", "it takes parameters that have no name of their own; name each of them")
    for name, each in function.parameters.items():
        if name in function.contexts:
            continue
        if each.annotation is None:
            yield Reason(line, "", f"its parameter {name!r} has no annotation; say what it is: {name}: str")
        elif any(last_name(n) in _FROM_ELSEWHERE for n in ast.walk(each.annotation) if isinstance(n, ast.expr)):
            yield Reason(
                line, "", f"its parameter {name!r} comes from {ast.unparse(each.annotation)}, and not from the caller"
            )
    for default in (*given.defaults, *given.kw_defaults):
        if isinstance(default, ast.Call) and last_name(default.func) in _FROM_ELSEWHERE:
            yield Reason(line, "", f"a parameter comes from {ast.unparse(default)}, and not from the caller")


def _unfit_names(function: Function) -> Iterator[Reason]:
    for node in own_nodes(function.node):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in function.contexts:
            if node.attr not in ON_THE_BRIDGE:
                yield Reason(
                    node.lineno, "MRTR218", f"{node.value.id}.{node.attr} is not there in a resumable function"
                )
        elif isinstance(node, ast.Call) and last_name(node.func) == "get_context":
            yield Reason(
                node.lineno, "", f"{function.name} takes its context from {ast.unparse(node.func)}(); hand ctx on to it"
            )
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and is_ask(function.module, node, function):
            yield Reason(node.lineno, "", f"{node.func.id}() asks through the SDK's session; ask with ctx.elicit")


def _gathers(project: Project, function: Function) -> Iterator[ast.Call]:
    """``asyncio.gather`` of nothing but questions that the context asks."""
    seen: set[ast.Call] = set()
    for call in asks_of(project, function, calls_in(function)):
        around = is_parallel(function, call)
        if around is None or around in seen or last_name(around.func) != "gather" or around.keywords:
            continue
        seen.add(around)
        if function.context is not None and all(_is_own_ask(function, each) for each in around.args):
            yield around


def _is_own_ask(function: Function, node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == function.context
        and is_ask(function.module, node, function)
    )
