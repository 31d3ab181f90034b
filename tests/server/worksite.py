"""Tools whose steps wait for doors: a step waits until the file of its name is in the folder `DOORS`.

Each run of a step is noted in the file `RAN`, with the process that ran it.
"""

import os
from pathlib import Path

import anyio

from mrtr_tools import Toolbox, confirm, needs_input, then

toolbox = Toolbox("worksite")
SECONDS = 20


async def work(step: str) -> None:
    ran(step)
    door, end = Path(os.environ["DOORS"]) / step, anyio.current_time() + SECONDS
    while not door.exists() and anyio.current_time() < end:  # noqa: ASYNC110 - another process opens it
        await anyio.sleep(0.01)


def ran(step: str) -> None:
    with Path(os.environ["RAN"]).open("a") as file:
        file.write(f"{step} {os.getpid()}\n")


@toolbox.tool
async def build() -> str:
    await work("dig")
    return then(wall, so_far=["dug"])


@toolbox.step
async def wall(so_far: list[str]) -> str:
    await work("wall")
    return then(roof, so_far=[*so_far, "walled"])


@toolbox.step
async def roof(so_far: list[str]) -> str:
    await work("roof")
    return " ".join([*so_far, "roofed"])


@toolbox.tool(single_use=True)
@needs_input(ok=confirm("Blow it up?"))
async def blast() -> str:
    await work("blast")
    return f"blasted by {os.getpid()}"


@toolbox.tool
def who() -> int:
    return os.getpid()
