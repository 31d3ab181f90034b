"""`mrtr-tools call`."""

from __future__ import annotations

import sys
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from mrtr_tools.cli import json_lines
from mrtr_tools.cli.events import Ended, Failed, Noted
from mrtr_tools.cli.exits import FAILED, INTERRUPTED, Stop
from mrtr_tools.cli.given import Given
from mrtr_tools.cli.pairs import split_pairs
from mrtr_tools.cli.targets import read_target
from mrtr_tools.cli.terminal import Terminal

if TYPE_CHECKING:
    from mrtr_tools.cli.asking import Person

__all__ = ["Era", "call"]


class Era(Enum):
    """What the client speaks."""

    AUTO = "auto"
    MODERN = "2026-07-28"
    LEGACY = "legacy"


def call(
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="FILE[:NAME], started as a server of its own, or http://HOST:PORT/mcp."),
    ],
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="The tool's name.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KEY=VALUE]...", help="The tool's arguments: JSON, or text where the tool takes text."),
    ] = None,
    *,
    answer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="An answer given beforehand: a value, '{\"field\": ...}', @decline, @cancel or @accept. Repeatable.",
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Ask nobody, and print one JSON object a line: what was asked, answered, and the end."
        ),
    ] = False,
    era: Annotated[Era, typer.Option(help="The protocol: 2026-07-28, or that of older clients.")] = Era.AUTO,
) -> None:
    """Call a tool, and answer in the terminal what it asks.

    Exits with 0; with 1 when the tool or the call fails; with 2 when the command is wrong or an answer is missing.
    """
    terminal = Terminal(target)
    show = json_lines.show if as_json else terminal.show
    try:
        texts, given, server = split_pairs(arguments or [], "argument"), Given(answer or []), read_target(target)
        person = None if as_json else _person()
        from mrtr_tools.cli.conversation import Conversation
        from mrtr_tools.cli.reasons import reason_of

        conversation = Conversation(server, tool, era=era.value, given=given, person=person, show=show)
        try:
            result = anyio.run(conversation.play, texts)
        except KeyboardInterrupt:
            raise Stop("The call was ended.", INTERRUPTED) from None
        except Exception as error:
            if (reason := reason_of(error, server)) is None:
                raise
            raise reason from error
    except Stop as stop:
        show(Failed(stop))
        raise typer.Exit(stop.code) from None
    for key in given.unused:
        show(Noted(f"Note: nothing has asked for --answer {key}"))
    show(Ended(result))
    if result.get("isError"):
        raise typer.Exit(FAILED)


def _person() -> Person | None:
    """Whoever can be asked: somebody at a terminal, who sees stderr."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    from mrtr_tools.cli.asking import Person

    return Person()
