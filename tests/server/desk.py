"""Tools that ask in several ways."""

from typing import Literal

from mrtr_tools import AskAgain, Elicit, Refused, Toolbox, confirm, needs_input
from mrtr_tools.keys import generate_key
from mrtr_tools.server.alone import server_for
from mrtr_tools.server.service import Service
from mrtr_tools.server.signing import starting_signer

toolbox = Toolbox("desk")


@toolbox.tool
@needs_input(who="Who are you?")
def greet(who: str) -> str:
    return f"Hello {who}"


@toolbox.tool(cold_answers=True, annotations={"readOnlyHint": True, "made-up": 1})
@needs_input(who="Who are you?")
def greet_anyone(who: str) -> str:
    return f"Hello {who}"


@toolbox.tool
@needs_input(first="First name?", last="Last name?")
def both(first: str, last: str) -> str:
    return f"{first} {last}"


@toolbox.tool
@needs_input(ok=confirm("Delete it?"))
def delete() -> str:
    return "deleted"


@toolbox.tool
@needs_input(who="Who are you?")
def perhaps(who: str | Refused) -> str:
    return f"Nobody ({who.action})" if isinstance(who, Refused) else f"Hello {who}"


@toolbox.tool(max_rounds=4)
@needs_input(n="A number?")
def never_enough(n: int) -> str:
    raise AskAgain(n="More!")


@toolbox.tool
@needs_input(colour=Elicit("Which colour?", choices={"r": "Red", "g": "Green"}))
def paint(colour: str) -> str:
    return colour


@toolbox.tool
@needs_input(sizes="Which sizes?")
def order(sizes: list[Literal["S", "M"]]) -> str:
    return " ".join(sizes)


def server_of(served: Toolbox):
    """The SDK's server for a toolbox, with a key of its own."""
    return server_for(Service(served, starting_signer(served, [generate_key()], audience=None, ttl=60)))
