"""How a function becomes part of a server: as a tool of a toolbox, a tool of the SDK or FastMCP, or otherwise."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from typing import Final

from mrtr_tools.reading.functions import Function, Module, dotted, last_name

__all__ = ["Role", "decorator", "decorator_named", "is_resumable", "is_toolbox", "keyword", "registration", "role_of"]


class Role(Enum):
    """What calls a function."""

    OURS = "a tool, prompt, resource or step of a toolbox"
    TOOL = "a tool, prompt or resource of the SDK or FastMCP"
    LOW_LEVEL = "a handler of a low-level server"
    MIDDLEWARE = "a middleware"
    LIFESPAN = "a lifespan"
    PLAIN = "other code"


_TOOL: Final = {"tool", "prompt", "resource"}
_LOW_LEVEL: Final = {
    "call_tool", "list_tools", "get_prompt", "list_prompts", "read_resource", "list_resources",
    "list_resource_templates", "completion", "set_logging_level", "subscribe_resource",
}  # fmt: skip
_MIDDLEWARE: Final = re.compile(
    r"on_(message|request|notification|call_tool|read_resource|get_prompt|initialize|list_\w+)|dispatch|__call__"
)


def role_of(function: Function) -> Role:
    """What calls a function, by its decorators and its class."""
    for each in function.node.decorator_list:
        named, on = last_name(_called(each)), _receiver(each)
        if named in (*_TOOL, "step") and on is not None:
            return Role.OURS if is_toolbox(function.module, on) or _is_marked(function) else Role.TOOL
        if named in _LOW_LEVEL and on is not None and isinstance(each, ast.Call):
            return Role.LOW_LEVEL
    if function.in_class is not None and _MIDDLEWARE.fullmatch(function.name):
        bases = [ast.unparse(base) for base in function.in_class.bases]
        if any("Middleware" in name for name in (*bases, function.in_class.name)):
            return Role.MIDDLEWARE
    if _is_lifespan(function):
        return Role.LIFESPAN
    return Role.PLAIN


def decorator(function: Function, names: set[str] | None = None) -> ast.expr | None:
    """The decorator that registers a function: ``X.tool``, called or not."""
    for each in function.node.decorator_list:
        if last_name(_called(each)) in (names or _TOOL) and _receiver(each) is not None:
            return each
    return None


def decorator_named(function: Function, name: str) -> ast.expr | None:
    """The decorator of a name, with or without a module in front, called or not."""
    return next((each for each in function.node.decorator_list if last_name(_called(each)) == name), None)


def is_resumable(function: Function) -> bool:
    """Whether a function is on the bridge, by its decorator or by ``resumable(function)``."""
    if decorator_named(function, "resumable") is not None:
        return True
    return function.name in _made_resumable(function.module)


@lru_cache(maxsize=256)
def _made_resumable(module: Module) -> frozenset[str]:
    calls = (node for node in ast.walk(module.source.tree) if isinstance(node, ast.Call))
    given = (call.args[0] for call in calls if last_name(call.func) == "resumable" and call.args)
    return frozenset(each.id for each in given if isinstance(each, ast.Name))


def registration(function: Function) -> ast.Call | None:
    """The call that registers a function, where no decorator does: ``mcp.tool()(f)``, ``mcp.tool(f)``, or
    ``mcp.add_tool(f)``."""
    module = function.module
    for node in ast.walk(module.source.tree):
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.value.args):
            continue
        call, given = node.value, node.value.args[0]
        inner = call.func.func if isinstance(call.func, ast.Call) else call.func
        named = last_name(inner)
        if named not in ("tool", "add_tool") or not isinstance(given, ast.Name) or not isinstance(inner, ast.Attribute):
            continue
        server = dotted(inner.value)
        if (
            module.find(given.id, module.function_around(node)) is function
            and server
            and not is_toolbox(module, server)
        ):
            return call
    return None


def is_toolbox(module: Module, name: str) -> bool:
    """Whether a name is bound to a `Toolbox`, or sounds as if it were."""
    made_by = _made_by(module).get(name)
    return made_by == "Toolbox" if made_by is not None else "toolbox" in name.rpartition(".")[2].lower()


@lru_cache(maxsize=256)
def _made_by(module: Module) -> Mapping[str, str]:
    """For each name that is bound to a call, what was called."""
    made: dict[str, str] = {}
    for node in ast.walk(module.source.tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Call):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (dotted(target) for target in targets)
            made |= {each: last_name(node.value.func) for each in names if each is not None and each not in made}
    return made


def keyword(call: ast.expr | None, name: str) -> ast.expr | None:
    """What is given for a keyword of a call, or None."""
    if not isinstance(call, ast.Call):
        return None
    return next((each.value for each in call.keywords if each.arg == name), None)


def _is_marked(function: Function) -> bool:
    return is_resumable(function) or decorator_named(function, "needs_input") is not None


def _called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _receiver(node: ast.expr) -> str | None:
    called = _called(node)
    return dotted(called.value) if isinstance(called, ast.Attribute) else None


def _is_lifespan(function: Function) -> bool:
    return "lifespan" in function.name or function.name in _lifespans(function.module)


@lru_cache(maxsize=256)
def _lifespans(module: Module) -> frozenset[str]:
    calls = (node for node in ast.walk(module.source.tree) if isinstance(node, ast.Call))
    given = (keyword(call, "lifespan") for call in calls)
    return frozenset(each.id for each in given if isinstance(each, ast.Name))
