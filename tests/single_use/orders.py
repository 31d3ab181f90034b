"""Two toolboxes with an `order` that happens once: all of it, or step by step. `effects` counts what happened."""

from collections import Counter
from typing import Any

from mrtr_tools import AskAgain, Toolbox, confirm, needs_input, then


def whole(effects: Counter[str], **options: Any) -> Toolbox:
    """A tool of single use whose rounds run a function, ask again, act, and go on."""
    toolbox = Toolbox("t")

    def quote(name: str) -> str:
        effects["quoted"] += 1
        return f"{name} {effects['quoted']}"

    @toolbox.tool(single_use=True, **options)
    @needs_input(name="Who?")
    @needs_input(price=quote)
    @needs_input(ok=confirm("Pay {price}?"))
    def order(name: str, price: str) -> str:
        if name == "nobody":
            raise AskAgain(name="Somebody must")
        effects["paid"] += 1
        return then(rate, price=price)

    @toolbox.step
    @needs_input(stars="How was it?")
    def rate(price: str, stars: int) -> str:
        effects["rated"] += 1
        return f"{price}, {stars} stars"

    return toolbox


def steps(effects: Counter[str], **options: Any) -> Toolbox:
    """A tool that goes through steps of single use, in a loop, with a question and without."""
    toolbox = Toolbox("t")

    @toolbox.tool
    def order() -> str:
        return then(pay, left=1)

    @toolbox.step(single_use=True, **options)
    @needs_input(name="Who?")
    def pay(left: int, name: str) -> str:
        if name == "nobody":
            raise AskAgain(name="Somebody must")
        effects[f"paid {left}"] += 1
        return then(pay, left=left - 1) if left else then(seal)

    @toolbox.step(single_use=True, **options)
    def seal() -> str:
        effects["sealed"] += 1
        return "sealed"

    return toolbox
