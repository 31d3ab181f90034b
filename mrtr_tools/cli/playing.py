"""What the commands that talk to a server have in common: how they are shown, and how they end."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import anyio
import typer
from pydantic import JsonValue

from mrtr_tools.cli import json_lines
from mrtr_tools.cli.events import Ended, Failed, Show
from mrtr_tools.cli.exits import FAILED, INTERRUPTED, Stop
from mrtr_tools.cli.targets import Target
from mrtr_tools.cli.terminal import Terminal

if TYPE_CHECKING:
    from mrtr_tools.cli.asking import Person

__all__ = ["end", "person", "played", "told"]

T = TypeVar("T")


@contextmanager
def told(target: str, *, as_json: bool) -> Generator[Show]:
    """Where a command tells what happens, and why it ended when it did early.

    Raises:
        typer.Exit: it ended early.
    """
    show = json_lines.show if as_json else Terminal(target).show
    try:
        yield show
    except Stop as stop:
        show(Failed(stop))
        raise typer.Exit(stop.code) from None


def played(work: Callable[[], Awaitable[T]], target: Target) -> T:
    """Do what awaits.

    Raises:
        Stop: it failed as it may, or Ctrl-C.
    """
    from mrtr_tools.cli.reasons import reason_of

    try:
        return anyio.run(work)
    except KeyboardInterrupt:
        raise Stop("The call was ended.", INTERRUPTED) from None
    except Exception as error:
        if (reason := reason_of(error, target)) is None:
            raise
        raise reason from error


def end(result: Mapping[str, JsonValue], show: Show) -> None:
    """Show the result of a call.

    Raises:
        typer.Exit: the tool failed.
    """
    show(Ended(result))
    if result.get("isError"):
        raise typer.Exit(FAILED)


def person() -> Person | None:
    """Whoever can be asked: somebody at a terminal, who sees stderr."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    from mrtr_tools.cli.asking import Person

    return Person()
