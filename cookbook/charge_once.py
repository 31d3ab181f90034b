"""Charge a card once through a payment service, also when the first try ends in a timeout or a crash.

    mrtr-tools call cookbook/charge_once.py pay amount=25

A service that takes an idempotency key does the same thing once per key, however often it hears of it.
`ctx.idempotency_key` names this run of this step: it is the same when the same round is sent again, to any machine, and
when a process dies inside the step, and another one for the next call. So give it on, and try again with the same one.
A client that goes back and answers otherwise has the same key too, and a service that compares refuses what differs.

Here `charge` stands for such a service, and loses an answer on purpose, as networks do. For one without keys, see
`use_once.py`.
"""

from mrtr_tools import Context, Toolbox, ToolError, confirm, needs_input
from mrtr_tools.server import run_stdio

toolbox = Toolbox("payments")
TRIES = 3


@toolbox.tool
@needs_input(ok=confirm("Charge {amount} EUR to your card?"))
def pay(amount: int, ctx: Context) -> str:
    """Charge the card on file."""
    for _ in range(TRIES):
        try:
            return f"Paid {amount} EUR, receipt {charge(amount, ctx.idempotency_key)}"
        except TimeoutError:
            continue  # nobody knows whether it was charged; the key makes it safe to ask again
        except ValueError as refused:
            raise ToolError(str(refused)) from None
    raise ToolError("The payment service does not answer; send the same answer again later")


charges: dict[str, int] = {}
lost_answers = ["one"]


def charge(amount: int, idempotency_key: str) -> str:
    """Stands for a payment service: one charge for each key, and an answer that gets lost now and then."""
    if charges.setdefault(idempotency_key, amount) != amount:
        raise ValueError("This key was used for another amount")
    if lost_answers:
        lost_answers.pop()
        raise TimeoutError
    return f"R{len(charges)}"


if __name__ == "__main__":
    run_stdio(toolbox)
