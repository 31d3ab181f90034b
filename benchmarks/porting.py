"""A tool that asks three questions, round by round: as an await-style body, over the same tool as steps."""

import asyncio
from collections.abc import Sequence

from pydantic import BaseModel

from benchmarks.measuring import Job, main, medians
from benchmarks.tables import Row
from benchmarks.wire import CAPABILITIES
from mrtr_tools import Toolbox, needs_input
from mrtr_tools.answering import respond
from mrtr_tools.calls import Call, Client, InputRequired
from mrtr_tools.keys import generate_key
from mrtr_tools.porting import Context, resumable
from mrtr_tools.runner import handle_call
from mrtr_tools.state import StateSigner

ARGUMENTS = {"day": "Monday"}
ALLOWED = 2.0


class Party(BaseModel):
    guests: int


class Seat(BaseModel):
    terrace: bool


class Name(BaseModel):
    name: str


toolbox = Toolbox("benchmark")


@toolbox.tool
@needs_input(party="How many guests on {day}?")
@needs_input(seat="On the terrace?")
@needs_input(name="In which name?")
async def as_steps(day: str, party: Party, seat: Seat, name: Name) -> str:
    """Book a table."""
    return f"{party.guests} on {day}, {seat.terrace}, for {name.name}"


@toolbox.tool
@resumable
async def on_the_bridge(day: str, ctx: Context) -> str:
    """Book a table."""
    party = await ctx.elicit(f"How many guests on {day}?", schema=Party)
    seat = await ctx.elicit("On the terrace?", schema=Seat)
    name = await ctx.elicit("In which name?", schema=Name)
    if party.action != "accept" or seat.action != "accept" or name.action != "accept":
        return "nothing was booked"
    return f"{party.data.guests} on {day}, {seat.data.terrace}, for {name.data.name}"


ANSWERS = (Party(guests=2), Seat(terrace=True), Name(name="Ada"))


async def rounds(tool: str, signer: StateSigner) -> list[Call]:
    """The four requests of a call."""
    client = Client(CAPABILITIES)
    calls = [Call(tool, ARGUMENTS, client=client)]
    for answer in ANSWERS:
        asked = await handle_call(toolbox, calls[-1], signer)
        assert isinstance(asked, InputRequired)
        responses = {key: respond(request, answer) for key, request in asked.requests.items()}
        calls.append(Call(tool, ARGUMENTS, responses, asked.state, client=client))
    return calls


def measured(quick: bool = False) -> Sequence[Row]:
    return asyncio.run(compared(batches=25 if quick else 80, calls=20))


async def compared(*, batches: int, calls: int) -> list[Row]:
    signer = StateSigner([generate_key()], "benchmark")
    jobs: dict[str, Job] = {}
    for tool in ("as_steps", "on_the_bridge"):
        for number, call in enumerate(await rounds(tool, signer), 1):
            jobs[f"{tool} {number}"] = lambda call=call: handle_call(toolbox, call, signer)
    took = await medians(jobs, batches=batches, calls=calls)
    return [
        Row(
            f"three asks, round {n}: bridge : steps", took[f"on_the_bridge {n}"], took[f"as_steps {n}"], at_most=ALLOWED
        )
        for n in range(1, 5)
    ]


if __name__ == "__main__":
    raise SystemExit(main(porting=measured))
