"""Who asks: MRTR001, MRTR002, MRTR208 to MRTR210, MRTR216 to MRTR218."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from mrtr_tools.reading.asks import is_ask, is_on_context
from mrtr_tools.reading.functions import Function, Module, dotted, last_name, own_nodes
from mrtr_tools.reading.projects import Project, calls_in
from mrtr_tools.reading.registrations import Role, is_resumable, keyword, role_of
from mrtr_tools.reading.rules import Finding
from mrtr_tools.reading.summaries import written

__all__ = ["IN_ITS_REQUEST", "IN_ITS_SESSION", "ON_THE_BRIDGE", "check_asking", "found", "is_missing", "is_ported"]

ON_THE_BRIDGE: Final = {
    "call_id", "client", "client_capabilities", "client_id", "client_supports_extension", "debug", "elicit",
    "elicit_url", "error", "gather", "handle", "idempotency_key", "info", "is_suspended", "lifespan",
    "lifespan_context", "list_roots", "log", "once", "principal", "report_progress", "request_context", "request_id",
    "round", "sample", "session", "warning",
}  # fmt: skip
"""What the context of a resumable function has."""

IN_ITS_SESSION: Final = {
    "check_client_capability", "client_capabilities", "client_params", "create_message", "elicit", "elicit_form",
    "elicit_url", "list_roots", "report_progress", "send_elicit_complete", "send_log_message",
    "send_progress_notification",
}  # fmt: skip
"""What its ``session`` has."""

IN_ITS_REQUEST: Final = {"lifespan_context", "meta", "request", "request_id", "session"}
"""What its ``request_context`` has."""

_IS_NONE: Final = {"request_context.request", "request_context.meta"}
"""What is None there, so that code which looks first goes on without it."""

_FROM_THREAD: Final = {"anyio.from_thread.run", "asyncio.run", "asyncio.run_coroutine_threadsafe", "anyio.run"}
_BACKGROUND: Final = {"add_task", "add_job", "call_later", "call_soon", "run_in_executor"}


def found(module: Module, node: ast.AST, code: str, reason: str) -> Finding:
    """A finding at a node."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    return Finding(str(module.source.path), line, column + 1, code, reason)


def is_ported(project: Project, function: Function) -> bool:
    """Whether a function runs on the bridge: it is resumable, or called by nothing but what is."""
    return _is_ported(project, function, frozenset())


def _is_ported(project: Project, function: Function, seen: frozenset[Function]) -> bool:
    if is_resumable(function):
        return True
    callers = [
        other
        for other in project.asking - seen
        if other is not function
        and any(project.callee(other.module, call.func, other) is function for call in calls_in(other))
    ]
    return bool(callers) and all(_is_ported(project, each, seen | {function}) for each in callers)


def check_asking(project: Project, module: Module) -> Iterator[Finding]:
    """Report every question, and those that nobody could answer."""
    for function in module.functions:
        if function in project.asking:
            yield from _check_function(project, function)
        else:
            yield from _check_handing_on(project, function)
        if is_resumable(function):
            yield from _check_names(function)
    for node in own_nodes(module.source.tree):
        if isinstance(node, ast.Call) and is_ask(module, node, None):
            yield found(module, node, "MRTR209", f"{written(node)} runs when the file is loaded")


def _check_function(project: Project, function: Function) -> Iterator[Finding]:
    module, role = function.module, role_of(function)
    for call in calls_in(function):
        other = project.callee(module, call.func, function)
        if is_ask(module, call, function):
            yield from _check_ask(project, function, call, role)
        elif other in project.asking:
            code = "MRTR002" if is_ported(project, function) else "MRTR001"
            yield found(module, call, code, f"{function.name} asks through {other.name}")
        if not function.is_async and module.full_name(call.func) in _FROM_THREAD:
            yield found(module, call, "MRTR208", f"{function.name} is sync and asks through {written(call)}")
        if last_name(call.func) in _BACKGROUND and project.asks_through(module, call, function, project.asking):
            yield found(module, call, "MRTR209", f"{written(call)} asks when its request may be over")


def _check_ask(project: Project, function: Function, call: ast.Call, role: Role) -> Iterator[Finding]:
    module, asked = function.module, written(call)
    if role is Role.LIFESPAN:
        yield found(module, call, "MRTR209", f"{asked} in a lifespan: there is no request yet")
    elif role in (Role.MIDDLEWARE, Role.LOW_LEVEL):
        yield found(module, call, "MRTR210", f"{asked} in {role.value}")
    elif not function.is_async and not (role is Role.PLAIN and _is_handed_back(module, call)):
        yield found(module, call, "MRTR208", f"{function.name} is sync, and nobody awaits {asked}")
    else:
        ported = is_ported(project, function)
        yield found(module, call, "MRTR002" if ported else "MRTR001", f"{asked} in {function.name}")
    if last_name(call.func) in ("sample", "create_message") and keyword(call, "tools") is not None:
        yield found(module, call, "MRTR217", f"{asked} with tools= is a loop of rounds that nobody counts")


def _is_looked_at(function: Function, name: str) -> bool:
    """Whether a function also takes a dotted name by itself, such as to see whether it is None."""
    parents = function.module.source.parents
    return any(
        isinstance(node, ast.Attribute) and dotted(node) == name and not isinstance(parents.get(node), ast.Attribute)
        for node in own_nodes(function.node)
    )


def _is_handed_back(module: Module, call: ast.Call) -> bool:
    """Whether a question is returned unasked, so that whoever calls awaits it."""
    return isinstance(module.source.parents.get(call), ast.Return)


def _check_handing_on(project: Project, function: Function) -> Iterator[Finding]:
    if role_of(function) not in (Role.TOOL, Role.OURS) or not function.contexts:
        return
    module = function.module
    for call in calls_in(function):
        given = [*call.args, *(each.value for each in call.keywords)]
        hands_on = any(isinstance(each, ast.Name) and each.id in function.contexts for each in given)
        if hands_on and not is_on_context(call, function) and project.callee(module, call.func, function) is None:
            yield found(module, call, "MRTR216", f"{function.name} hands its context to {written(call)}")


def _check_names(function: Function) -> Iterator[Finding]:
    for node in own_nodes(function.node):
        if isinstance(node, ast.Attribute) and is_missing(function, node):
            reason = f"{ast.unparse(node)} is not there in a resumable function"
            yield found(function.module, node, "MRTR218", reason)


def is_missing(function: Function, node: ast.Attribute) -> bool:
    """Whether a name that is taken from a context is not there on the bridge."""
    on = dotted(node.value)
    if on is None or isinstance(node.value, ast.Call):
        return False
    context, _, inside = on.partition(".")
    if context in function.contexts and inside in _IS_NONE:
        return not _is_looked_at(function, on)
    there = {
        "": ON_THE_BRIDGE,
        "session": IN_ITS_SESSION,
        "request_context": IN_ITS_REQUEST,
        "request_context.session": IN_ITS_SESSION,
    }
    return context in function.contexts and inside in there and node.attr not in there[inside]
