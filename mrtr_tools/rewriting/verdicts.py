"""Which tools can go on the bridge, and why others cannot."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from mrtr_tools.reading.asked_secrets import check_secrets, hidden_fields
from mrtr_tools.reading.asking import check_asking, is_missing
from mrtr_tools.reading.asks import is_ask, shape_of
from mrtr_tools.reading.effects import Kind
from mrtr_tools.reading.flows import asks_of, before_questions
from mrtr_tools.reading.functions import Function, Module, dotted, last_name, own_nodes
from mrtr_tools.reading.projects import Project, calls_in
from mrtr_tools.reading.registrations import Role, decorator, role_of
from mrtr_tools.reading.reruns import check_reruns, varying
from mrtr_tools.reading.rules import Finding
from mrtr_tools.reading.sharing import check_sharing
from mrtr_tools.reading.summaries import deed_of
from mrtr_tools.reading.surroundings import check_surroundings, is_parallel
from mrtr_tools.rewriting.decorated import refused_options, told_options
from mrtr_tools.rewriting.dialects import BRIDGE, GONE, LOOKED_UP, V1
from mrtr_tools.rewriting.edits import is_placed
from mrtr_tools.rewriting.fresh_values import Fresh, fresh_value
from mrtr_tools.rewriting.onces import can_run_once
from mrtr_tools.rewriting.outcomes import Reason

__all__ = ["CONTEXT", "OF_THE_SERVER", "Plan", "looked_up", "plans_of"]

CONTEXT: Final = "ctx"
"""What a parameter for the context is called, where there was none."""

OF_THE_SERVER: Final = {"fastmcp", "mcp_server"}
"""What a context calls the server that it is of."""

_REFUSED: Final = {"MRTR203", "MRTR207", "MRTR208", "MRTR209", "MRTR210", "MRTR214", "MRTR217"}
_TOLD: Final = {"MRTR101", "MRTR102", "MRTR103", "MRTR201", "MRTR202", "MRTR205", "MRTR212", "MRTR213", "MRTR215"}
_FROM_ELSEWHERE: Final = {
    "Depends",
    "Resolve",
    "CurrentFastMCP",
    "CurrentRequest",
    "CurrentHeaders",
    "CurrentAccessToken",
}
SAMPLED: Final = {"messages", "system_prompt", "temperature", "max_tokens", "model_preferences"}
"""What ``ctx.sample`` takes on the bridge."""

_RESULTS: Final = {"ToolResult", "CreateTaskResult", "InputRequiredResult"}


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
    has_server = is_at_top(function.module, plan.server)
    for each in reached:
        plan.refused += _unfit_names(each, has_server=has_server and each.module is function.module)
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
            yield Reason(
                line, code, f"{deed.what} would act again in each round, until line {before.question} is answered"
            )


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


def is_at_top(module: Module, name: str) -> bool:
    """Whether a name is bound where the file is loaded, so that all of its functions see it."""
    bound = {
        target.id
        for node in module.source.tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return name in bound or name in module.imports


@lru_cache(maxsize=64)
def _findings(project: Project, module: Module) -> tuple[Finding, ...]:
    checks = (check_asking, check_reruns, check_surroundings, check_sharing, check_secrets)
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
    if function.context is None and not any(looked_up(each) for each in plan.reached):
        yield Reason(line, "", "it has no parameter for its context; take ctx: Context, and hand it on")
    if function.context is None and CONTEXT in function.parameters:
        yield Reason(line, "", f"its parameter {CONTEXT} is no context; give it another name")
    if not plan.server.isidentifier():
        yield Reason(line, "", f"its server is {plan.server}, which is no plain name")
    if node.returns is not None and any(name in ast.unparse(node.returns) for name in _RESULTS):
        yield Reason(line, "", f"it returns {ast.unparse(node.returns)}; return the content itself")
    yield from _gone(function.module, plan.server)
    yield from refused_options(function.module, plan.registered)
    yield from _unfit_parameters(function)


def _gone(module: Module, server: str) -> Iterator[Reason]:
    """What a server of version 1 of the SDK had, and one of version 2 has not."""
    if not _is_v1(module):
        return
    for node in ast.walk(module.source.tree):
        if not isinstance(node, ast.Attribute):
            continue
        on, _, name = (dotted(node) or "").partition(".")
        if on == server and name in GONE:
            yield Reason(node.lineno, "", f"the file uses {on}.{name}, which version 2 of the SDK does not have")


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


def _unfit_names(function: Function, *, has_server: bool) -> Iterator[Reason]:
    for node in own_nodes(function.node):
        if isinstance(node, ast.Attribute) and is_missing(function, node):
            if not (has_server and node.attr in OF_THE_SERVER and is_placed(function.module.source, node)):
                yield Reason(node.lineno, "MRTR218", f"{ast.unparse(node)} is not there in a resumable function")
        elif isinstance(node, ast.Call):
            yield from _unfit_call(function, node)


def looked_up(function: Function) -> list[ast.Call]:
    """The calls of a function that look its context up, in a way that the bridge has too."""
    module = function.module
    found = [call for call in calls_in(function) if last_name(call.func) == "get_context" and not call.args]
    known = (*LOOKED_UP, f"{BRIDGE}.get_context")
    return [
        call
        for call in found
        if module.full_name(call.func) in known
        or (isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and _is_v1(module))
    ]


def _is_v1(module: Module) -> bool:
    return any(name.startswith(V1) for name in module.imports.values())


def _unfit_call(function: Function, call: ast.Call) -> Iterator[Reason]:
    name, line = last_name(call.func), call.lineno
    if name == "get_context" and call not in looked_up(function):
        yield Reason(line, "", f"{function.name} takes its context from {ast.unparse(call.func)}(); hand ctx on to it")
    elif not is_ask(function.module, call, function):
        return
    elif isinstance(call.func, ast.Name):
        yield Reason(line, "", f"{name}() asks through the SDK's session; ask with ctx.elicit")
    elif hidden := hidden_fields(function, shape_of(call)):
        yield Reason(line, "MRTR215", f"it asks for {', '.join(hidden)} in a form, and no form asks for a secret")
    elif name in ("sample", "sample_step"):
        for each in call.keywords:
            if each.arg not in SAMPLED:
                yield Reason(
                    line, "", f"{ast.unparse(call.func)} has no {each.arg}= on the bridge; use Sample in a step"
                )


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
