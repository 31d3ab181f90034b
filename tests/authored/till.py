"""A step that is a method: it is registered bound, so that it has its object."""

from mrtr_tools import AskAgain, Toolbox, needs_input, then

toolbox = Toolbox("till")


class Till:
    """Takes money and counts it."""

    def __init__(self) -> None:
        self.taken = 0

    @needs_input(paid="That is {price} EUR. How much do you give?")
    def pay(self, price: int, paid: int) -> str:
        """Take the money, and give change."""
        if paid < price:
            raise AskAgain(paid=f"{paid} EUR is too little")
        self.taken += price
        return f"Thank you, {paid - price} EUR back"


till = Till()
toolbox.step(till.pay)


@toolbox.tool
def checkout(items: list[str]) -> str:
    """Pay for a basket."""
    return then(till.pay, price=2 * len(items))
