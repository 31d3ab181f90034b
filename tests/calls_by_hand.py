"""Sends calls to the runner by hand: what its tests share."""

from collections.abc import Mapping
from typing import Any

import anyio
import anyio.lowlevel

from mrtr_tools import Elicit, Toolbox, confirm, needs_input, then
from mrtr_tools.calls import Call, Complete, InputRequired
from mrtr_tools.keys import generate_key
from mrtr_tools.runner import handle_call
from mrtr_tools.state import StateSigner
from tests.rounds_by_hand import FORMS

SIGNER = StateSigner([generate_key()], "tests")
FAILED = Complete("The tool failed unexpectedly.", is_error=True)


def call(tool: str, arguments: Mapping[str, Any] | None = None, **more: Any) -> Call:
    """A request."""
    return Call(tool, arguments or {}, **{"client": FORMS, **more})


async def ask(toolbox: Toolbox, request: Call, signer: StateSigner = SIGNER) -> InputRequired:
    """Send it, where questions must come back."""
    reply = await handle_call(toolbox, request, signer)
    assert isinstance(reply, InputRequired), reply
    return reply


async def value(toolbox: Toolbox, request: Call, signer: StateSigner = SIGNER) -> object:
    """Send it, where a result must come back."""
    reply = await handle_call(toolbox, request, signer)
    assert isinstance(reply, Complete), reply
    assert not reply.is_error, reply
    return reply.value


def flights(ran: list[str]) -> Toolbox:
    """Work, two functions that ask, a yes, and work again."""
    toolbox = Toolbox("flights")

    def quote(city: str) -> int:
        ran.append("quote")
        return len(city)

    async def seats(city: str) -> Elicit:
        await anyio.lowlevel.checkpoint()
        ran.append("seats")
        return Elicit("Which seat?", choices=["1A", "1B"])

    @toolbox.tool
    async def book(city: str) -> str:
        ran.append("book")
        await anyio.lowlevel.checkpoint()
        return then(pay, city=city)

    @toolbox.step
    @needs_input(price=quote, seat=seats)
    @needs_input(ok=confirm("Pay {price}?"))
    def pay(city: str, price: int, seat: str) -> str:
        ran.append("pay")
        return then(send, text=f"{city} {seat} {price}")

    @toolbox.step
    async def send(text: str) -> str:
        ran.append("send")
        return text

    return toolbox
