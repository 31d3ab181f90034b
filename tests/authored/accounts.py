"""One `login`, with a question of its own, shared by two tools that know nothing of how it is done."""

from pydantic import BaseModel

from mrtr_tools import AskAgain, Toolbox, confirm, needs_input

toolbox = Toolbox("bank")


class Account(BaseModel):
    """A customer's account."""

    owner: str
    balance: int


accounts = {"ada": Account(owner="Ada", balance=90), "bob": Account(owner="Bob", balance=10)}


@needs_input(user="Which user are you?")
def login(user: str) -> Account:
    """The account of whoever calls; a name that nobody has is asked for again."""
    if user not in accounts:
        raise AskAgain(user="There is no such user")
    return accounts[user]


@toolbox.tool
@needs_input(account=login)
def balance(account: Account) -> str:
    """Tell the balance."""
    return f"{account.owner} has {account.balance} EUR"


@toolbox.tool
@needs_input(payer=login)
@needs_input(ok=confirm("Send {amount} EUR from the account of {payer.owner}?"))
def send(amount: int, payer: Account) -> str:
    """Send money."""
    return f"{payer.owner} sent {amount} EUR"
