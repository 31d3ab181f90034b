"""Edits of a file, by the places that they apply to. Whatever is not in an edited place comes out as it was."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from mrtr_tools.reading.sources import Source

__all__ = ["Change", "Edits", "Span", "apply", "is_placed", "is_told", "span_of"]

Span = tuple[int, int, int, int]
"""First line, column in it, last line, column in it: lines from 1, columns from 0 in characters."""

Start = tuple[int, int]
"""Where a statement begins: line and column."""

Change = Callable[[Any], Any]
NEXT_LINE: Final = "\n"


@dataclass(slots=True)
class Edits:
    """What to do where.

    Attributes:
        changes: new nodes for old ones; by the kind of node and its place.
        before: lines of code to put before a statement, by the place of that.
        after: lines of code to put after a statement.
        functions: functions to put above a statement of the file, apart from it.
        notes: comments to put above a statement, or above the decorators of a function.
        end: lines of code for the end of the file.
        top: lines of code for its beginning, where there is no import and no docstring.
        imports: what to do to every import, or None.
    """

    changes: dict[tuple[str, Span], Change] = field(default_factory=dict[tuple[str, Span], Change])
    before: dict[Start, list[str]] = field(default_factory=dict[Start, list[str]])
    after: dict[Start, list[str]] = field(default_factory=dict[Start, list[str]])
    functions: dict[Start, list[str]] = field(default_factory=dict[Start, list[str]])
    notes: dict[Start, list[str]] = field(default_factory=dict[Start, list[str]])
    end: list[str] = field(default_factory=list[str])
    top: list[str] = field(default_factory=list[str])
    imports: Callable[[cst.ImportFrom], cst.ImportFrom | None] | None = None

    def change(self, source: Source, kind: type[cst.CSTNode], node: ast.AST, change: Change) -> None:
        """Change a node; several changes of one follow each other."""
        span = span_of(source, node)
        key = (
            kind.__name__,
            (*span[:2], 0, 0) if kind is cst.Param else span,
        )  # whose default ends it in one of the two trees
        earlier = self.changes.get(key)
        self.changes[key] = change if earlier is None else lambda node: change(earlier(node))


def span_of(source: Source, node: ast.AST) -> Span:
    """Where a node of the syntax tree stands, in characters."""
    placed = cast(ast.expr, node)
    end_line, end_column = placed.end_lineno or placed.lineno, placed.end_col_offset or placed.col_offset
    return (
        placed.lineno,
        _characters(source, placed.lineno, placed.col_offset),
        end_line,
        _characters(source, end_line, end_column),
    )


def is_placed(source: Source, node: ast.expr) -> bool:
    """Whether a node stands where the syntax tree says; before Python 3.12 not all do that stand inside of a text."""
    first, start, last, end = span_of(source, node)
    lines = source.text.split(NEXT_LINE)[first - 1 : last]
    if not lines:
        return False
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    try:
        there = ast.parse("(" + NEXT_LINE.join(lines) + ")", mode="eval").body
    except SyntaxError:
        return False
    return ast.dump(there) == ast.dump(node)


def is_told(source: Source, line: int, note: str) -> bool:
    """Whether a note that begins so stands above a line, among other comments."""
    line -= 1
    while line in source.comments and source.text.splitlines()[line - 1].lstrip().startswith("#"):
        if source.comments[line].startswith(note):
            return True
        line -= 1
    return False


def apply(source: Source, edits: Edits) -> str:
    """The text of a file after some edits."""
    wrapper = MetadataWrapper(cst.parse_module(source.text), unsafe_skip_copy=True)
    module = wrapper.visit(_Editing(edits))
    end = [cast("Any", each) for each in _parsed(edits.end)]
    if end and module.body:
        end[0] = end[0].with_changes(leading_lines=[*_APART, *end[0].leading_lines])
    return module.with_changes(body=[*_parsed(edits.top), *module.body, *end]).code


def _characters(source: Source, line: int, column: int) -> int:
    lines = source.text.split(NEXT_LINE)
    if line > len(lines):
        return column
    return len(lines[line - 1].encode()[:column].decode(errors="replace"))


def _parsed(lines: Sequence[str]) -> list[cst.BaseStatement]:
    """Lines of code, each with the comments above it."""
    body = cst.parse_module("\n".join(["pass", *lines, ""])).body
    return [cast("cst.BaseStatement", each) for each in body[1:]]


_APART: Final = [cst.EmptyLine(indent=False), cst.EmptyLine(indent=False)]


class _Editing(cst.CSTTransformer):
    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, edits: Edits) -> None:
        super().__init__()
        self._edits = edits

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        updated = super().on_leave(original_node, updated_node)
        if isinstance(original_node, (cst.Module, cst.BaseParenthesizableWhitespace)):
            return updated
        where = self.get_metadata(PositionProvider, original_node, None)
        if where is None:
            return updated
        span = (where.start.line, where.start.column, where.end.line, where.end.column)
        kind = type(original_node).__name__
        change = self._edits.changes.get((kind, (*span[:2], 0, 0) if kind == "Param" else span))
        if change is not None:
            updated = change(updated)
        if isinstance(original_node, cst.ImportFrom) and self._edits.imports is not None:
            updated = self._edits.imports(cast("cst.ImportFrom", updated)) or cst.RemoveFromParent()
        if isinstance(original_node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            return self._beside(span[:2], updated)
        return updated

    def _beside(self, start: Start, updated: Any) -> Any:
        edits = self._edits
        if not isinstance(updated, cst.CSTNode):  # it is gone: an import of which nothing is left
            added = [*_parsed(edits.before.get(start, [])), *_parsed(edits.after.get(start, []))]
            return cst.FlattenSentinel(added) if added else updated
        if notes := edits.notes.get(start):
            told = [cst.EmptyLine(comment=cst.Comment(note)) for note in notes]
            updated = cast("Any", updated).with_changes(leading_lines=[*cast("Any", updated).leading_lines, *told])
        before, after = _parsed(edits.before.get(start, [])), _parsed(edits.after.get(start, []))
        if before:  # what is put before a statement takes the empty lines and comments above it
            first = cast("Any", before[0])
            before[0] = first.with_changes(leading_lines=[*cast("Any", updated).leading_lines, *first.leading_lines])
            updated = cast("Any", updated).with_changes(leading_lines=[])
        functions = _parsed(edits.functions.get(start, []))
        functions = [cast("Any", each).with_changes(leading_lines=_APART) for each in functions]
        if functions and not before:
            above = list(cast("Any", updated).leading_lines)
            empty = next((place for place, each in enumerate(above) if each.comment is not None), len(above))
            updated = cast("Any", updated).with_changes(leading_lines=[*_APART[empty:], *above])
        return cst.FlattenSentinel([*functions, *before, updated, *after]) if functions or before or after else updated
