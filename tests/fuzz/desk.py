"""What is fuzzed: tools, a prompt and a resource that ask in every way there is, and the key of their states.

Every function notes that it ran. The key is fixed and states live for years, so that an input that was found once does
the same for ever.
"""

import datetime
import enum
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field

from mrtr_tools import (
    AskAgain,
    Context,
    Elicit,
    ElicitUrl,
    ListRoots,
    Refused,
    Root,
    Sample,
    Sampled,
    Toolbox,
    confirm,
    needs_input,
    then,
)
from mrtr_tools.keys import raw_key

KEY: Final = raw_key(b"the key of the fuzzing harness, and of nothing else")
LIFE: Final = 10 * 365 * 24 * 3600  # seconds

ran: list[str] = []
"""The functions that ran since somebody cleared this."""

toolbox = Toolbox("fuzz")


# A yes


@toolbox.tool
@needs_input(ok=confirm("Pay {amount}?"))
async def pay(amount: int) -> str:
    ran.append("pay")
    return f"paid {amount}"


@toolbox.tool
@needs_input(page=ElicitUrl("Sign in", "https://login.example/{ctx.handle}"))
async def visit(ctx: Context) -> str:
    ran.append("visit")
    await ctx.report_progress(0.5, 1.0, "half")
    await ctx.log("info", "visited")
    return "visited"


@toolbox.tool
@needs_input(ok=confirm("Really?"))
async def consider(ok: bool | Refused) -> str:
    ran.append("consider, after a yes" if ok else "consider")
    return "yes" if ok else f"no: {getattr(ok, 'action', ok)}"


# Forms


class Size(enum.Enum):
    SMALL = "S"
    LARGE = "L"


@dataclass
class Order:
    size: Size
    name: Annotated[str, Field(min_length=2, max_length=20)]
    count: Annotated[int, Field(ge=1, le=9, alias="howMany")] = 1
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5
    gift: bool = False


@toolbox.tool
@needs_input(order="What would you like?")
async def buy(order: Order) -> str:
    ran.append("buy")
    return repr(order)


Mail = Annotated[str, Field(json_schema_extra={"format": "email"})]


@toolbox.tool(max_rounds=100)
@needs_input(
    text="?",
    number="?",
    count="?",
    flag="?",
    day="?",
    moment="?",
    mail="?",
    price="?",
    one="?",
    many="?",
    pick=Elicit("?", choices={"r": "Red", "g": "Green"}),
    perhaps="?",
)
async def fill(
    *,
    text: str,
    number: float,
    count: int,
    flag: bool,
    day: datetime.date,
    moment: datetime.datetime,
    mail: Mail,
    price: Decimal,
    one: Literal["a", "b"],
    many: Annotated[list[Literal["a", "b", "c"]], Field(min_length=1, max_length=2)],
    pick: str,
    perhaps: str | Refused | None = None,
) -> str:
    ran.append("fill")
    return repr((text, number, count, flag, day, moment, mail, price, one, many, pick, perhaps))


# The model, the roots, and what functions ask


async def listed(count: int) -> Elicit:
    ran.append("listed")
    return Elicit("Which?", choices=[f"seat {number}" for number in range(count % 5 + 1)])


@toolbox.tool
@needs_input(said=Sample("Say something"), heard=Sample("And?"), roots=ListRoots(), seat=listed)
async def ask_around(count: int, said: str, heard: Sampled, roots: list[Root], seat: str) -> str:
    ran.append("ask_around")
    return f"{said} {heard.text} {len(roots)} {seat}"


# Steps


class Flight(BaseModel):
    number: str
    price: int


@needs_input(login="Who are you?")
async def account(login: str) -> str:
    ran.append("account")
    if login == "nobody":
        raise AskAgain(login="Somebody, please")
    return login.upper()


@toolbox.tool
async def book(city: str) -> str:
    ran.append("book")
    return then(confirm_booking, flight=Flight(number=city[:20], price=len(city)), city=city)


@toolbox.step
@needs_input(who=account)
@needs_input(day="Which day for {who}?", only_if=lambda flight: flight.price > 2)
@needs_input(ok=confirm("Book {flight.number} for {flight.price} on {day}?"))
async def confirm_booking(flight: Flight, city: str, who: str, day: datetime.date | None = None) -> str:
    ran.append("confirm_booking")
    if day is not None and day.year < 2000:
        raise AskAgain(day="That was long ago")
    return f"{who} {city} {flight.number} {day}"


# Arguments


@toolbox.tool
async def echo(value: Any = None) -> dict[str, Any]:
    ran.append("echo")
    return {"value": value}


@toolbox.tool
def count(number: Decimal, members: set[int] | None = None, by_number: dict[int, str] | None = None) -> str:
    ran.append("count")
    return f"{number} {members} {by_number}"


@toolbox.tool
async def fetch(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    ran.append("fetch")
    return region


@toolbox.tool(cold_answers=True)
@needs_input(who="Who?")
async def greet(who: str) -> str:
    ran.append("greet")
    return f"Hello {who}"


# The other two kinds


@toolbox.prompt()
@needs_input(tone="In which tone?")
async def letter(to: str, tone: Literal["warm", "cold"]) -> str:
    ran.append("letter")
    return f"{tone} {to}"


@toolbox.resource("notes://{owner}/{name}")
@needs_input(ok=confirm("Show {name} of {owner}?"))
async def note(owner: str, name: str) -> str:
    ran.append("note")
    return f"{owner} {name}"
