"""Things that must happen once, each noted in the file that `RAN` names; one waits until the file `OPEN` is there."""

import os
import time
from pathlib import Path

from mrtr_tools import AskAgain, Context, Toolbox, confirm, needs_input, then

toolbox = Toolbox("till")
SECONDS = 20


def ran(what: str) -> None:
    with Path(os.environ["RAN"]).open("a") as file:
        file.write(f"{what}\n")


@toolbox.tool
def shop(item: str) -> str:
    """Buy something."""
    return then(charge, item=item)


@toolbox.step(single_use=True)
@needs_input(amount="How much for {item}?")
def charge(item: str, amount: int, ctx: Context) -> str:
    ran(f"charge {amount} {ctx.idempotency_key}")
    if not amount:
        raise AskAgain(amount="Nothing is free")
    return f"{item} for {amount}"


@toolbox.tool(single_use=True)
def fire() -> str:
    """Ask nothing, and happen once."""
    ran("fire")
    return "fired"


def wait() -> str:
    door, end = Path(os.environ["OPEN"]), time.monotonic() + SECONDS
    while not door.exists() and time.monotonic() < end:
        time.sleep(0.01)  # in a thread: it waits for the test, which decides when
    return "done"


@toolbox.tool(single_use=True)
@needs_input(ok=confirm("Go?"))
def slow(ctx: Context) -> str:
    """Wait inside."""
    ran(f"slow {ctx.idempotency_key}")
    return wait()


@toolbox.tool(single_use=True, on_crash="rerun")
@needs_input(ok=confirm("Go?"))
def stubborn(ctx: Context) -> str:
    """Wait inside, and again after a crash."""
    ran(f"stubborn {ctx.idempotency_key}")
    return wait()
