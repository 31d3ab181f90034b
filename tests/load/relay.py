"""A call of three rounds and six steps, each run of a step noted in a file of its process in the folder `NOTES`."""

import os
from pathlib import Path

import anyio

from mrtr_tools import Toolbox, confirm, needs_input, then

toolbox = Toolbox("relay")
SECONDS = 0.02  # that a step takes, so that processes end in the middle of some

STEPS = ("begin", "read", "price", "agree", "pay", "send")
"""What a call runs, in order; it asks before `read` and before `agree`."""


def note(order: int, step: str, what: str) -> None:
    with (Path(os.environ["NOTES"]) / str(os.getpid())).open("a") as file:
        file.write(f"{order} {step} {what}\n")


async def work(order: int, step: str) -> None:
    note(order, step, "begun")
    await anyio.sleep(SECONDS)
    note(order, step, "done")


@toolbox.tool
async def begin(order: int) -> str:
    await work(order, "begin")
    return then(read, order=order, total=order)


@toolbox.step
@needs_input(digit="Which digit?")
async def read(order: int, total: int, digit: int) -> str:
    await work(order, "read")
    return then(price, order=order, total=10 * total + digit)


@toolbox.step
async def price(order: int, total: int) -> str:
    await work(order, "price")
    return then(agree, order=order, total=2 * total)


@toolbox.step
@needs_input(ok=confirm("Pay {total}?"))
async def agree(order: int, total: int) -> str:
    await work(order, "agree")
    return then(pay, order=order, total=total)


@toolbox.step
async def pay(order: int, total: int) -> str:
    await work(order, "pay")
    return then(send, order=order, total=total)


@toolbox.step
async def send(order: int, total: int) -> str:
    await work(order, "send")
    return result(order, total)


def result(order: int, total: int) -> str:
    return f"order {order} paid {total}"


def expected(order: int) -> str:
    """The result of an order whose digit is its last one."""
    return result(order, 2 * (10 * order + order % 10))
