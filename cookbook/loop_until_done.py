"""Ask until there is nothing more: a step that hands on to itself.

    mrtr-tools call cookbook/loop_until_done.py plan_trip traveller=Ada

Each time around is a call of its own: it gets what was gathered so far, asks, and hands on one more. What it carries
travels in the signed state, so it grows with the list and with nothing else. `then` goes to steps only, so the tool
begins the loop and a step is the loop. A call asks at most ten times, for there most clients stop; `max_rounds=` may
say more or less. Where many things are to be told at once, one text or a form is kinder than a loop.
"""

from mrtr_tools import Refused, Toolbox, confirm, needs_input, then
from mrtr_tools.server import run_stdio

toolbox = Toolbox("trips")


@toolbox.tool
def plan_trip(traveller: str) -> str:
    """Plan a trip, stop by stop."""
    return then(add_stop, traveller=traveller, stops=[])


@toolbox.step
@needs_input(stop="{traveller}, where do you go next? Leave it empty when that is all.")
def add_stop(traveller: str, stops: list[str], stop: str | Refused | None = None) -> str:
    if stop:
        return then(add_stop, traveller=traveller, stops=[*stops, stop])
    if not stops:
        return "No trip, then."
    return then(book, route=" - ".join(stops))


@toolbox.step
@needs_input(ok=confirm("Book the trip {route}?"))
def book(route: str) -> str:
    return f"Booked: {route}"


if __name__ == "__main__":
    run_stdio(toolbox)
