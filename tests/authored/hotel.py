"""Optional inputs: a field that may stay empty, one with a default, and a question that may be refused as a whole."""

from typing import Annotated

from pydantic import BaseModel, Field

from mrtr_tools import Refused, Toolbox, needs_input

toolbox = Toolbox("hotel")


class Guest(BaseModel):
    """Whoever stays."""

    name: str
    children: int = 0


@toolbox.tool
@needs_input(
    nights="How many nights?",
    wish="Anything we should know?",
    newsletter="May we write to you?",
)
def reserve(
    room: str,
    nights: Annotated[int, Field(ge=1, title="Nights")] = 1,
    wish: Annotated[str | None, Field(description="for the reception")] = None,
    newsletter: Annotated[bool, Field(title="Newsletter")] | Refused = False,
) -> str:
    """Reserve a room."""
    told = f", {wish}" if wish else ""
    return f"{room} for {nights}{told}{', with news' if newsletter else ''}"


@toolbox.tool
@needs_input(guest="Who stays?")
def check_in(room: str, guest: Guest | Refused) -> str:
    """Check somebody in, with a name or without."""
    return f"{guest.name if guest else 'Somebody'} has {room}"
