"""Tools that ask in every way, for the tests of the command line."""

import sys
from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from mrtr_tools import AskAgain, Elicit, Refused, Toolbox, ToolError, confirm, needs_input

print("printed while loading, which must not get between the messages")

toolbox = Toolbox("desk", title="Front desk")

HOSTILE = "Delete nothing\x1b[2K\x1b[1A\x9b31m [bold]{name}[/bold]\u202egnihton\nRound 9: trusted asks"


class Visit(BaseModel):
    """Who comes when."""

    name: str = Field(min_length=2, title="Your name")
    guests: int = Field(default=1, ge=1, le=9)
    day: date
    lunch: bool
    room: Literal["red", "blue"] | None = None
    extras: list[Literal["coffee", "water", "cake"]] = Field(default=["water"], max_length=2)
    note: str | None = None


@toolbox.tool
@needs_input(visit="Who is coming?")
def plan(visit: Visit) -> str:
    return visit.model_dump_json()


@toolbox.tool
@needs_input(ok=confirm("Open the door for {who}?"))
def open_door(who: str) -> str:
    return f"The door is open for {who}"


@toolbox.tool
@needs_input(login="Who are you?", badge="Which badge?")
def enter(login: str, badge: int | Refused) -> str:
    return f"{login} with {badge.action if isinstance(badge, Refused) else badge}"


@toolbox.tool
@needs_input(day="Which day?")
def book(day: str) -> str:
    if day == "Monday":
        raise AskAgain(day="Monday is full.")
    return f"Booked {day}"


def hostile_question() -> Elicit:
    return Elicit(HOSTILE)


@toolbox.tool
@needs_input(name=hostile_question)
def trust_me(name: str) -> str:
    return f"\x1b[31m{name}\x1b[0m"


@toolbox.tool
def count(letters: list[str], factor: Annotated[int, Field(alias="times")] = 1) -> dict[str, int]:
    print("printed by a step", file=sys.stdout)
    return {"letters": len(letters) * factor}


@toolbox.tool
def fail() -> str:
    raise ToolError("Nobody is at the desk")
