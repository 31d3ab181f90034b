"""What the decorator of a tool of the SDK or FastMCP becomes on a toolbox, option by option."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Final

import libcst as cst

from mrtr_tools.reading.functions import Module, last_name
from mrtr_tools.rewriting.outcomes import Reason

__all__ = ["decorator_on", "options_of", "refused_options", "registration_on", "told_options"]

KEPT: Final = {"name", "title", "description", "annotations"}
DROPPED: Final[Mapping[str, str]] = {
    "tags": "a toolbox has no tags",
    "icons": "a toolbox has no icons",
    "meta": "a toolbox has no _meta of tools",
    "output_schema": "the return annotation says what comes out",
    "structured_output": "the return annotation says what comes out",
    "timeout": "people take longer than code; ttl= says how long they may",
    "version": "a toolbox tells no versions of tools to clients",
    "exclude_args": "what is no argument has no place among the parameters",
    "serializer": "results are text or what the return annotation says",
    "app": "a toolbox has no apps",
    "run_in_thread": "an async tool runs in no thread",
}
REFUSED: Final[Mapping[str, str]] = {
    "auth": "auth= checks who calls, and a toolbox has no such check: let the tool do it",
    "task": "task= is of FastMCP's own tasks",
    "enabled": "enabled= hides a tool, and a toolbox shows all of its tools",
}


def refused_options(module: Module, decorator: ast.expr) -> list[Reason]:
    """The options without which the tool would be another one."""
    if not isinstance(decorator, ast.Call):
        return []
    line = decorator.lineno
    refused = [
        Reason(line, "", REFUSED[each.arg])
        for each in decorator.keywords
        if each.arg in REFUSED and not _is_usual(each)
    ]
    for each in decorator.keywords:
        if each.arg is None:
            refused.append(Reason(line, "", "the options of the tool are not written out"))
        elif each.arg not in (*KEPT, *DROPPED, *REFUSED):
            refused.append(Reason(line, "", f"{each.arg}= is an option that is not known here"))
        elif each.arg == "annotations" and _annotations(module, each.value) is None:
            refused.append(
                Reason(line, "", f"annotations={ast.unparse(each.value)} comes from elsewhere; write a dict")
            )
    if len(decorator.args) > 1 or any(not _is_text(each) for each in decorator.args):
        refused.append(Reason(line, "", "the tool is registered in a way that is not known here"))
    return refused


def told_options(decorator: ast.expr) -> list[Reason]:
    """What is left out that its author may miss."""
    given = decorator.keywords if isinstance(decorator, ast.Call) else []
    return [
        Reason(decorator.lineno, "", f"{each.arg}={ast.unparse(each.value)[:60]} was left out: {DROPPED[each.arg]}")
        for each in given
        if each.arg in DROPPED
    ]


def decorator_on(module: Module, toolbox: str, written: ast.expr, node: cst.Decorator) -> cst.Decorator:
    """The same decorator on a toolbox."""
    called = cst.parse_expression(f"{toolbox}.tool")
    if not isinstance(node.decorator, cst.Call) or not isinstance(written, ast.Call):
        return node.with_changes(decorator=called)
    values = {each.arg: each.value for each in written.keywords}
    kept: list[cst.Arg] = []
    for each in node.decorator.args:
        if each.keyword is None:
            kept.append(each.with_changes(keyword=cst.Name("name"), equal=_EQUAL))
        elif each.keyword.value == "annotations":
            kept.append(each.with_changes(value=_as_dict(module, values["annotations"], each.value)))
        elif each.keyword.value in KEPT:
            kept.append(each)
    if not kept:
        return node.with_changes(decorator=called)
    kept[-1] = kept[-1].with_changes(comma=node.decorator.args[-1].comma)  # what closes it stands after the last one
    return node.with_changes(decorator=node.decorator.with_changes(func=called, args=kept))


def options_of(registered: ast.expr) -> ast.Call:
    """The options that a function is registered with, as a call that has nothing else."""
    call = registered if isinstance(registered, ast.Call) else ast.Call(registered, [], [])
    inner = call.func if isinstance(call.func, ast.Call) else call
    args = inner.args if inner is not call else [each for each in call.args if not isinstance(each, ast.Name)]
    return ast.copy_location(ast.Call(inner.func, args, inner.keywords), registered)


def registration_on(module: Module, toolbox: str, registered: ast.Call, function: str) -> str:
    """The code that registers a function on a toolbox."""
    options = options_of(registered)
    given = [f"name={_code(module, each)}" for each in options.args]
    for each in options.keywords:
        if each.arg in KEPT:
            value = _annotations(module, each.value) if each.arg == "annotations" else _code(module, each.value)
            given.append(f"{each.arg}={value}")
    return (
        f"{toolbox}.tool({', '.join(given)})(resumable({function}))"
        if given
        else f"{toolbox}.tool(resumable({function}))"
    )


def _code(module: Module, node: ast.expr) -> str:
    return ast.get_source_segment(module.source.text, node) or ast.unparse(node)


_EQUAL: Final = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


def _annotations(module: Module, value: ast.expr) -> str | None:
    """The annotations of a tool as a dict, or None for what is not known."""
    if isinstance(value, (ast.Dict, ast.DictComp)) or (isinstance(value, ast.Constant) and value.value is None):
        return ast.unparse(value)
    if isinstance(value, ast.Call) and last_name(value.func) == "ToolAnnotations":
        if value.args or any(each.arg is None for each in value.keywords):
            return None
        pairs = [f'"{_camel(each.arg or "")}": {ast.unparse(each.value)}' for each in value.keywords]
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, ast.Name) and (given := _assigned(module, value.id)) is not None:
        if isinstance(given, ast.Dict):
            return value.id
        if isinstance(given, ast.Call) and last_name(given.func) == "ToolAnnotations":
            return f"{value.id}.model_dump(by_alias=True, exclude_none=True)"
    return None


def _as_dict(module: Module, value: ast.expr, written: cst.BaseExpression) -> cst.BaseExpression:
    """The annotations of a tool as a dict, with each value as it is written."""
    if isinstance(written, cst.Call):
        code = cst.Module([]).code_for_node
        pairs = [f'"{_camel(each.keyword.value)}": {code(each.value)}' for each in written.args if each.keyword]
        return cst.parse_expression("{" + ", ".join(pairs) + "}")
    text = _annotations(module, value)
    return written if text is None or isinstance(written, cst.Dict) else cst.parse_expression(text)


def _assigned(module: Module, name: str) -> ast.expr | None:
    for node in module.source.tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return node.value
    return None


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def _is_usual(option: ast.keyword) -> bool:
    usual = (None, True) if option.arg == "enabled" else (None, False)
    return isinstance(option.value, ast.Constant) and option.value.value in usual


def _is_text(value: ast.expr) -> bool:
    return isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str))
