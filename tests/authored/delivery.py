"""A parallel pair: two questions that do not depend on each other go out together and may be answered one at a time."""

from datetime import date
from typing import Literal

from mrtr_tools import Toolbox, needs_input

toolbox = Toolbox("delivery")


@toolbox.tool
@needs_input(day="On which day?", place="Where to?")
async def deliver(parcel: str, day: date, place: Literal["home", "shop"]) -> str:
    """Deliver a parcel."""
    return f"{parcel} on {day:%d %B} to {place}"
