"""Options of a server of version 1 of the SDK, which `run` takes since."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

import libcst as cst

from mrtr_tools.reading.functions import Module, last_name
from mrtr_tools.rewriting.dialects import MOVED_OPTIONS
from mrtr_tools.rewriting.edits import Edits
from mrtr_tools.rewriting.outcomes import Reason

__all__ = ["move_options"]


def move_options(module: Module, edits: Edits, servers: Iterable[str]) -> Iterator[Reason]:
    """Move ``host=`` and its like from ``FastMCP(...)`` to ``run(...)``; gives a reason where a person has to do it."""
    for node in ast.walk(module.source.tree):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and last_name(node.value.func) == "FastMCP"
        ):
            name = next((target.id for target in node.targets if isinstance(target, ast.Name)), "")
            if name in servers:
                yield from _move(module, edits, name, node.value)


def _move(module: Module, edits: Edits, server: str, made: ast.Call) -> Iterator[Reason]:
    names = [each.arg for each in made.keywords if each.arg in MOVED_OPTIONS]
    has_instructions = len(made.args) > 1
    if not names and not has_instructions:
        return
    runs = [node for node in ast.walk(module.source.tree) if isinstance(node, ast.Call) and _is_run(node, server)]
    taken: list[cst.Arg] = []

    def take(call: cst.Call) -> cst.Call:
        kept = [each for each in call.args if each.keyword is None or each.keyword.value not in names]
        taken.extend(each for each in call.args if each not in kept)
        kept = [_named(each, place) for place, each in enumerate(kept)]
        if kept and isinstance(call.args[-1].comma, cst.MaybeSentinel):
            kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return call.with_changes(args=kept)

    def give(call: cst.Call) -> cst.Call:
        has = {each.keyword.value for each in call.args if each.keyword is not None}
        new = [
            each.with_changes(comma=cst.MaybeSentinel.DEFAULT)
            for each in taken
            if each.keyword and each.keyword.value not in has
        ]
        return call.with_changes(args=[*_closed(call.args, new), *new])

    edits.change(module.source, cst.Call, made, take)
    if runs and all(run.lineno > made.lineno for run in runs):
        for run in runs:
            edits.change(module.source, cst.Call, run, give)
    elif names:
        told = ", ".join(f"{each.arg}={ast.unparse(each.value)}" for each in made.keywords if each.arg in names)
        yield Reason(made.lineno, "", f"{told}: give this to what serves {server}; the server itself takes it no more")


def _closed(args: Any, new: list[cst.Arg]) -> list[cst.Arg]:
    if not args or not new:
        return list(args)
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    return [*args[:-1], args[-1].with_changes(comma=comma)]


def _named(argument: cst.Arg, place: int) -> cst.Arg:
    """The second argument was what a model should know, and is the title since."""
    if place != 1 or argument.keyword is not None:
        return argument
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return argument.with_changes(keyword=cst.Name("instructions"), equal=equal)


def _is_run(node: ast.Call, server: str) -> bool:
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == "run"
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == server
    )
