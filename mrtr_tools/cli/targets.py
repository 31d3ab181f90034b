"""Where a tool is called: a file, started as a server of its own, or the address of a server."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import mrtr_tools
from mrtr_tools.cli.exits import Stop
from mrtr_tools.cli.loading import split_target

__all__ = ["Target", "read_target"]


@dataclass(frozen=True, slots=True)
class Target:
    """A server to call.

    Attributes:
        name: as the person gave it.
        url: its address, or None for a file.
        command: what starts it, when it is a file.
        options: what else has to be given to come to it again.
    """

    name: str
    url: str | None = None
    command: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


def read_target(text: str, tasks: str | None = None) -> Target:
    """Read a TARGET; a web address without any path is taken to mean ``/mcp``.

    Args:
        text: as it was given.
        tasks: where the tasks of a file are kept, see `mrtr-tools run --tasks`.

    Raises:
        Stop: it is no web address, and there is no such file.
    """
    if "://" in text:
        if tasks is not None:
            raise Stop(f"--tasks goes with a file; {text} knows itself where its tasks are")
        parts = urlsplit(text)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise Stop(f"{text} is no web address to call; it looks like http://127.0.0.1:8000/mcp")
        return Target(text, text if parts.path or parts.query else f"{text}/mcp")
    split_target(text)
    # Where the library can be imported from elsewhere, the current folder stays out of the way: a file of the author's
    # that is named like a module of the standard library would be imported in its place.
    away = [] if Path(mrtr_tools.__file__).parents[1] == Path.cwd() else ["-P"]
    options = () if tasks is None else ("--tasks", tasks)
    return Target(text, None, (sys.executable, *away, "-m", "mrtr_tools.cli", "run", *options, text), options)
