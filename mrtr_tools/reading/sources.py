"""A Python file as it is read: its text, its tree, its comments. Nothing of it is imported or run."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

__all__ = ["NotReadable", "Source", "parse_source", "read_source"]

MAX_DEPTH: Final = 250


class NotReadable(Exception):
    """A file that is no Python, or cannot be opened.

    Attributes:
        line: where, from 1.
        column: where, from 1.
    """

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One file.

    Attributes:
        path: as it was given.
        text: what it holds.
        tree: its syntax.
        comments: each comment by its line, with the ``#``.
        parents: of each node, the one that it stands in.
        encoding: of the file.
        newline: what its lines end with; in `text` it is a line feed.
    """

    path: Path
    text: str = field(repr=False)
    tree: ast.Module = field(repr=False)
    comments: Mapping[int, str] = field(repr=False)
    parents: Mapping[ast.AST, ast.AST] = field(repr=False)
    encoding: str = "utf-8"
    newline: str = "\n"


def read_source(path: Path) -> Source:
    """Read a file in the encoding that it declares.

    Raises:
        NotReadable: there is no such file, or it is no Python.
    """
    try:
        raw = path.read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        text = raw.decode(encoding)
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
        raise NotReadable(getattr(error, "strerror", None) or str(error)) from error
    newline = "\r\n" if "\r\n" in text else "\n"
    return replace(parse_source(text.replace("\r\n", "\n"), path), encoding=encoding, newline=newline)


def parse_source(text: str, path: Path) -> Source:
    """Take a text for what a file holds.

    Raises:
        NotReadable: it is no Python of this version.
    """
    try:
        tree = ast.parse(text, str(path))
    except SyntaxError as error:
        raise NotReadable(error.msg, error.lineno or 1, error.offset or 1) from error
    except (ValueError, RecursionError, MemoryError) as error:  # a null byte; nested beyond all reason
        raise NotReadable(str(error) or type(error).__name__) from error
    if (line := _too_deep(tree)) is not None:
        raise NotReadable(f"it is nested more than {MAX_DEPTH} deep", line)
    parents = {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
    return Source(path, text, tree, _comments(text), parents)


def _too_deep(tree: ast.Module) -> int | None:
    """The line where the tree is deeper than what reads it can follow, or None."""
    waiting: list[tuple[ast.AST, int, int]] = [(tree, 0, 1)]
    while waiting:
        node, depth, line = waiting.pop()
        line = getattr(node, "lineno", line)
        if depth > MAX_DEPTH:
            return line
        waiting += [(child, depth + 1, line) for child in ast.iter_child_nodes(node)]
    return None


def _comments(text: str) -> dict[int, str]:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, IndentationError):  # where the parser was content, for its own reasons
        return {}
    return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
