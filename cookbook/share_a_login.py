"""Write what several tools need once: an input function with a question of its own.

    mrtr-tools call cookbook/share_a_login.py list_orders

`login` asks for a name, looks the account up, and asks again when there is none; the tools get the account. On the wire
its question is `account.user`. It runs once in a call, and what it returned is kept in the signed state.

A name is no proof: here anybody may look at anybody's orders. Who calls is `ctx.principal`, from your server's
authentication; and a form must not ask for a password, for the client reads it (see `open_a_page.py`).
"""

from pydantic import BaseModel

from mrtr_tools import AskAgain, Toolbox, confirm, needs_input
from mrtr_tools.server import run_stdio

toolbox = Toolbox("shop")


class Account(BaseModel):
    user: str
    orders: list[str]


ACCOUNTS = {"ada": Account(user="ada", orders=["tea", "kettle"]), "bob": Account(user="bob", orders=[])}


@needs_input(user="What is your user name?")
async def login(user: str) -> Account:
    if user not in ACCOUNTS:
        raise AskAgain(user="There is no such account.")
    return ACCOUNTS[user]


@toolbox.tool
@needs_input(account=login)
def list_orders(account: Account) -> list[str]:
    """What was ordered."""
    return account.orders


@toolbox.tool
@needs_input(account=login)
@needs_input(ok=confirm("{account.user}, cancel your order of {item}?"))
def cancel_order(item: str, account: Account) -> str:
    """Cancel an order."""
    return f"Cancelled {item}" if item in account.orders else f"{account.user} has not ordered {item}"


if __name__ == "__main__":
    run_stdio(toolbox)
