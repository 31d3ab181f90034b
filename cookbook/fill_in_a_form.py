"""A form with several fields, from a dataclass.

    mrtr-tools call cookbook/fill_in_a_form.py register event="PyCon"

Each field is shown by its annotation: text, number, yes or no, date, one choice, several choices. `Field` says more: a
title, a description, limits. A field with a default may be left as it is; one with `| None = None` may be left empty.
The server checks all of it again when the answer comes, asks again with the reason where it does not fit, and gives the
step an instance. Forms are flat: no field has fields. Never ask for passwords or card numbers in a form: the client
reads it. For those see `open_a_page.py`.
"""

from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from mrtr_tools import Toolbox, needs_input
from mrtr_tools.server import run_stdio

toolbox = Toolbox("events")


@dataclass
class Registration:
    name: Annotated[str, Field(title="Your name", min_length=1, max_length=80)]
    tickets: Annotated[int, Field(ge=1, le=5)]
    day: Literal["Saturday", "Sunday", "both"]
    tracks: Annotated[list[Literal["web", "data", "games"]], Field(description="What you come for", max_length=2)]
    lunch: bool = True
    born: Annotated[date | None, Field(description="For those under 26: your day of birth")] = None


@toolbox.tool
@needs_input(form="Register for {event}")
def register(event: str, form: Registration) -> str:
    """Register for an event."""
    price = 40 * form.tickets * (2 if form.day == "both" else 1)
    price = price // 2 if form.born and form.born.year > 2000 else price
    return f"{form.name}: {form.tickets} for {event} ({form.day}; {', '.join(form.tracks) or 'no track'}), {price} EUR"


if __name__ == "__main__":
    run_stdio(toolbox)
