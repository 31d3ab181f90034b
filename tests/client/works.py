"""Tools that go on as tasks, for clients; ``python works.py`` serves them over HTTP, at any free port.

The tasks end with the process. What has to wait waits for a file to appear.
"""

import logging
import os

import anyio

from mrtr_tools import AskAgain, Context, Toolbox, ToolError, confirm, needs_input, then
from mrtr_tools.errors import InvalidParams
from mrtr_tools.keys import generate_key
from mrtr_tools.server import run_http, tasks as shown_tasks
from mrtr_tools.tasks import MemoryEngine

toolbox = Toolbox("works", title="The works")


async def there(path: str) -> None:
    while not await anyio.Path(path).exists():  # noqa: ASYNC110 - whoever makes it is another process
        await anyio.sleep(0.01)


@toolbox.tool(task="optional")
async def report(waits_for: str, ctx: Context) -> str:
    """Work, and say how far it is."""
    await ctx.report_progress(1, 3, "gathering")
    await there(waits_for)
    return "All is well"


@toolbox.tool(task="required")
def must(name: str) -> dict[str, str]:
    return {"name": name}


@toolbox.tool
@needs_input(size="How large?")
def measure(name: str, size: int) -> str:
    """Ask, and be no task."""
    return f"{name}: {size}"


@toolbox.tool
@needs_input(size="How large?")
def build(name: str, size: int) -> str:
    """Ask, go on as a task, and ask again there."""
    return then(lay_out, name=name, size=size)


@toolbox.step(task="optional")
def lay_out(name: str, size: int) -> str:
    return then(finish, name=name, area=size * size)


@toolbox.step
@needs_input(ok=confirm("Build {name} on {area} square metres?"), colour="Which colour?")
def finish(name: str, area: int, colour: str) -> str:
    if colour == "none":
        raise AskAgain(colour="It needs one.")
    return f"{name}: {area} m2, {colour}"


@toolbox.tool(task="optional")
def fail(how: str) -> str:
    if how == "tool":
        raise ToolError("Nothing could be built")
    raise InvalidParams("No such ground", {"ground": "swamp"})


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    shown_tasks.POLL_MS = int(os.environ.get("POLL_MS", "30"))
    keys = [os.environ.get("KEY") or generate_key()]
    port = int(os.environ.get("PORT", "0"))
    run_http(toolbox, port=port, keys=keys, tasks=MemoryEngine(), task_keys=keys, anonymous_ok=True)
