"""Why a tool cannot be resumable as it is: its signature, its decorator, and what it takes from its context."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from mrtr_tools.reading.asked_secrets import hidden_fields
from mrtr_tools.reading.asking import is_missing
from mrtr_tools.reading.asks import is_ask, shape_of
from mrtr_tools.reading.functions import Function, Module, dotted, last_name, own_nodes
from mrtr_tools.reading.projects import calls_in
from mrtr_tools.rewriting.decorated import options_of, refused_options
from mrtr_tools.rewriting.dialects import BRIDGE, GONE, LOOKED_UP, OF_V1
from mrtr_tools.rewriting.edits import is_placed
from mrtr_tools.rewriting.options import refused_servers
from mrtr_tools.rewriting.outcomes import Reason

__all__ = ["CONTEXT", "OF_THE_SERVER", "is_at_top", "looked_up", "unfit", "unfit_names"]

CONTEXT: Final = "ctx"
"""What a parameter for the context is called, where there was none."""

OF_THE_SERVER: Final = {"fastmcp", "mcp_server"}
"""What a context calls the server that it is of."""

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

_RESULTS: Final = {"CreateTaskResult", "InputRequiredResult"}


def unfit(function: Function, registered: ast.expr, server: str, reached: Iterable[Function]) -> Iterator[Reason]:
    """Why a tool cannot be resumable as it is defined and registered.

    Args:
        function: the tool.
        registered: the decorator or the call that registers it.
        server: the name of its server.
        reached: the functions that ask for it, itself among them.
    """
    node, options = function.node, options_of(registered)
    line, named = node.lineno, last_name(options.func)
    if named not in ("tool", "add_tool"):
        yield Reason(line, "", f"only tools can be resumable, and this is a {named}; write it in steps")
    if function.in_class is not None:
        yield Reason(line, "", "it is a method; make it a function")
    if not function.is_async:
        yield Reason(line, "MRTR208", "it is sync: make it async, and await its questions")
    if function.context is None and not any(looked_up(each) for each in reached):
        yield Reason(line, "", "it has no parameter for its context; take ctx: Context, and hand it on")
    if function.context is None and CONTEXT in function.parameters:
        yield Reason(line, "", f"its parameter {CONTEXT} is no context; give it another name")
    if not all(part.isidentifier() for part in server.split(".")) or ("." in server and function.owner is None):
        yield Reason(line, "", f"its server is {server}, which is no plain name")
    if node.returns is not None and any(name in ast.unparse(node.returns) for name in _RESULTS):
        yield Reason(line, "", f"it returns {ast.unparse(node.returns)}; return the content itself")
    yield from _gone(function.module, server)
    yield from refused_servers(function.module, server)
    yield from refused_options(function.module, options)
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


def unfit_names(function: Function, *, has_server: bool) -> Iterator[Reason]:
    """What a function that asks uses, and the bridge does not have.

    Args:
        function: the tool, or what asks for it.
        has_server: whether the server has a name that the function sees.
    """
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
    return any(name.startswith(OF_V1) for name in module.imports.values())


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
