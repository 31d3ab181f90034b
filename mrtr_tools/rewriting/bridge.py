"""The bridge edit: tools that ask in their body go to a toolbox, as resumables; everything else stays as it is."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator
from typing import Final

import libcst as cst

from mrtr_tools.reading.functions import Function, Module, dotted, last_name, own_nodes
from mrtr_tools.reading.projects import Project
from mrtr_tools.reading.sources import Source
from mrtr_tools.rewriting.beyond_reach import beyond_reach
from mrtr_tools.rewriting.contexts import can_swap, change_imports, strip_parameters
from mrtr_tools.rewriting.decorated import decorator_on, registration_on
from mrtr_tools.rewriting.dialects import BRIDGE
from mrtr_tools.rewriting.edits import Change, Edits, apply, span_of
from mrtr_tools.rewriting.fresh_values import Fresh
from mrtr_tools.rewriting.notes import note
from mrtr_tools.rewriting.options import move_options
from mrtr_tools.rewriting.outcomes import Outcome, Reason, Rewritten, Verdict
from mrtr_tools.rewriting.placing import Insertion, Place, free_name, last_import, place_for
from mrtr_tools.rewriting.substitutions import text_of
from mrtr_tools.rewriting.unfit import CONTEXT, OF_THE_SERVER, looked_up
from mrtr_tools.rewriting.verdicts import Plan, plans_of

__all__ = ["to_bridge"]

_NAMES: Final = {
    "Toolbox": "mrtr_tools",
    "Context": BRIDGE,
    "get_context": BRIDGE,
    "resumable": BRIDGE,
    "attach": "mrtr_tools.server",
}


MANY: Final = 2
SHARED_KEYS: Final = (
    "this is a second toolbox in one process: read the keys once, keys = mrtr_tools.keys.keys_from_environment(), and "
    "give keys=keys to each attach"
)


def to_bridge(source: Source) -> Rewritten:
    """Put the tools of a file that ask in their body on the bridge.

    What cannot go there stays as it is, with a note above it that says why. Running it again changes nothing.
    """
    project = Project([source])
    module = project.given[0]
    plans = plans_of(project, module)
    for plan in plans:
        plan.refused += _clashes(module, plan)
    _keep_lookups_together(module, plans)
    edits, ported = Edits(), [plan for plan in plans if not plan.refused]
    if ported:
        _edit_file(module, edits, ported)
    for plan in plans:
        note(source, edits, plan)
    others = beyond_reach(project, module, [each for plan in plans for each in plan.reached])
    outcomes = [*(_outcome(plan) for plan in plans), *others]
    return Rewritten(apply(source, edits) if plans else source.text, outcomes)


def _outcome(plan: Plan) -> Outcome:
    reasons = plan.refused or [reason for _, reason in plan.told]
    verdict = Verdict.REFUSED if plan.refused else Verdict.PORTED
    return Outcome(plan.function.name, plan.function.node.lineno, verdict, list(dict.fromkeys(reasons)))


def _clashes(module: Module, plan: Plan) -> Iterator[Reason]:
    """Names of ours that mean something else in the file."""
    for name, origin in _NAMES.items():
        there = module.imports.get(name)
        is_own = module.find(name, None) is not None
        if name not in ("Context", "get_context") and (is_own or (there is not None and there != f"{origin}.{name}")):
            yield Reason(plan.function.node.lineno, "", f"{name} is the name of something else in this file")


def _keep_lookups_together(module: Module, plans: list[Plan]) -> None:
    """Refuse what looks its context up as long as anything else of the file does so too, that stays where it is."""
    while True:
        ported = {each for plan in plans if not plan.refused for each in plan.reached}
        others = [each for each in module.functions if each not in ported and looked_up(each)]
        mixed = [plan for plan in plans if not plan.refused and any(looked_up(each) for each in plan.reached)]
        if not others or not mixed:
            return
        for plan in mixed:
            told = f"it looks its context up, as {others[0].name} does, which is not ported; take ctx: Context"
            plan.refused.append(Reason(plan.function.node.lineno, "", told))


def _edit_file(module: Module, edits: Edits, ported: list[Plan]) -> None:
    needed = {"Toolbox", "resumable"}
    places: dict[tuple[str, Function | None], Place] = {}
    for plan in ported:
        around = module.function_around(plan.registered) if not _is_decorated(plan) else plan.function.owner
        key = (plan.server, around)
        if key not in places:
            places[key] = place_for(module, plan.server, around, {each.toolbox for each in places.values()})
            _insert(module.source, edits, places[key].insertions)
            needed |= {"attach"} if places[key].attaches else set()
            if sum(each.attaches for each in places.values()) == MANY:
                plan.told.append((plan.function, Reason(plan.function.node.lineno, "", SHARED_KEYS)))
        _edit_tool(module, edits, plan, places[key].toolbox)
    _name_servers(module, edits, ported)
    for call, context in {call: _context(module, call) for plan in ported for call in plan.gathers}.items():
        edits.change(module.source, cst.Call, call, _gathering(context))
    for call, context in {call: _context(module, call) for plan in ported for call in plan.onces}.items():
        is_awaited = isinstance(module.source.parents.get(call), ast.Await)
        edits.change(module.source, cst.Call, call, _once(context, is_awaited=is_awaited))
    _make_once(module, edits, [fresh for plan in ported for fresh in plan.fresh.values()])
    lookups = {call for plan in ported for each in plan.reached for call in looked_up(each)}
    for call in lookups:
        edits.change(module.source, cst.Call, call, _looking_up)
    needed |= {"get_context"} if lookups else set()
    needed |= {"Context"} if any(plan.function.context is None for plan in ported) else set()
    swaps = can_swap(module, [each for plan in ported for each in plan.reached])
    needed |= {"Context"} if swaps else set()
    edits.imports = change_imports(swaps=swaps, looks_up=bool(lookups))
    strip_parameters(module, edits, swaps=swaps)
    for reason in move_options(module, edits, {plan.server for plan in ported}):
        ported[0].told.append((ported[0].function, reason))
    _import(module, edits, needed, ours={"get_context", *({"Context"} if swaps else set())})


def _context(module: Module, call: ast.Call) -> str:
    function = module.function_around(call)
    return (function.context if function is not None else None) or "ctx"


def _name_servers(module: Module, edits: Edits, ported: list[Plan]) -> None:
    """``ctx.fastmcp`` is the server, which has a name of its own in the file."""
    servers = {function: plan.server for plan in ported for function in plan.reached}
    for function, server in servers.items():
        for node in own_nodes(function.node):
            on_context = isinstance(node, ast.Attribute) and dotted(node.value) in function.contexts
            if isinstance(node, ast.Attribute) and on_context and node.attr in OF_THE_SERVER:
                edits.change(module.source, cst.Attribute, node, _named(server))


def _named(server: str) -> Change:
    return lambda _: cst.Name(server)


def _make_once(module: Module, edits: Edits, values: Iterable[Fresh]) -> None:
    """Put what makes a value into a function, which is run once."""
    made: dict[str, str] = {}
    for each in dict.fromkeys(values):
        code = text_of(module.source, each.statement.value, ())
        if code not in made:
            made[code] = free_name(module.source, f"new_{each.name.lower()}", set(made.values()))
            function = f"def {made[code]}() -> {each.annotation}:\n    return {code}"
            top = module.source.tree.body
            above = next(
                node for node in top if node.lineno <= each.statement.lineno <= (node.end_lineno or node.lineno)
            )
            edits.functions.setdefault(span_of(module.source, above)[:2], []).append(function)
        once = f"await {each.function.context}.once({made[code]})"
        edits.change(module.source, cst.Assign, each.statement, _assigning(once))


def _assigning(code: str) -> Change:
    return lambda node: node.with_changes(value=cst.parse_expression(code))


def _gathering(context: str) -> Change:
    def change(call: cst.Call) -> cst.Call:
        return call.with_changes(func=cst.parse_expression(f"{context}.gather"))

    return change


def _once(context: str, *, is_awaited: bool) -> Change:
    def change(call: cst.Call) -> cst.BaseExpression:
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")) if call.args else cst.MaybeSentinel.DEFAULT
        first = cst.Arg(call.func.with_changes(), comma=comma)
        once = call.with_changes(func=cst.parse_expression(f"{context}.once"), args=[first, *call.args])
        return once if is_awaited else cst.Await(once)

    return change


# A tool


def _edit_tool(module: Module, edits: Edits, plan: Plan, toolbox: str) -> None:
    source, function = module.source, plan.function
    if _is_decorated(plan):
        edits.change(source, cst.FunctionDef, function.node, _decorated(module, plan, toolbox))
    elif isinstance(plan.registered, ast.Call):
        code = registration_on(module, toolbox, plan.registered, function.name)
        edits.change(source, cst.Call, plan.registered, _written(code))
    if function.context is None:
        edits.change(source, cst.FunctionDef, function.node, _taking_context)
    given = function.node.args
    defaults = dict(zip(reversed([*given.posonlyargs, *given.args]), reversed(given.defaults), strict=False))
    defaults |= {
        arg: value for arg, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value is not None
    }
    for arg, default in defaults.items():
        is_none = isinstance(default, ast.Constant) and default.value is None
        if (
            is_none
            and arg.annotation is not None
            and not _admits_none(arg.annotation)
            and arg.arg not in function.contexts
        ):
            edits.change(source, cst.Param, arg, _or_none)


def _is_decorated(plan: Plan) -> bool:
    return plan.registered in plan.function.node.decorator_list


def _decorated(module: Module, plan: Plan, toolbox: str) -> Change:
    place = plan.function.node.decorator_list.index(plan.registered)

    def decorate(node: cst.FunctionDef) -> cst.FunctionDef:
        written = list(node.decorators)
        on_toolbox = decorator_on(module, toolbox, plan.registered, written[place])
        mark = cst.Decorator(cst.Name("resumable"))
        return node.with_changes(decorators=[*written[:place], on_toolbox, mark, *written[place + 1 :]])

    return decorate


def _written(code: str) -> Change:
    return lambda _: cst.parse_expression(code)


def _taking_context(node: cst.FunctionDef) -> cst.FunctionDef:
    first = cst.Param(cst.Name(CONTEXT), cst.Annotation(cst.Name("Context")))
    return node.with_changes(params=node.params.with_changes(params=[first, *node.params.params]))


def _looking_up(call: cst.Call) -> cst.Call:
    return call.with_changes(func=cst.Name("get_context"))


def _admits_none(annotation: ast.expr) -> bool:
    names = {last_name(node) for node in ast.walk(annotation) if isinstance(node, ast.expr)}
    has_none = any(isinstance(node, ast.Constant) and node.value is None for node in ast.walk(annotation))
    is_text = isinstance(annotation, ast.Constant)
    return has_none or is_text or bool(names & {"Optional", "Any", "None", "object"})


def _or_none(node: cst.Param) -> cst.Param:
    if node.annotation is None:
        return node
    both = cst.BinaryOperation(node.annotation.annotation, cst.BitOr(), cst.Name("None"))
    return node.with_changes(annotation=node.annotation.with_changes(annotation=both))


# A file


def _insert(source: Source, edits: Edits, insertions: Iterable[Insertion]) -> None:
    for each in insertions:
        if each.anchor is None:
            (edits.end if each.after else edits.top).extend(each.lines)
        else:
            where = edits.after if each.after else edits.before
            where.setdefault(span_of(source, each.anchor)[:2], []).extend(each.lines)


def _import(module: Module, edits: Edits, needed: set[str], *, ours: set[str]) -> None:
    by_origin: dict[str, list[str]] = {}
    for name in sorted(needed):
        if module.imports.get(name) != f"{_NAMES[name]}.{name}" and (name not in module.imports or name in ours):
            by_origin.setdefault(_NAMES[name], []).append(name)
    lines = [f"from {origin} import {', '.join(names)}" for origin, names in sorted(by_origin.items())]
    first_use = min((line for line, _ in (*edits.after, *edits.before)), default=math.inf)
    anchor = last_import(module.source, until=first_use)
    if anchor is None:
        edits.top[:0] = lines
    else:
        at = span_of(module.source, anchor)[:2]
        edits.after[at] = [*lines, *edits.after.get(at, [])]
