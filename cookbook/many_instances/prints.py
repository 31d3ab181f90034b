"""A call of three requests, each of which another process may serve; the result says which one did.

mrtr-tools call cookbook/many_instances/prints.py order_prints album=Iceland
"""

import os
from typing import Literal

from mrtr_tools import Context, Toolbox, confirm, needs_input, then
from mrtr_tools.server import run_stdio

toolbox = Toolbox("prints")

PRICES = {"small": 1, "large": 3}


def here(ctx: Context, did: str) -> str:
    return f"round {ctx.round + 1}: process {os.getpid()} {did}"


@toolbox.tool
def order_prints(album: str, ctx: Context) -> str:
    """Order prints of an album."""
    return then(choose, album=album, photos=12, log=[here(ctx, f"opened {album}")])


@toolbox.step
@needs_input(size="{album} has {photos} photos. Which size?")
def choose(album: str, photos: int, log: list[str], size: Literal["small", "large"], ctx: Context) -> str:
    return then(pay, photos=photos, price=photos * PRICES[size], log=[*log, here(ctx, "made a price")])


@toolbox.step
@needs_input(ok=confirm("{photos} prints for {price} EUR?"))
def pay(photos: int, price: int, log: list[str], ctx: Context) -> str:
    return then(develop, photos=photos, log=[*log, here(ctx, f"took {price} EUR")])


@toolbox.step
def develop(photos: int, log: list[str], ctx: Context) -> str:
    return then(send, log=[*log, here(ctx, f"printed {photos} photos")])


@toolbox.step
def send(log: list[str], ctx: Context) -> str:
    """Where processes are told to stop, what is left of a round may be done in one more."""
    return "\n".join([*log, here(ctx, "sent them")])


if __name__ == "__main__":
    run_stdio(toolbox)
