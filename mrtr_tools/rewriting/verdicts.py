"""Which tools can go on the bridge, and why others cannot."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from mrtr_tools.reading.asked_fields import check_fields
from mrtr_tools.reading.asked_secrets import check_secrets
from mrtr_tools.reading.asking import check_asking
from mrtr_tools.reading.effects import Kind
from mrtr_tools.reading.flows import asks_of, before_questions
from mrtr_tools.reading.functions import Function, Module, last_name
from mrtr_tools.reading.projects import Project, calls_in
from mrtr_tools.reading.registrations import Role, decorator, is_resumable, registration, role_of
from mrtr_tools.reading.reruns import check_reruns, varying
from mrtr_tools.reading.rules import Finding
from mrtr_tools.reading.sharing import check_sharing
from mrtr_tools.reading.summaries import deed_of, written
from mrtr_tools.reading.surroundings import check_surroundings, is_parallel
from mrtr_tools.rewriting.decorated import options_of, told_options
from mrtr_tools.rewriting.edits import is_placed
from mrtr_tools.rewriting.fresh_values import Fresh, fresh_value
from mrtr_tools.rewriting.onces import can_run_once
from mrtr_tools.rewriting.outcomes import Reason
from mrtr_tools.rewriting.unfit import is_at_top, unfit, unfit_names

__all__ = ["Plan", "plans_of"]

_REFUSED: Final = {"MRTR203", "MRTR207", "MRTR208", "MRTR209", "MRTR210", "MRTR214", "MRTR217", "MRTR219"}
_TOLD: Final = {"MRTR101", "MRTR102", "MRTR103", "MRTR201", "MRTR202", "MRTR205", "MRTR212", "MRTR213", "MRTR215"}


@dataclass(slots=True, eq=False)
class Plan:
    """What to do with one tool that asks.

    Attributes:
        function: the tool.
        registered: its decorator.
        reached: the functions of this file that ask for it, itself among them.
        onces: calls that go into ``ctx.once``.
        gathers: calls that become ``ctx.gather``.
        fresh: values that a question shows and that are made once, by the statement that makes them.
        refused: why it stays as it is.
        told: what a person must decide, by the function that it is in.
    """

    function: Function
    registered: ast.expr
    reached: Sequence[Function] = ()
    onces: list[ast.Call] = field(default_factory=list[ast.Call])
    gathers: list[ast.Call] = field(default_factory=list[ast.Call])
    fresh: dict[ast.Assign, Fresh] = field(default_factory=dict[ast.Assign, Fresh])
    refused: list[Reason] = field(default_factory=list[Reason])
    told: list[tuple[Function, Reason]] = field(default_factory=list[tuple[Function, Reason]])

    @property
    def server(self) -> str:
        """The name of the server that it is on."""
        called = options_of(self.registered).func
        return ast.unparse(called.value) if isinstance(called, ast.Attribute) else ""


def plans_of(project: Project, module: Module) -> list[Plan]:
    """A plan for each tool of a file that asks and is on no toolbox."""
    plans: list[Plan] = []
    for function in module.functions:
        if function not in project.asking or is_resumable(function):
            continue
        registered = decorator(function) if role_of(function) is Role.TOOL else registration(function)
        if registered is not None:
            plan = Plan(function, registered)
            _fill(project, plan)
            plans.append(plan)
    return plans


def _fill(project: Project, plan: Plan) -> None:
    function = plan.function
    reached = _reached(project, function)
    plan.reached = [each for each in reached if each.module is function.module]
    plan.refused += unfit(function, plan.registered, plan.server, plan.reached)
    plan.told += [(function, reason) for reason in told_options(options_of(plan.registered))]
    has_server = is_at_top(function.module, plan.server)
    for each in reached:
        plan.refused += unfit_names(each, has_server=has_server and each.module is function.module)
        plan.gathers += _gathers(project, each)
        plan.onces += _onces(project, each)
        plan.refused += _acting(project, plan, each)
        for asked, made_by, deed in varying(project, each):
            fresh = fresh_value(each, made_by)
            if (
                fresh is not None
                and each.module is function.module
                and is_placed(each.module.source, fresh.statement.value)
            ):
                plan.fresh.setdefault(fresh.statement, fresh)
            elif made_by not in plan.onces and deed.kind in (Kind.CLOCK, Kind.RANDOM):
                reason = f"a question shows what {deed.what} gives, and is another one in each round"
                plan.refused.append(Reason(asked.lineno, "MRTR106", reason))
    for module in {each.module for each in reached}:
        _take_findings(project, plan, module, [each for each in reached if each.module is module])


def _onces(project: Project, function: Function) -> Iterator[ast.Call]:
    for before in before_questions(project).get(function, ()):
        deed = deed_of(project, function.module, before.call, function)
        if deed is None or not can_run_once(project, before) or not is_placed(function.module.source, before.call):
            continue
        if deed.kind is not Kind.LIVE or isinstance(function.module.source.parents.get(before.call), ast.Await):
            yield before.call


def _acting(project: Project, plan: Plan, function: Function) -> Iterator[Reason]:
    for before in before_questions(project).get(function, ()):
        deed = deed_of(project, function.module, before.call, function)
        if deed is not None and deed.is_grave and before.call not in plan.onces:
            line, code = before.call.lineno, deed.kind.value
            told = f"{written(before.call)}, through {deed.what} of {deed.through}," if deed.through else deed.what
            yield Reason(line, code, f"{told} would act again in each round, until line {before.question} is answered")


def _take_findings(project: Project, plan: Plan, module: Module, reached: Sequence[Function]) -> None:
    done = {(call.lineno, call.col_offset + 1) for call in (*plan.onces, *plan.gathers)}
    done |= {(n.lineno, n.col_offset + 1) for each in plan.fresh for n in ast.walk(each) if isinstance(n, ast.Call)}
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


@lru_cache(maxsize=64)
def _findings(project: Project, module: Module) -> tuple[Finding, ...]:
    checks = (check_asking, check_reruns, check_surroundings, check_sharing, check_secrets, check_fields)
    return tuple(finding for check in checks for finding in check(project, module))


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


def _gathers(project: Project, function: Function) -> Iterator[ast.Call]:
    """``asyncio.gather`` of coroutines alone, which the context can drive one after the other."""
    seen: set[ast.Call] = set()
    for call in asks_of(project, function, calls_in(function)):
        around = is_parallel(function, call)
        if around is None or around in seen or function.module.full_name(around.func) != "asyncio.gather":
            continue
        seen.add(around)
        fits = not around.keywords and all(_is_coroutine(each) for each in around.args)
        if function.context is not None and fits and is_placed(function.module.source, around):
            yield around


def _is_coroutine(node: ast.expr) -> bool:
    """Whether something given to ``gather`` is called there, and is no task."""
    if isinstance(node, ast.Starred):
        node = node.value
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        node = node.elt
    return isinstance(node, ast.Call) and last_name(node.func) not in ("create_task", "ensure_future")
