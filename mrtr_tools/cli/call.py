"""`mrtr-tools call`."""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Annotated

import typer

from mrtr_tools.cli.events import Noted
from mrtr_tools.cli.exits import Stop
from mrtr_tools.cli.given import Given
from mrtr_tools.cli.pairs import split_pairs
from mrtr_tools.cli.playing import end, person, played, told
from mrtr_tools.cli.targets import read_target

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
    detach: Annotated[
        bool, typer.Option("--detach", help="When the call goes on as a task, print its id and leave it alone.")
    ] = False,
    tasks: Annotated[
        str | None, typer.Option(metavar="PATH|URL", help="With a FILE: where its tasks are kept, see `run --help`.")
    ] = None,
    retry: Annotated[
        bool,
        typer.Option(
            "--retry", help="Send a call again whose answer did not come, although it may have been done already."
        ),
    ] = False,
    era: Annotated[Era, typer.Option(help="The protocol: 2026-07-28, or that of older clients.")] = Era.AUTO,
) -> None:
    """Call a tool, and answer in the terminal what it asks.

    A call that goes on as a task is followed to its end; Ctrl-C cancels it.

    Exits with 0; with 1 when the tool, the call or its task fails; with 2 when the command is wrong or an answer is
    missing; with 130 after Ctrl-C.
    """
    with told(target, as_json=as_json) as show:
        texts, given, server = split_pairs(arguments or [], "argument"), Given(answer or []), read_target(target, tasks)
        if detach and server.url is None and tasks is None:
            raise Stop(
                "--detach leaves a task to a server that goes on: start one (mrtr-tools run FILE --http) and call its "
                "address, or say with --tasks where servers of this file keep their tasks"
            )
        from mrtr_tools.cli.conversation import Conversation
        from mrtr_tools.cli.replies import Replies

        replies = Replies(given, None if as_json else person(), show)
        conversation = Conversation(server, tool, era=era.value, replies=replies, show=show, detach=detach, retry=retry)
        try:
            result = played(partial(conversation.play, texts), server)
        except Stop as stop:
            raise stop if conversation.watching is None else conversation.watching.with_task(stop) from None
        for key in given.unused:
            show(Noted(f"Note: nothing has asked for --answer {key}"))
        if result is not None:
            end(result, show)
