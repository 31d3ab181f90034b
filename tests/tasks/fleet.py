"""A server whose calls go on as tasks, in two builds: ``python fleet.py``, with the environment of `Fleet`.

Each run of a function is a line in the file `RAN`: what began or ended, for whom, in which process, with which key. A
function waits while there is a file of its name in the folder `DOORS`, and then for `PACE` seconds.
"""

import logging
import os
from pathlib import Path

import anyio

from mrtr_tools import Context, Toolbox, confirm, needs_input, then
from mrtr_tools.server import run_http


async def work(step: str, name: str, ctx: Context) -> None:
    note("begin", step, name, ctx)
    door = Path(os.environ["DOORS"]) / step
    while door.exists():  # noqa: ASYNC110  another process opens it
        await anyio.sleep(0.01)
    await anyio.sleep(float(os.environ.get("PACE", "0")))
    note("end", step, name, ctx)


def note(what: str, step: str, name: str, ctx: Context) -> None:
    with Path(os.environ["RAN"]).open("a") as file:
        file.write(f"{what} {step} {name} {os.getpid()} {ctx.idempotency_key}\n")


def old_build(audience: str) -> Toolbox:
    """Prepares, asks, and publishes."""
    toolbox = Toolbox(audience)

    @toolbox.tool
    def release(name: str) -> str:
        return then(prepare, name=name)

    @toolbox.step(task="required")
    async def prepare(name: str, ctx: Context) -> str:
        await work("prepare", name, ctx)
        return then(check, name=name)

    @toolbox.step
    @needs_input(ok=confirm("Publish {name}?"))
    async def check(name: str, ctx: Context) -> str:
        await work("check", name, ctx)
        return then(publish, name=name)

    @toolbox.step
    async def publish(name: str, ctx: Context) -> str:
        await work("publish", name, ctx)
        return f"published {name}"

    return toolbox


def new_build(audience: str) -> Toolbox:
    """With a step inserted, one renamed, and the question reworded."""
    toolbox = Toolbox(audience)

    @toolbox.tool
    def release(name: str) -> str:
        return then(prepare, name=name)

    @toolbox.step(task="required")
    async def prepare(name: str, ctx: Context) -> str:
        await work("prepare", name, ctx)
        return then(verify, name=name)

    @toolbox.step(aliases=("check",))
    @needs_input(ok=confirm("Really publish {name}, for all to see?"))
    async def verify(name: str, ctx: Context) -> str:
        await work("verify", name, ctx)
        return then(scan, name=name)

    @toolbox.step
    async def scan(name: str, ctx: Context) -> str:
        await work("scan", name, ctx)
        return then(publish, name=name)

    @toolbox.step
    async def publish(name: str, ctx: Context) -> str:
        await work("publish", name, ctx)
        return f"published {name}, scanned"

    return toolbox


BUILDS = {"old": old_build, "new": new_build}

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    run_http(
        BUILDS[os.environ["BUILD"]](os.environ["AUDIENCE"]),
        keys_file=os.environ["KEYS_FILE"],
        task_keys_file=os.environ["KEYS_FILE"],
        port=int(os.environ.get("PORT", "0")),
        tasks=os.environ["TASKS"],
        anonymous_ok=True,
    )
