"""`mrtr-tools task`: a task that goes on by itself, looked at, answered and cancelled from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from mrtr_tools.cli.exits import Stop
from mrtr_tools.cli.given import Given
from mrtr_tools.cli.playing import end, person, played, told
from mrtr_tools.cli.targets import read_target

if TYPE_CHECKING:
    from mrtr_tools.cli.events import Show
    from mrtr_tools.cli.handling import Handling

__all__ = ["task"]

task = typer.Typer(
    help="See how a task is, answer what it asks, or cancel it.", no_args_is_help=True, rich_markup_mode=None
)

AS_IT_IS: Final = {"ignore_unknown_options": True}  # an id may begin with a dash
Where = Annotated[
    str, typer.Argument(metavar="TARGET", help="Where it is: http://HOST:PORT/mcp, or a FILE[:NAME] with --tasks.")
]
Name = Annotated[str, typer.Argument(metavar="TASK", help="Its id, as `call --detach` prints it.")]
Answers = Annotated[
    list[str] | None, typer.Option(metavar="KEY=VALUE", help="An answer, as `call` takes it. Repeatable.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Ask nobody, and print one JSON object a line, as `call` does.")]
Kept = Annotated[
    str | None, typer.Option(metavar="PATH|URL", help="With a FILE: where its tasks are kept, see `run --help`.")
]


@task.command(context_settings=AS_IT_IS)
def get(
    target: Where,
    name: Name,
    *,
    follow: Annotated[
        bool, typer.Option("--follow", help="Wait for its end, and answer what it asks. Ctrl-C leaves it alone.")
    ] = False,
    answer: Answers = None,
    as_json: AsJson = False,
    tasks: Kept = None,
) -> None:
    """See how a task is, and its result when it has ended.

    Exits with 0 while it goes on and when it is done; with 1 when it, or the tool, has failed, or it was cancelled.
    """
    with told(target, as_json=as_json) as show:
        handling = _handling(target, name, tasks, answer, show, as_json=as_json)
        result = played(handling.follow if follow else handling.get, handling.target)
        if result is not None:
            end(result, show)


@task.command(context_settings=AS_IT_IS)
def answer(target: Where, name: Name, *, answer: Answers = None, as_json: AsJson = False, tasks: Kept = None) -> None:
    """Answer what a task asks, in the terminal or by --answer; where nobody can be asked, some answers are enough.

    Exits with 0 when answers were sent; with 1 when it asks nothing; with 2 when there is no answer to what it asks.
    """
    with told(target, as_json=as_json) as show:
        handling = _handling(target, name, tasks, answer, show, as_json=as_json)
        played(handling.answer, handling.target)


@task.command(context_settings=AS_IT_IS)
def cancel(target: Where, name: Name, *, as_json: AsJson = False, tasks: Kept = None) -> None:
    """Cancel a task, unless it has ended already; see how it is then."""
    with told(target, as_json=as_json) as show:
        handling = _handling(target, name, tasks, None, show, as_json=as_json)
        played(handling.cancel, handling.target)


def _handling(
    target: str, name: str, tasks: str | None, answer: list[str] | None, show: Show, *, as_json: bool
) -> Handling:
    given, server = Given(answer or []), read_target(target, tasks)
    if server.url is None and tasks is None:
        raise Stop(f"Say where the tasks of {target} are kept (--tasks), or call the address of a server that has them")
    from mrtr_tools.cli.handling import Handling

    return Handling(server, name, given, None if as_json else person(), show)
