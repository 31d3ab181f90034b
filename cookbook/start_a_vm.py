"""Ask, then work for long, then ask again: a machine is started as a durable task.

The size is asked in an ordinary round, before anything is done. From `provision` on the call is a task: it survives
restarts, any process of the server can run it, and its client looks now and then how it is. Clients that know no tasks
get the same questions and the same result in ordinary rounds.

    mrtr-tools call cookbook/start_a_vm.py start_vm name=web
"""

from typing import Literal

import anyio

from mrtr_tools import Context, Toolbox, confirm, needs_input, then
from mrtr_tools.server import run_stdio

toolbox = Toolbox("machines", version="1.0")

PRICES = {"small": 5, "large": 40}


@toolbox.tool
@needs_input(size="Which size should {name} have?")
def start_vm(name: str, size: Literal["small", "large"]) -> str:
    """Start a virtual machine."""
    return then(provision, name=name, size=size, price=PRICES[size])


@toolbox.step(task="optional", task_ttl=24 * 3600)
@needs_input(ok=confirm("Pay {price} EUR a month for {name}?"))
async def provision(name: str, size: str, price: int, ctx: Context) -> str:
    """Runs once; should the process die in it, again with the same key, which the cloud knows already."""
    for done in range(1, 4):
        await ctx.report_progress(done, 3, f"starting {name}")
    machine = await in_the_cloud(f"{size} machine", key=ctx.idempotency_key)
    return then(open_to, name=name, machine=machine)


@toolbox.step
@needs_input(network="{machine} runs. Which network may reach {name}?")
def open_to(name: str, machine: str, network: Literal["office", "internet"]) -> str:
    return f"{name} is {machine}, open to the {network}"


async def in_the_cloud(what: str, key: str) -> str:
    """Stands for a cloud that makes one machine for each key."""
    await anyio.lowlevel.checkpoint()
    return MADE.setdefault(key, f"{what} number {len(MADE) + 1}")


MADE: dict[str, str] = {}

if __name__ == "__main__":
    run_stdio(toolbox, tasks="machines.sqlite3")
