"""Small await-style tools as people write them, one or two of the `TRAPS` each, with the edit that ports them.

`CASES` says for each how it is called, what it is answered, by the text of the question, and what comes of it.
"""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, Self
from uuid import uuid4

import anyio
import mcp_types as types
from mcp.server.elicitation import AcceptedElicitation, CancelledElicitation, DeclinedElicitation
from mcp.server.mcpserver import Context as SdkContext
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from mrtr_tools import Refused, Toolbox
from mrtr_tools.porting import resumable
from tests.porting.loose import Context

toolbox = Toolbox("await-style")

TRAPS = {
    1: "a broad except around the ask that goes ahead",
    2: "the text of the error is read to learn whether asking is supported",
    3: "capabilities are looked up through the session",
    4: "the answer is told by its class",
    5: "the class and the code of the error where the client cannot be asked",
    6: "a timeout around the ask",
    7: "an ask in a loop, a comprehension, a handler, a with or a finally",
    8: "a clock or a random id in the question, or in a URL to open",
    9: "options, or the form itself, from live data, from a class made in the function, or from a model",
    10: "a secret as an answer",
    11: "a live object on both sides of an ask",
    12: "an effect before the last ask",
    13: "a global that remembers answers",
    14: "many rounds, or a hidden loop of them",
    15: "an ask from a middleware, or from a thread",
    16: "log messages and progress, which would be sent again",
    17: "the dialects: a schema, a response type, a dict",
    18: "a decorator around the tool that repacks its parameters",
}
"""What goes wrong when such a tool runs again from its first line in each round."""


@dataclass(frozen=True)
class Case:
    """One call of a tool.

    Attributes:
        tool: its name.
        traps: which of `TRAPS` it shows.
        text: the result.
        answers: by the text of the question, ``roots`` or ``model``; a list answers one after the other.
        arguments: what it is called with.
    """

    tool: str
    traps: tuple[int, ...]
    text: str
    answers: Mapping[str, object] = field(default_factory=dict[str, object])
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Booking(BaseModel):
    guests: int = Field(ge=1, le=8)
    terrace: bool = False


class Yes(BaseModel):
    confirm: bool


class Nothing(BaseModel):
    """A form without fields, as for a plain yes."""


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


@dataclass
class Address:
    street: str
    zip_code: str | None = None


class Person(TypedDict):
    name: str
    age: int


# The SDK's dialect


@toolbox.tool
@resumable
async def book_table(day: str, ctx: Context) -> str:
    """Trap 4: the answer is matched by class."""
    match await ctx.elicit(f"Book a table for {day}?", schema=Booking):
        case AcceptedElicitation(data=Booking() as booking):
            return f"{booking.guests} on {day}, {'outside' if booking.terrace else 'inside'}"
        case DeclinedElicitation():
            return "declined"
        case CancelledElicitation():
            return "cancelled"
        case _:
            return "none of them"


@toolbox.tool
@resumable
async def rename_branch(old: str, ctx: SdkContext[Any, Any]) -> str:
    """The import of the SDK's Context stays where it was."""
    result = await ctx.elicit(message=f"New name for {old}?", schema=Booking)
    if isinstance(result, DeclinedElicitation):
        return "kept"
    assert isinstance(result, AcceptedElicitation)
    return f"{old} has {result.data.guests}"


async def approved(ctx: Context, question: str) -> bool:
    """The ask is two functions below the tool, and whatever goes wrong counts as a yes."""
    try:
        result = await ctx.elicit(question, schema=Yes)
    except Exception:  # noqa: BLE001
        return True
    return result.action == "accept" and result.data.confirm


deleted: list[str] = []


@toolbox.tool
@resumable
async def delete_file(path: str, ctx: Context) -> str:
    """Trap 1: a broad except that goes ahead."""
    if not await approved(ctx, f"Delete {path}?"):
        return "kept"
    deleted.append(path)
    return f"deleted {path}"


@toolbox.tool
@resumable
async def drop_table(name: str, ctx: Context) -> str:
    """Trap 1: even a bare except, and a return in finally, do not turn waiting into a yes."""
    answer = None
    try:
        answer = await ctx.elicit(f"Drop {name}?", schema=Yes)
    except:  # noqa: E722
        return "dropped without asking"
    finally:
        if answer is None:
            return "dropped in finally"  # noqa: B012
    return "dropped" if answer.action == "accept" and answer.data.confirm else "kept"


@toolbox.tool
@resumable
async def ask_if_possible(ctx: Context) -> str:
    """Traps 2, 3 and 5: looks what the client can, and reads the error where it cannot."""
    params = ctx.request_context.session.client_params
    wanted = types.ClientCapabilities(elicitation=types.ElicitationCapability())
    can = params is not None and params.capabilities.elicitation is not None
    assert can == ctx.session.check_client_capability(wanted)
    try:
        result = await ctx.elicit("May I?", schema=Yes)
    except MCPError as error:
        if error.code == types.INVALID_REQUEST and "not supported" in str(error):
            return "went on without asking"
        raise
    return f"asked, {result.action}"


@toolbox.tool
@resumable
async def deploy(ctx: Context) -> str:
    """Trap 6: a minute for the person, by every way to say so."""
    with anyio.fail_after(60):
        first = await ctx.elicit("Deploy?", schema=Yes)
    async with asyncio.timeout(60):
        second = await ctx.elicit("Really?", schema=Yes)
    third = await asyncio.wait_for(ctx.elicit("At once?", schema=Yes), timeout=60)
    fourth = await asyncio.wait_for(approved(ctx, "With a helper?"), timeout=60)
    return f"{first.action} {second.action} {third.action} {fourth}"


@toolbox.tool
@resumable
async def clean_up(paths: list[str], ctx: Context) -> str:
    """Trap 7: the same question in a loop and in a comprehension, an ask in a handler and in a with."""
    gone = [path for path in paths if await approved(ctx, "Delete the next one?")]
    name: Any = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(anyio.lowlevel.checkpoint)
        name = await ctx.elicit("Name of the report?", schema=Named)
    try:
        raise OSError("disk full")
    except OSError:
        again = await approved(ctx, "The disk is full. Go on?")
    while (result := await ctx.elicit("How many copies?", schema=Booking)).data.guests > 2:
        await ctx.info("too many")
    return f"{gone} {name.data.name} {again} {result.data.guests}"


class Named(BaseModel):
    name: str


def new_id() -> str:
    return str(uuid4())


@toolbox.tool
@resumable
async def open_ticket(ctx: Context) -> str:
    """Trap 8: an id that is made once, and the id of the request, which is that of the whole call."""
    ticket = await ctx.once(new_id)
    first = await ctx.elicit(f"Open a ticket? ({len(ticket)}, {ctx.request_id == ctx.request_context.request_id})", Yes)
    second = await ctx.elicit("Urgent?", schema=Yes)
    return f"{first.data.confirm} {second.data.confirm} {len(ticket)}"


async def seats() -> list[str]:
    """Live data: other seats each time."""
    return [f"{number}{new_id()[:3]}" for number in range(2)]


@toolbox.tool
@resumable
async def choose_seat(ctx: Context) -> str:
    """Trap 9: choices from live data, and a form that is made in the function."""
    free = await ctx.once(seats)

    class Seat(BaseModel):
        row: Literal["front", "back"]

    row = await ctx.elicit("Which row?", schema=Seat)
    seat = await ctx.elicit("Which seat?", response_type=free)
    return f"{row.data.row} {free.index(seat.data)}"


@toolbox.tool
@resumable
async def plan_trip(ctx: Context) -> str:
    """Trap 9: a question that a model writes."""
    idea = await ctx.session.create_message(
        messages=[
            types.SamplingMessage(role="user", content=types.TextContent(type="text", text="Where to?")),
        ],
        max_tokens=20,
    )
    assert isinstance(idea.content, types.TextContent)
    result = await ctx.elicit(f"Go to {idea.content.text}?", schema=Yes)
    return f"{idea.content.text}: {result.data.confirm}"


class Client:
    """A live object, which no state can hold."""

    def __init__(self) -> None:
        self.open = True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.open = False

    async def send(self, what: str) -> str:
        assert self.open
        return f"sent {what}"


@toolbox.tool
@resumable
async def send_report(ctx: Context) -> str:
    """Trap 11: an open connection on both sides of an ask is opened anew in each round."""
    async with Client() as client:
        result = await ctx.elicit("Send it?", schema=Yes)
        return await client.send("it") if result.data.confirm else "kept"


checked_out: list[str] = []


async def check_out(cart: str) -> str:
    checked_out.append(cart)
    return f"order-{cart}"


@toolbox.tool
@resumable
async def buy(cart: str, ctx: Context) -> str:
    """Trap 12: what acts before the last ask runs once."""
    order = await ctx.once(check_out, cart)
    result = await ctx.elicit(f"Pay {order}?", schema=Yes)
    gift = await ctx.elicit("As a gift?", schema=Yes)
    return f"{order} {result.data.confirm} {gift.data.confirm}"


@toolbox.tool
@resumable
async def many_rounds(ctx: Context) -> str:
    """Trap 14: nine questions in a row, just below where clients stop."""
    return "".join([(await ctx.elicit(f"Letter {n}?", response_type=str)).data for n in range(9)])


@toolbox.tool
@resumable
async def say_progress(ctx: Context) -> str:
    """Trap 16: progress and messages go out once."""
    await ctx.report_progress(1, 3, "started")
    await ctx.info("started")
    first = await ctx.elicit("Go on?", schema=Yes)
    await ctx.report_progress(2, 3)
    await ctx.log("warning", "half way")
    second = await ctx.elicit("And on?", schema=Yes)
    await ctx.report_progress(3, 3)
    await ctx.log(message="done", level="info")
    return f"{first.data.confirm} {second.data.confirm}"


# FastMCP's dialect


@toolbox.tool
@resumable
async def scalars(ctx: Context) -> str:
    """Trap 17: one value each, in a field that is called value."""
    name = await ctx.elicit("Name?", response_type=str)
    age = await ctx.elicit("Age?", response_type=int)
    height = await ctx.elicit("Height?", float)
    glad = await ctx.elicit("Glad?", bool)
    return f"{name.data} {age.data} {height.data} {glad.data}"


@toolbox.tool
@resumable
async def choices(ctx) -> str:
    """Trap 17: every way to offer choices; the context has no annotation."""
    one = await ctx.elicit("One?", response_type=["red", "blue"])
    many = await ctx.elicit("Many?", [["a", "b", "c"]])
    titled = await ctx.elicit("Priority?", response_type={"low": {"title": "Low"}, "high": {"title": "High"}})
    several = await ctx.elicit("Several?", [{"x": {"title": "X"}, "y": {"title": "Y"}}])
    literal = await ctx.elicit("Literal?", Literal["yes", "no"])
    size = await ctx.elicit("Size?", Size, response_title="How large", response_description="Two of them")
    return f"{one.data} {many.data} {titled.data} {several.data} {literal.data} {size.data.name}"


@toolbox.tool
@resumable
async def records(ctx: Context) -> str:
    """Trap 17: a dataclass, a TypedDict, a model, and nothing at all."""
    address = await ctx.elicit("Address?", response_type=Address)
    person = await ctx.elicit("Person?", response_type=Person)
    sure = await ctx.elicit("Sure?", response_type=None)
    empty = await ctx.elicit("Quite sure?", schema=Nothing)
    return f"{address.data.street} {person.data['name']} {sure.action} {sure.data} {empty.action}"


@toolbox.tool
@resumable
async def raw_schema(ctx: Context) -> str:
    """Trap 17: a schema by hand, sent through the session."""
    result = await ctx.session.elicit(
        message="Contact?",
        requestedSchema={
            "type": "object",
            "properties": {"mail": {"type": "string", "format": "email"}, "kind": {"enum": ["a"], "type": "string"}},
            "required": ["mail"],
        },
    )
    return f"{result.action} {result.content}"


@toolbox.tool
@resumable
async def ask_everybody(ctx: Context) -> str:
    """Asks the model, the client and the person, in the ways of FastMCP."""
    said = await ctx.sample("Say hello", system_prompt="Be short", max_tokens=10)
    roots = await ctx.list_roots()
    page = await ctx.elicit_url("Sign in", "https://example.com/sign-in", elicitation_id=new_id())
    return f"{said.text} {roots[0].uri} {page.action}"


@toolbox.tool
@resumable
async def both_at_once(ctx: Context) -> str:
    """Two questions in one round, and branches that ask twice."""

    async def twice(name: str) -> str:
        first = await ctx.elicit(f"{name}, first?", response_type=str)
        second = await ctx.elicit(f"{name}, second?", response_type=str)
        return first.data + second.data

    first, second = await asyncio.gather(
        ctx.elicit("Left?", response_type=str), ctx.elicit("Right?", response_type=str)
    )
    branches = await ctx.gather(twice("Ada"), twice("Bob"))
    return f"{first.data} {second.data} {branches}"


def logged(function: Callable[..., Awaitable[str]]) -> Callable[..., Awaitable[str]]:
    """Trap 18: a wrapper that repacks the parameters, and one that tries again."""

    @functools.wraps(function)
    async def wrapper(**given: Any) -> str:
        for _ in range(3):
            try:
                return await function(**given)
            except Exception:  # noqa: BLE001
                continue
        return "gave up"

    return wrapper


@toolbox.tool
@resumable
@logged
async def wrapped(what: str, ctx: Context) -> str:
    """Trap 18."""
    result = await ctx.elicit(f"Do {what}?", schema=Yes)
    return f"{what}: {result.data.confirm}"


def the_second(request: Mapping[str, Any]) -> object:
    """The second of the choices that are offered."""
    return request["params"]["requestedSchema"]["properties"]["value"]["enum"][1]


YES = Yes(confirm=True)
CASES = [
    Case(
        "book_table",
        (4,),
        "2 on Monday, outside",
        {"Book a table for Monday?": {"guests": 2, "terrace": True}},
        {"day": "Monday"},
    ),
    Case("book_table", (4,), "declined", {"Book a table for Monday?": Refused("decline")}, {"day": "Monday"}),
    Case("book_table", (4,), "cancelled", {"Book a table for Monday?": Refused("cancel")}, {"day": "Monday"}),
    Case("rename_branch", (17,), "main has 3", {"New name for main?": {"guests": 3}}, {"old": "main"}),
    Case("delete_file", (1,), "deleted a.txt", {"Delete a.txt?": YES}, {"path": "a.txt"}),
    Case("delete_file", (1,), "kept", {"Delete b.txt?": Refused("decline")}, {"path": "b.txt"}),
    Case("drop_table", (1,), "dropped", {"Drop users?": YES}, {"name": "users"}),
    Case("drop_table", (1,), "kept", {"Drop users?": Yes(confirm=False)}, {"name": "users"}),
    Case("ask_if_possible", (2, 3, 5), "asked, accept", {"May I?": YES}),
    Case(
        "deploy",
        (6,),
        "accept accept accept True",
        {"Deploy?": YES, "Really?": YES, "At once?": YES, "With a helper?": YES},
    ),
    Case(
        "clean_up",
        (7,),
        "['a', 'c'] weekly True 2",
        {
            "Delete the next one?": [YES, Yes(confirm=False), YES],
            "Name of the report?": Named(name="weekly"),
            "The disk is full. Go on?": YES,
            "How many copies?": [{"guests": 5}, {"guests": 2}],
        },
        {"paths": ["a", "b", "c"]},
    ),
    Case("open_ticket", (8,), "True True 36", {"Open a ticket? (36, True)": YES, "Urgent?": YES}),
    Case("choose_seat", (9,), "back 1", {"Which row?": {"row": "back"}, "Which seat?": the_second}),
    Case("plan_trip", (9,), "Rome: True", {"model": "Rome", "Go to Rome?": YES}),
    Case("send_report", (11,), "sent it", {"Send it?": YES}),
    Case("buy", (12,), "order-7 True True", {"Pay order-7?": YES, "As a gift?": YES}, {"cart": "7"}),
    Case("many_rounds", (14,), "abcdefghi", {f"Letter {n}?": letter for n, letter in enumerate("abcdefghi")}),
    Case("say_progress", (16,), "True True", {"Go on?": YES, "And on?": YES}),
    Case("scalars", (17,), "Ada 36 1.7 True", {"Name?": "Ada", "Age?": 36, "Height?": 1.7, "Glad?": True}),
    Case(
        "choices",
        (17,),
        "blue ['a', 'c'] high ['y'] no LARGE",
        {
            "One?": "blue",
            "Many?": ["a", "c"],
            "Priority?": "high",
            "Several?": ["y"],
            "Literal?": "no",
            "Size?": "large",
        },
    ),
    Case(
        "records",
        (17,),
        "Main St Ada accept {} accept",
        {
            "Address?": {"street": "Main St"},
            "Person?": {"name": "Ada", "age": 36},
            "Sure?": True,
            "Quite sure?": True,
        },
    ),
    Case("raw_schema", (17,), "accept {'mail': 'ada@example.com'}", {"Contact?": {"mail": "ada@example.com"}}),
    Case(
        "ask_everybody",
        (17,),
        "hello file:///work accept",
        {"model": "hello", "roots": ["file:///work"], "Sign in": True},
    ),
    Case(
        "both_at_once",
        (7,),
        "l r ['ab', 'cd']",
        {
            "Left?": "l",
            "Right?": "r",
            "Ada, first?": "a",
            "Ada, second?": "b",
            "Bob, first?": "c",
            "Bob, second?": "d",
        },
    ),
    Case("wrapped", (18,), "it: True", {"Do it?": YES}, {"what": "it"}),
]
