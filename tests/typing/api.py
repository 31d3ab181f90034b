"""What authors write, read by pyright strict and mypy strict, and never run.

A line that must be an error carries the comments that expect one; both checkers complain when it is none.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, assert_type

from mcp import Client
from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from mrtr_tools import (
    AskAgain,
    Context,
    Elicit,
    Refused,
    Toolbox,
    ToolError,
    confirm,
    needs_input,
    then,
)
from mrtr_tools.client import DetailedTask, Tasks, follow
from mrtr_tools.porting import Context as AskingContext, resumable
from mrtr_tools.server import http_app, run_http, run_stdio
from mrtr_tools.testing import Player

toolbox = Toolbox("typing", title="Typing", version="1", instructions="Nothing to say.")


class Flight(BaseModel):
    number: str
    price: int


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


# `needs_input`, `tool` and `step` keep the type of the function.


@toolbox.tool
@needs_input(login="Who are you?")
def get_weather(city: str, login: str, unit: Literal["C", "F"] = "C") -> str:
    return f"{city} {login} {unit}"


@toolbox.tool(
    name="book",
    title="Book",
    annotations={"destructiveHint": True},
    cold_answers=True,
    max_rounds=20,
    version=2,
    ttl=600,
    carry_secrets=True,
)
async def book_flight(origin: str, destination: str) -> str:
    if not origin:
        raise ToolError("Where from?")
    return then(purchase, destination=destination, flight=Flight(number=origin, price=3))


@toolbox.step
@needs_input(ok=confirm("Fly to {destination} for {flight.price}?"))
async def purchase(destination: str, flight: Flight, ctx: Context) -> str:
    assert_type(ctx.idempotency_key, str)
    assert_type(ctx.principal, str | None)
    return f"{destination} {flight.number} {ctx.call_id}"


@toolbox.step(aliases=("count_seats",), carry_secrets=True)
def count(flight: Flight) -> int:
    return flight.price


@toolbox.step(name="nothing")
def nothing() -> None: ...


assert_type(get_weather("Rome", "ann", unit="F"), str)
assert_type(count(Flight(number="1", price=2)), int)
same_type: Callable[[Flight], int] = count
also_async: Callable[[str, str], Awaitable[str]] = book_flight

get_weather("Rome")  # type: ignore[call-arg]
get_weather("Rome", "ann", "K")  # type: ignore[arg-type]
get_weather(3, "ann")  # type: ignore[arg-type]


# `then` is what its target returns, sync or async.


def branches(flight: Flight) -> None:
    assert_type(then(count, flight=flight), int)
    assert_type(then(purchase, destination="Rome", flight=flight), str)
    assert_type(then(nothing), None)
    assert_type(then(shop.pay, amount=3), Flight)
    assert_type(then(shop.pay_later, amount=3), Flight)
    assert_type(then(Shop.named, name="x"), str)
    assert_type(then(Shop.closed, name="x"), str)
    assert_type(then(partial(count, flight=flight)), int)
    assert_type(then(loop), list[str])


@toolbox.step
async def loop(n: int = 0) -> list[str]:
    if n > 3:
        return [str(n)]
    return then(loop, n=n + 1)


@toolbox.tool
def wrong_sync(flight: Flight) -> str:
    return then(count, flight=flight)  # type: ignore[return-value]


@toolbox.tool
async def wrong_async(flight: Flight) -> int:
    return then(purchase, destination="Rome", flight=flight)  # type: ignore[return-value]


@toolbox.tool
def either(flight: Flight) -> int | str:
    if flight.price:
        return then(count, flight=flight)
    return then(purchase, destination="Rome", flight=flight)


then("count")  # type: ignore[call-overload]
then()  # type: ignore[call-overload]
then(count, Flight(number="1", price=2))  # type: ignore[call-overload]


# Methods are registered bound.


class Shop:
    def pay(self, amount: int) -> Flight:
        return then(self.pay_later, amount=amount)

    @needs_input(ok=confirm("Pay {amount}?"))
    async def pay_later(self, amount: int) -> Flight:
        return Flight(number="1", price=amount)

    @classmethod
    def named(cls, name: str) -> str:
        return name

    @staticmethod
    def closed(name: str) -> str:
        return name


shop = Shop()
assert_type(toolbox.step(shop.pay)(amount=3), Flight)
toolbox.step(shop.pay_later, name="later", aliases=("earlier",))
toolbox.step(Shop.named)
toolbox.tool(partial(get_weather, unit="F"), name="fahrenheit")


# Inputs of every kind.


@dataclass
class Address:
    street: str
    city: str = ""


async def suggest(city: str, ctx: Context) -> Elicit:
    return Elicit(f"Which hotel in {city}?", choices={"a": "Hotel A", "b": "Hotel B"})


@needs_input(user="Who are you?")
def login(user: str) -> str:
    return user


@toolbox.tool
@needs_input(who=login, address="Where do you live?")
@needs_input(hotel=suggest, day="Which day?", sizes=Elicit("Which sizes?"))
@needs_input(ok=confirm("Book {hotel} for {who}?"), only_if=lambda city: city != "Rome")
@needs_input(note="Anything else?", only_if=lambda hotel, city: bool(hotel and city))
def reserve(  # noqa: PLR0917
    city: Annotated[str, Field(alias="theCity")],
    who: str,
    address: Address,
    hotel: str,
    day: date,
    sizes: list[Size],
    ok: Literal[True] | Refused | None = None,
    note: str | Refused | None = None,
) -> str:
    if day.year < 2026:
        raise AskAgain(day="That is long ago")
    if not ok:
        return "not booked"
    if isinstance(note, Refused):
        assert_type(note.action, Literal["decline", "cancel", "unsupported"])
        return note.action
    return f"{who} {address.city} {sizes[0].value} {note}"


needs_input(login=3)  # type: ignore[call-overload]
needs_input(login="Who?", only_if=True)  # type: ignore[call-overload]
needs_input("Who?")  # type: ignore[call-overload]
Elicit()  # type: ignore[call-arg]
Elicit("Which?", Flight)  # type: ignore[call-arg]
confirm()  # type: ignore[call-arg]
Refused("no")  # type: ignore[arg-type]
AskAgain(day=3)  # type: ignore[arg-type]
toolbox.tool(max_rounds="ten")(count)  # type: ignore[call-overload]
toolbox.step(aliases="old")(count)  # type: ignore[call-overload]
Toolbox()  # type: ignore[call-arg]


# A survey over a list known only at run time, a reviewer loop, two tenants: shapes that real tools have.


@toolbox.tool
def survey() -> list[str]:
    return then(ask, left=["tea", "milk"], said=[])


@toolbox.step
@needs_input(answer="What about {topic}?")
def ask(left: list[str], said: list[str], answer: str, topic: str = "") -> list[str]:
    said = [*said, answer]
    return then(ask, left=left[1:], said=said, topic=left[0]) if left else said


@toolbox.tool
@needs_input(text="Your text?", verdict="Good enough?")
def review(text: str, verdict: Literal["yes", "no"]) -> str:
    if verdict == "no":
        raise AskAgain(text="Please write it again", verdict="And now?")
    return text


def tenant(name: str) -> Toolbox:
    box = Toolbox(name)

    @box.tool
    @needs_input(who=login)
    def hello(who: str) -> str:
        return f"{who} at {name}"

    assert_type(hello("ann"), str)
    return box


# Serving and testing.


def serve() -> None:
    run_stdio(toolbox)
    run_http(toolbox, keys=["k1"])
    http_app(toolbox, keys=["k1", "k0"], ttl=600, max_age=3600)
    run_http(toolbox, keys_file=Path("keys"))
    run_stdio(toolbox, keys_file="keys", max_age=3600.0)


def play() -> None:
    played = Player(tenant("one")).play("hello", {}, who="ann")
    assert_type(played.text, str)
    assert_type(played.result, object)
    assert_type(played.ran, list[str])


# Input functions and conditions that take their parameters by keyword.


def by_keyword(*, city: str) -> str:
    return city


@needs_input(b=by_keyword)
def keyword_input(city: str, b: str) -> str:
    return b


@needs_input(b="And?", only_if=by_keyword)
def keyword_condition(city: str, b: str = "") -> str:
    return b


assert_type(keyword_input("a", "b"), str)
assert_type(keyword_condition("a"), str)


# Clients that follow tasks.


async def told(task: DetailedTask) -> None:
    assert_type(task.status_message, str | None)


async def followed(url: str) -> CallToolResult:
    async with Client(url, extensions=[Tasks(told)]) as client:
        task = await follow(client.session, "id", told=told)
        assert_type(task, DetailedTask)
        return task.outcome()


# A `resumable` keeps its type, and its answers have that of the form.


async def order(what: str) -> Flight:
    return Flight(number=what, price=1)


def number() -> int:
    return 1


@toolbox.tool
@resumable
async def asks(city: str, ctx: AskingContext) -> str:
    answer = await ctx.elicit("Which flight?", schema=Flight)
    if answer.action == "accept":
        assert_type(answer.data, Flight)
    assert_type(await ctx.once(order, city), Flight)
    assert_type(await ctx.once(number), int)
    return city


Player(toolbox, double_run=True).play("asks", {"city": "Oslo"}, ask=Flight(number="1", price=1))
