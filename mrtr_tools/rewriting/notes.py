"""What is noted in a ported file: why a tool was not ported, and what a person must decide."""

from __future__ import annotations

import ast
import re
import textwrap
from typing import Final

from mrtr_tools.reading.sources import Source
from mrtr_tools.rewriting.edits import Edits, is_told, span_of
from mrtr_tools.rewriting.verdicts import Plan

__all__ = ["DECIDE", "NOT_PORTED", "note"]

NOT_PORTED: Final = "# mrtr: not ported:"
DECIDE: Final = "# mrtr: decide:"
WIDTH: Final = 116
MIN_WIDTH: Final = 60


def note(source: Source, edits: Edits, plan: Plan) -> None:
    """Say in the file what was refused, and what a person must decide."""
    if plan.refused:
        told = "; ".join(dict.fromkeys(_without_lines(str(reason)) for reason in plan.refused))
        node = plan.function.node
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        if not is_told(source, first, NOT_PORTED):
            edits.notes.setdefault(span_of(source, node)[:2], []).extend(_wrapped(source, node, f"{NOT_PORTED} {told}"))
        return
    for function, reason in plan.told:
        anchor = _statement_at(source.tree, reason.line) or function.node
        notes = edits.notes.setdefault(span_of(source, anchor)[:2], [])
        lines = _wrapped(source, anchor, f"{DECIDE} {_without_lines(str(reason))}")
        notes += lines if lines[0] not in notes and not is_told(source, anchor.lineno, lines[0]) else []


def _without_lines(text: str) -> str:
    """The lines of a file change; its notes should stay true."""
    return re.sub(r" in line \d+", "", re.sub(r"until line \d+ is", "until a question below is", text))


def _wrapped(source: Source, anchor: ast.stmt, text: str) -> list[str]:
    width = max(WIDTH - span_of(source, anchor)[1], MIN_WIDTH)
    return textwrap.wrap(text, width, subsequent_indent="#   ", break_long_words=False, break_on_hyphens=False)


def _statement_at(tree: ast.Module, line: int) -> ast.stmt | None:
    """The innermost statement that a line belongs to, or None for that of a decorator."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    inner = max(around, key=lambda node: (node.lineno, node.col_offset), default=None)
    return inner if inner is not None and not isinstance(inner, ast.ClassDef) else None
