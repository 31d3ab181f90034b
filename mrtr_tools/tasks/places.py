"""Where durable tasks can be kept, read from what an author gives."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit

__all__ = ["CONNECTIONS", "PATIENCE", "Place", "place_at"]

PATIENCE: Final = 5
"""Seconds that an operation waits for a thread, for a connection, for an answer, or for another process that writes."""
CONNECTIONS: Final = 5
"""Of a process that creates, reads and changes tasks, and threads for them."""


@dataclass(frozen=True, slots=True)
class Place:
    """A file, or a database of PostgreSQL.

    Attributes:
        path: of the file; None for PostgreSQL.
        url: of PostgreSQL, which may hold a password; None for a file.
        schema: of PostgreSQL.
        server: whose it is; a file is of the first that uses it.
    """

    path: Path | None
    url: str | None = field(repr=False)
    schema: str | None
    server: str

    def __str__(self) -> str:
        if self.url is None:
            return str(self.path)
        parts = urlsplit(self.url)
        who, at, where = parts.netloc.rpartition("@")
        user, colon, _ = who.partition(":")
        return f"postgresql://{user}{colon and ':***'}{at}{where}{parts.path}"


def place_at(given: str | os.PathLike[str], schema: str) -> Place:
    """The place that a file or a URL stands for. No error shows a password.

    Args:
        given: a file, or ``postgresql://user@host:5432/database``.
        schema: of PostgreSQL; a file knows its server by this name.

    Raises:
        ValueError: it is neither.
    """
    if not isinstance(given, str) or "://" not in given:
        if not os.fspath(given):
            raise ValueError("tasks= is empty: give a file, or postgresql://host/database")
        return Place(Path(given).absolute(), None, None, schema)
    scheme, _, rest = given.partition("://")
    if scheme not in ("postgresql", "postgres"):
        raise ValueError(f"tasks={scheme}://... is no place for tasks: give a file, or postgresql://host/database")
    url = f"postgresql://{rest}"
    parts = _parts(url)
    if parts is None:
        raise ValueError("tasks=postgresql://... cannot be read: give postgresql://user@host:5432/database")
    if not parts.path.strip("/"):
        raise ValueError("tasks=postgresql://... names no database: give postgresql://user@host:5432/database")
    return Place(None, url, schema, schema)


def _parts(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # which is read only now
    except ValueError:
        return None
    return parts
