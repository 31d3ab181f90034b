"""Work, ask, work: search for a flight once, ask for a yes, buy the very flight that was shown.

    mrtr-tools call cookbook/book_flight.py book_flight origin=BER destination=LIS

`then` goes on with another step, perhaps in another process: it carries the flight in the signed state, so that the
search does not run again and the price that was confirmed is the price that is paid. The confirm is a gate: without a
yes, nothing is bought.
"""

from pydantic import BaseModel

from mrtr_tools import Context, Toolbox, confirm, needs_input, then
from mrtr_tools.server import run_stdio

toolbox = Toolbox("flights")


class Flight(BaseModel):
    """A seat on offer."""

    number: str
    price: int


@toolbox.tool
async def book_flight(origin: str, destination: str) -> str:
    """Book the cheapest flight, once the traveller has agreed to the price."""
    return then(purchase, destination=destination, flight=await cheapest(origin, destination))


@toolbox.step
@needs_input(ok=confirm("Fly to {destination} for {flight.price} EUR?"))
async def purchase(destination: str, flight: Flight, ctx: Context) -> str:
    """Buy the flight that was shown."""
    ticket = await buy(flight, ctx.idempotency_key)
    return f"Booked {flight.number} to {destination} for {flight.price} EUR, ticket {ticket}"


async def cheapest(origin: str, destination: str) -> Flight:
    """Stands for a slow search in a market where prices move."""
    return Flight(number=f"{origin}-{destination}-1", price=120)


async def buy(flight: Flight, idempotency_key: str) -> str:
    """Stands for a shop that sells once per key."""
    shop.setdefault(idempotency_key, flight)
    return f"T{len(shop)}"


shop: dict[str, Flight] = {}

if __name__ == "__main__":
    run_stdio(toolbox)
