"""A print shop whose orders take long: an order is a task, and any process of the server goes on with it.

Nothing in here is about processes or databases; see `README.md` beside it.
"""

import os
from typing import Literal

import anyio

from mrtr_tools import Context, Toolbox, confirm, needs_input, then
from mrtr_tools.server import run_stdio

toolbox = Toolbox("albums")

PRICES = {"paper": 20, "linen": 45}


def here(did: str) -> str:
    return f"process {os.getpid()} {did}"


@toolbox.tool
@needs_input(cover="Which cover shall the album {title} have?")
def order_album(title: str, cover: Literal["paper", "linen"]) -> str:
    """Order an album."""
    return then(pay, title=title, price=PRICES[cover], log=[here("took the order")])


@toolbox.step(task="required", task_ttl=7 * 24 * 3600)
@needs_input(ok=confirm("Pay {price} EUR for {title}?"))
def pay(title: str, price: int, log: list[str]) -> str:
    return then(print_pages, left=3, log=[*log, here(f"took {price} EUR")])


@toolbox.step
async def print_pages(left: int, log: list[str], ctx: Context) -> str:
    """Each page is a leg of its own: whoever has time takes the next, and none is printed twice."""
    await ctx.report_progress(3 - left, 3, here("prints"))
    await anyio.sleep(3)
    log = [*log, here(f"printed page {4 - left}")]
    return then(print_pages, left=left - 1, log=log) if left > 1 else then(send, log=log)


@toolbox.step
def send(log: list[str]) -> str:
    return "\n".join([*log, here("sent it")])


if __name__ == "__main__":
    run_stdio(toolbox, tasks="tasks.sqlite3")
