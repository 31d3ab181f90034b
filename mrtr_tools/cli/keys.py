"""`mrtr-tools keys`: the keys of a server that has been running for a while."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from mrtr_tools.cli.exits import FAILED, Stop
from mrtr_tools.cli.loading import load_toolbox
from mrtr_tools.cli.rings import given_keys
from mrtr_tools.errors import Busy, DefinitionError
from mrtr_tools.server.task_places import engine_at, keys_beside
from mrtr_tools.server.tasking import TASK_VARIABLE

if TYPE_CHECKING:
    from mrtr_tools.keys import Key
    from mrtr_tools.tasks.rewrapping import Rewrapped

__all__ = ["keys"]

keys = typer.Typer(help="Change the keys of a server.", no_args_is_help=True, rich_markup_mode=None)


@keys.callback()
def options() -> None:
    """Change the keys of a server."""


@keys.command()
def rewrap(
    target: Annotated[
        str | None,
        typer.Argument(metavar="[FILE[:NAME]]", help="The toolbox whose tasks they are, unless --audience names it."),
    ] = None,
    *,
    tasks: Annotated[str, typer.Option(metavar="PATH|URL", help="Where the tasks are kept, as for `run`.")],
    task_keys_file: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help=f"The file of their keys, the new one first; goes before {TASK_VARIABLE}.  "
            "[default: the one beside a file of tasks]",
        ),
    ] = None,
    audience: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The server, as `run --audience` names it.  [default: the toolbox]"),
    ] = None,
) -> None:
    """Seal the keys of all tasks with the current key, so that older keys can be taken out of the file.

    Give all servers the new key first, behind the older ones, and then before them. They may go on meanwhile; doing it
    again does no harm.
    """
    name = audience or (load_toolbox(target).name if target else None)
    if name is None:
        raise Stop("Whose tasks are they? Name the file with the toolbox, or give --audience")
    if "://" not in tasks and not Path(tasks).is_file():
        raise Stop(f"--tasks {tasks}: there is no such file")
    try:
        done, key_id = anyio.run(_rewrapped, tasks, _ring(tasks, task_keys_file), name)
    except Busy:
        raise Stop("The tasks cannot be reached; what was done is done, so run it again", FAILED) from None
    except (DefinitionError, ImportError, OSError, ValueError) as error:
        raise Stop(str(error)) from None
    print(f"{done.done} {'task is' if done.done == 1 else 'tasks are'} sealed with key {key_id} now.")
    if done.left:
        counted = ", ".join(f"{count} with {other}" for other, count in sorted(done.left.items()))
        raise Stop(
            f"Sealed with other keys: {counted}. A server may still seal with an older one: give it the new one, and "
            "run this again. Or that key is not in the file, --audience is another, or a task was changed in its place",
            FAILED,
        )


async def _rewrapped(tasks: str, ring: tuple[Key, ...], audience: str) -> tuple[Rewrapped, str]:
    from mrtr_tools.tasks.rewrapping import rewrap as rewrap_all
    from mrtr_tools.tasks.sealing import TaskSealer

    sealer = TaskSealer.of(ring, audience)
    engine = engine_at(tasks, ring, audience)
    try:
        return await rewrap_all(engine, sealer), sealer.ring.key_id
    finally:
        await engine.close()


def _ring(tasks: str, file: Path | None) -> tuple[Key, ...]:
    ring, beside = given_keys(file, TASK_VARIABLE), keys_beside(tasks)
    if ring is None and "://" not in tasks and beside.exists():
        ring = given_keys(beside)
    if ring is None:
        raise Stop(f"Say which keys seal the tasks: --task-keys-file, or {TASK_VARIABLE}")
    return ring
