"""A price that moves between question and answer: what was shown is what is charged.

The price is an input of its own, made by a function that runs once, in a group above the question that shows it. The
step takes it as a parameter and does not read it again.
"""

from mrtr_tools import Toolbox, confirm, needs_input

toolbox = Toolbox("shares")

market: dict[str, int] = {"ACME": 100}
charged: list[int] = []


async def quote(symbol: str) -> int:
    """The price of this moment."""
    return market[symbol]


@toolbox.tool
@needs_input(price=quote)
@needs_input(ok=confirm("Buy {symbol} for {price} EUR?"))
def buy(symbol: str, price: int) -> str:
    """Buy a share."""
    charged.append(price)
    return f"Bought {symbol} for {price} EUR"
