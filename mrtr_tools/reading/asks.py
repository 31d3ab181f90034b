"""Which calls are questions: to a person, to the client's model, or to the client."""

from __future__ import annotations

import ast
import re
from typing import Final

from mrtr_tools.reading.functions import Function, Module, dotted, last_name

__all__ = ["ASKING", "gives_an_ask", "is_ask", "is_on_context", "message_of", "page_of", "shape_of"]

ASKING: Final = {"elicit", "elicit_form", "elicit_url", "sample", "sample_step", "create_message", "list_roots"}
"""The names of the methods that ask."""

_UNMISTAKABLE: Final = {"elicit", "elicit_form", "elicit_url", "create_message"}
_FUNCTIONS: Final = {"mcp.server.elicitation.elicit_with_validation", "mcp.server.elicitation.elicit_url"}
_RECEIVER: Final = re.compile(r"(^|[._])(ctx|context|session)$")


def is_ask(module: Module, call: ast.Call, function: Function | None) -> bool:
    """Whether a call asks by itself, not through another function."""
    if module.full_name(call.func) in _FUNCTIONS:
        return True
    return isinstance(call.func, ast.Attribute) and _asks(module, call.func, function)


def gives_an_ask(module: Module, call: ast.Call, function: Function | None) -> bool:
    """Whether a call is given what asks, to call it: ``anyio.from_thread.run(ctx.elicit, ...)``."""
    given = (*call.args, *(each.value for each in call.keywords))
    return any(isinstance(each, ast.Attribute) and _asks(module, each, function) for each in given)


def _asks(module: Module, method: ast.Attribute, function: Function | None) -> bool:
    if method.attr not in ASKING:
        return False
    receiver = dotted(method.value)
    if receiver is None or module.full_name(method.value) in ("random", "numpy.random"):
        return False
    if receiver == "self" and function is not None and _is_own_method(function, method.attr):
        return False
    if method.attr in _UNMISTAKABLE:
        return True
    first = receiver.partition(".")[0]
    return _RECEIVER.search(receiver) is not None or (function is not None and first in function.contexts)


def _is_own_method(function: Function, name: str) -> bool:
    """Whether the class of a method has another one of that name, which asks itself if anything does."""
    body = function.in_class.body if function.in_class is not None else []
    return any(isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) and each.name == name for each in body)


def is_on_context(call: ast.Call, function: Function | None, method: str | None = None) -> bool:
    """Whether a call is ``ctx.method(...)``, or any method of a context."""
    if not isinstance(call.func, ast.Attribute) or method not in (None, call.func.attr):
        return False
    receiver = dotted(call.func.value)
    if receiver is None or function is None:
        return False
    return receiver.partition(".")[0] in function.contexts


def message_of(call: ast.Call) -> ast.expr | None:
    """What is said to whom is asked."""
    named = {each.arg: each.value for each in call.keywords}
    for name in ("message", "messages", "prompt"):
        if name in named:
            return named[name]
    return call.args[0] if call.args else None


def shape_of(call: ast.Call) -> ast.expr | None:
    """The form of a question: a class, a type, choices, or a schema."""
    named = {each.arg: each.value for each in call.keywords}
    for name in ("schema", "response_type", "requestedSchema", "requested_schema"):
        if name in named:
            return named[name]
    if last_name(call.func) in ("elicit", "elicit_form") and len(call.args) > 1:
        return call.args[1]
    return None


def page_of(call: ast.Call) -> ast.expr | None:
    """The address of the page that is to be opened."""
    if last_name(call.func) != "elicit_url":
        return None
    named = {each.arg: each.value for each in call.keywords}
    return named["url"] if "url" in named else (call.args[1] if len(call.args) > 1 else None)
