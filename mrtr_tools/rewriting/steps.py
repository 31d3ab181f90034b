"""From the bridge to steps, where a function is a straight line of questions."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable
from typing import Any

import libcst as cst

from mrtr_tools.reading.functions import Function, read_module
from mrtr_tools.reading.projects import Project
from mrtr_tools.reading.registrations import decorator, is_resumable
from mrtr_tools.reading.sources import Source, parse_source
from mrtr_tools.rewriting.edits import span_of
from mrtr_tools.rewriting.outcomes import Outcome, Reason, Rewritten, Verdict
from mrtr_tools.rewriting.step_texts import Written, written_as_steps
from mrtr_tools.rewriting.straight_lines import NotStraight, line_of

__all__ = ["to_steps"]


def to_steps(source: Source) -> Rewritten:
    """Write the resumable tools of a file as steps, as far as that can be done; the others stay as they are."""
    project = Project([source])
    lines = source.text.split("\n")
    outcomes: list[Outcome] = []
    written: list[Written] = []
    for function in reversed(project.given[0].functions):
        if not is_resumable(function):
            continue
        try:
            if decorator(function) is None:
                raise NotStraight("it is registered by a call: write @toolbox.tool above it", function.node.lineno)
            if function not in project.asking:
                raise NotStraight("it asks nothing", function.node.lineno)
            done = written_as_steps(project, line_of(project, function))
        except NotStraight as why:
            told = Reason(why.line, "", str(why))
            outcomes.append(Outcome(function.name, function.node.lineno, Verdict.PORTED, [told]))
            continue
        _replace(source, lines, function, done)
        written.append(done)
        outcomes.append(Outcome(function.name, function.node.lineno, Verdict.STEPS))
    text = "\n".join(lines)
    if written:
        text = _with_imports(parse_source(text, source.path), written)
    return Rewritten(text, outcomes[::-1])


def _replace(source: Source, lines: list[str], function: Function, done: Written) -> None:
    node = function.node
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    indent = " " * span_of(source, node)[1]
    new = textwrap.indent(done.text, indent, lambda line: bool(line.strip())).split("\n")
    lines[first - 1 : node.end_lineno] = new


def _with_imports(source: Source, written: Iterable[Written]) -> str:
    names = {name for each in written for name in each.names}
    module = cst.parse_module(source.text)
    used = {node.id for node in ast.walk(source.tree) if isinstance(node, ast.Name)}
    there = read_module(source).imports
    module = module.visit(_Importing(names, unused={"resumable", "Context"} - used))
    if any(each.needs_literal for each in written) and "Literal" not in there:
        text = module.code
        at = text.index("from mrtr_tools import")
        return f"{text[:at]}from typing import Literal\n{text[at:]}"
    return module.code


def _isort(name: str) -> tuple[bool, str]:
    return name[0].islower(), name


class _Importing(cst.CSTTransformer):
    """Brings names of `mrtr_tools` in, and takes those of the bridge out that nothing has any more."""

    def __init__(self, names: set[str], *, unused: set[str]) -> None:
        super().__init__()
        self._names = names
        self._unused = unused

    def leave_ImportFrom(self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom) -> Any:  # noqa: N802
        """Change an import of ours."""
        name = cst.Module([]).code_for_node(original_node.module) if original_node.module is not None else ""
        if isinstance(updated_node.names, cst.ImportStar) or name not in ("mrtr_tools", "mrtr_tools.porting"):
            return updated_node
        code = cst.Module([]).code_for_node
        has = {code(alias).rstrip(", ").strip() for alias in updated_node.names}
        if name == "mrtr_tools" and self._names:
            names, self._names = has | self._names, set[str]()
        elif name == "mrtr_tools.porting":
            names = has - self._unused
        else:
            return updated_node
        if not names:
            return cst.RemoveFromParent()
        text = f"from {name} import {', '.join(sorted(names, key=_isort))}"
        statement = cst.parse_statement(text)
        assert isinstance(statement, cst.SimpleStatementLine)  # noqa: S101  what was just written
        return statement.body[0]
