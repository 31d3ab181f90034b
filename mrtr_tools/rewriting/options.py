"""Options of a server that newer versions of the SDK and of FastMCP do not take, or take elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import libcst as cst

from mrtr_tools.reading.functions import Module, dotted, last_name
from mrtr_tools.rewriting.dialects import MOVED_OPTIONS, OF_V1
from mrtr_tools.rewriting.edits import Change, Edits
from mrtr_tools.rewriting.outcomes import Reason

__all__ = ["move_options", "refused_servers"]


@dataclass(frozen=True, slots=True)
class _Newer:
    """What became of the options of a server.

    Attributes:
        moved: they are options of `run`, by their new names.
        dropped: they are gone, and what is there instead.
        renamed: they have another name.
        refused: they are gone, and the server is another one without them.
    """

    moved: Mapping[str, str]
    dropped: Mapping[str, str]
    renamed: Mapping[str, str]
    refused: Mapping[str, str]


_SDK: Final = _Newer({name: name for name in MOVED_OPTIONS}, {}, {}, {})
_FASTMCP: Final = _Newer(
    moved={
        **{name: name for name in ("host", "port", "json_response", "stateless_http", "log_level")},
        "sse_path": "path",
        "streamable_http_path": "path",
    },
    dropped={
        "debug": "set FASTMCP_DEBUG",
        "message_path": "set FASTMCP_MESSAGE_PATH",
        "dependencies": "they stand in fastmcp.json",
        "sampling_handler": "a resumable tool asks the client's model",
        "sampling_handler_behavior": "a resumable tool asks the client's model",
    },
    renamed={f"on_duplicate_{kind}": "on_duplicate" for kind in ("tools", "resources", "prompts")},
    refused={
        "tool_serializer": "return ToolResult from the tools",
        "include_tags": "enable tags on the server after it was made",
        "exclude_tags": "disable tags on the server after it was made",
        "tool_transformations": "add transforms to the server after it was made",
    },
)
_HTTP: Final = ("http", "sse", "streamable-http")


def _newer(module: Module) -> _Newer:
    return _SDK if any(name.startswith(OF_V1) for name in module.imports.values()) else _FASTMCP


def refused_servers(module: Module, server: str) -> Iterator[Reason]:
    """Options without which a server would be another one."""
    for made in _made(module, [server]):
        for name, instead in _newer(module).refused.items():
            if any(each.arg == name for each in made.keywords):
                yield Reason(made.lineno, "", f"FastMCP 4 takes no {name}=; {instead}")


def move_options(module: Module, edits: Edits, servers: Iterable[str]) -> Iterator[Reason]:
    """Give ``host=`` and its like to ``run(...)``, and take away what is gone; says what a person has to know."""
    for made in _made(module, servers):
        yield from _move(module, edits, made, _newer(module))


def _made(module: Module, servers: Iterable[str]) -> list[ast.Call]:
    names = {*servers}
    assigned = (node for node in ast.walk(module.source.tree) if isinstance(node, (ast.Assign, ast.AnnAssign)))
    return [
        node.value
        for node in assigned
        if isinstance(node.value, ast.Call) and last_name(node.value.func) == "FastMCP"
        if names & {dotted(each) for each in (node.targets if isinstance(node, ast.Assign) else [node.target])}
    ]


def _move(module: Module, edits: Edits, made: ast.Call, newer: _Newer) -> Iterator[Reason]:
    given = {each.arg: each.value for each in made.keywords if each.arg is not None}
    moved = [name for name in given if name in newer.moved]
    gone = {*moved, *(name for name in given if name in newer.dropped)}
    renamed = [name for name in given if name in newer.renamed]
    if not gone and not renamed and (newer is _FASTMCP or len(made.args) < 2):  # noqa: PLR2004
        return
    edits.change(module.source, cst.Call, made, _making(newer, gone, renamed, instructs=newer is _SDK))
    for name in (name for name in given if name in newer.dropped):
        yield Reason(made.lineno, "", f"{name}= was left out: {newer.dropped[name]}")
    code = ast.get_source_segment
    told = [f"{newer.moved[name]}={code(module.source.text, given[name])}" for name in moved]
    runs = [node for node in ast.walk(module.source.tree) if isinstance(node, ast.Call) and _is_run(module, node, made)]
    for run in runs:
        if newer is _SDK or _is_http(run):
            edits.change(module.source, cst.Call, run, _running(told))
    is_sure = runs and all(run.lineno > made.lineno and (newer is _SDK or _is_plain(run)) for run in runs)
    if told and not is_sure:
        yield Reason(made.lineno, "", f"{', '.join(told)}: give this to what serves the server, which takes it no more")


def _making(newer: _Newer, gone: set[str], renamed: list[str], *, instructs: bool) -> Change:
    def change(call: cst.Call) -> cst.Call:
        kept: list[cst.Arg] = []
        for place, each in enumerate(call.args):
            name = each.keyword.value if each.keyword is not None else None
            if name in gone or name in renamed[1:]:
                continue
            if name in renamed:
                each = each.with_changes(keyword=cst.Name(newer.renamed[name]))  # noqa: PLW2901
            if instructs and place == 1 and name is None:  # what a model should know; it is the title since
                each = each.with_changes(keyword=cst.Name("instructions"), equal=_EQUAL)  # noqa: PLW2901
            kept.append(each)
        if kept and kept[-1] is not call.args[-1]:  # what closes the call stands after its last argument
            kept[-1] = kept[-1].with_changes(comma=call.args[-1].comma)
        return call.with_changes(args=kept)

    return change


def _running(told: list[str]) -> Change:
    def change(call: cst.Call) -> cst.Call:
        has = {each.keyword.value for each in call.args if each.keyword is not None}
        given: Any = cst.parse_expression(f"run({', '.join(told)})")
        new = [each for each in given.args if each.keyword.value not in has]
        if not new:
            return call
        old = list(call.args)
        if old:
            old[-1] = old[-1].with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        return call.with_changes(args=[*old, *new])

    return change


_EQUAL: Final = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


def _is_run(module: Module, node: ast.Call, made: ast.Call) -> bool:
    parent = module.source.parents.get(made)
    targets = parent.targets if isinstance(parent, ast.Assign) else [getattr(parent, "target", None)]
    names = {dotted(each) for each in targets if isinstance(each, ast.expr)}
    return isinstance(node.func, ast.Attribute) and node.func.attr == "run" and dotted(node.func.value) in names


def _transport(run: ast.Call) -> ast.expr | None:
    named = next((each.value for each in run.keywords if each.arg == "transport"), None)
    return named or (run.args[0] if run.args else None)


def _is_http(run: ast.Call) -> bool:
    transport = _transport(run)
    return isinstance(transport, ast.Constant) and transport.value in _HTTP


def _is_plain(run: ast.Call) -> bool:
    """Whether it is plain to see what it serves over; over stdio the options never did anything."""
    transport = _transport(run)
    return transport is None or isinstance(transport, ast.Constant)
