"""`resumable`: its answers, its keys, what runs once, several questions at once, the ends of a call."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from datetime import date
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from mcp.server.mcpserver import Context as SdkContext
from pydantic import BaseModel, Field

from mrtr_tools import Context as StepContext, DefinitionError, Refused, Toolbox, ToolError, confirm, needs_input, then
from mrtr_tools.calls import Call, Client, Complete, InputRequired
from mrtr_tools.errors import InvalidState
from mrtr_tools.porting import get_context, resumable
from mrtr_tools.runner import handle_call
from mrtr_tools.state import StateSigner
from mrtr_tools.testing import EVERYTHING, TESTING_KEYS, Conversation, Player, in_turn
from tests.porting.loose import Context


class Booking(BaseModel):
    guests: int = Field(ge=1)


def player(body: Callable[..., Any], **options: Any) -> Player:
    toolbox = Toolbox("porting")
    toolbox.tool(resumable(body), name="go")
    return Player(toolbox, **options)


# Answers


def test_an_answer_that_does_not_fit_is_asked_again_with_the_reason():
    async def go(ctx: Context) -> str:
        return str((await ctx.elicit("How many?", schema=Booking)).data.guests)

    played = player(go).play("go", {}, ask=in_turn({"guests": 0}, {"guests": "no"}, {"guests": 2}))

    assert played.text == "2"
    assert played.questions == ["ask", "ask", "ask"]
    assert played.messages == {"ask": "guests must be a whole number.\nHow many?"}


def test_the_fourth_answer_that_does_not_fit_ends_the_call_whatever_the_body_handles():
    async def go(ctx: Context) -> str:
        try:
            return str((await ctx.elicit("How many?", schema=Booking)).data.guests)
        except Exception:  # noqa: BLE001
            return "went on"

    played = player(go).play("go", {}, ask={"guests": 0})

    assert played.is_error
    assert played.text.startswith("No usable answer for 'ask' after 4 tries.")


@pytest.mark.anyio
async def test_an_answer_before_its_question_counts_for_nothing():
    """Security 9."""

    async def go(ctx: Context) -> str:
        return (await ctx.elicit("Delete?", schema=Booking)).action

    playing = player(go)
    conversation = Conversation(playing, Call("go"), playing.toolbox)
    await conversation.send({"ask": {"action": "accept", "content": {"guests": 1}}})

    assert list(conversation.open) == ["ask"]


@pytest.mark.anyio
async def test_a_missing_answer_is_asked_for_again_under_the_same_key():
    async def go(ctx: Context) -> str:
        first, second = await ctx.gather(ctx.elicit("One?", str), ctx.elicit("Two?", str))
        third = await ctx.elicit("Three?", str)
        return first.data + second.data + third.data

    conversation = await player(go).start("go")
    assert list(conversation.open) == ["ask", "ask-2"]
    await conversation.answer(**{"ask-2": "b"})
    assert list(conversation.open) == ["ask"]
    await conversation.send({})
    assert list(conversation.open) == ["ask"]
    await conversation.answer(ask="a")
    assert list(conversation.open) == ["ask-3"]
    await conversation.answer(ask="c")

    assert conversation.text == "abc"


@pytest.mark.anyio
async def test_an_answer_that_is_sent_again_is_no_answer_to_the_next_question():
    """Security 3."""
    deleted: list[bool] = []

    async def go(ctx: Context) -> str:
        deleted.append((await ctx.elicit("Delete it?", response_type=bool)).data)
        deleted.append((await ctx.elicit("Delete it?", response_type=bool)).data)
        return str(deleted)

    yes = {"action": "accept", "content": {"value": True}}
    conversation = await player(go).start("go")
    await conversation.send({"ask": yes})
    await conversation.send({"ask": yes})

    assert list(conversation.open) == ["ask-2"]


# What runs once


class Order(BaseModel):
    number: int


@dataclass
class Shop:
    orders: int = 0

    async def order(self, what: str) -> Order:
        await anyio.lowlevel.checkpoint()
        self.orders += 1
        return Order(number=self.orders)

    def count(self, by: int = 1) -> int:
        self.orders += by
        return self.orders


def test_what_runs_once_gives_the_same_in_each_round():
    shop = Shop()

    async def go(ctx: Context) -> str:
        order = await ctx.once(shop.order, "tea")
        number = await ctx.once(functools.partial(shop.count, by=10))
        day = await ctx.once(today)
        answer = await ctx.elicit(f"Pay order {order.number} of {day:%Y}?", schema=Booking)
        late = await ctx.once(shop.count, by=100)
        sure = await ctx.elicit("Sure?", schema=Booking)
        return f"{type(order).__name__} {order.number} {number} {late} {answer.action} {sure.action} {day}"

    def today() -> date:
        return date(2026, 7, 28 + shop.orders - 11)

    played = player(go).play("go", {}, ask={"guests": 1})

    assert played.text == "Order 1 11 111 accept accept 2026-07-28"
    assert played.messages["ask"] == "Pay order 1 of 2026?"


def unannotated():
    return "x"


def misspelled() -> "Ordr":  # type: ignore[name-defined]  # noqa: F821
    return "x"


def wrong() -> Order:
    return "x"  # type: ignore[return-value]


def opened() -> "Shop":
    return Shop()


class Closed:
    pass


def closed() -> Closed:
    return Closed()


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (unannotated, r"once\(unannotated\): nothing says how what it returns goes into JSON; annotate it"),
        (misspelled, r"once\(misspelled\): nothing says how"),
        (lambda: 1, r"once\(.*<lambda>\): nothing says how"),
        (wrong, r"once\(wrong\): what it returned does not come back as annotated"),
        (closed, r"once\(closed\): its result cannot be kept: Closed cannot travel as JSON"),
    ],
)
def test_a_result_that_cannot_be_kept_is_refused_at_its_line(function, told):
    async def go(ctx: Context) -> str:
        return str(await ctx.once(function))

    with pytest.raises(TypeError, match=told):
        player(go).play("go")


def test_what_gives_an_awaitable_is_kept_as_what_it_gives():
    async def number() -> int:
        return 1

    def promised() -> Coroutine[Any, Any, int]:
        return number()

    def awaitable() -> Awaitable[int]:
        return number()

    async def go(ctx: Context) -> str:
        first, second = await ctx.once(promised), await ctx.once(awaitable)
        return f"{first} {second} {(await ctx.elicit('Go on?', str)).data}"

    assert player(go).play("go", {}, ask="yes").text == "1 1 yes"


def test_what_raises_is_not_kept():
    tries: list[int] = []

    def flaky() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("down")
        return "up"

    async def go(ctx: Context) -> str:
        try:
            state = await ctx.once(flaky)
        except OSError:
            state = "down"
        return state + (await ctx.elicit("Go on?", str)).data

    assert player(go).play("go", {}, ask="!").text == "up!"


def test_another_function_at_the_same_place_is_an_error():
    shop, functions = Shop(), [Shop().count, opened]

    async def go(ctx: Context) -> str:
        await ctx.once(functions.pop(0))
        return (await ctx.elicit("Go on?", str)).data

    with pytest.raises(TypeError, match="what runs at 'once' has moved: this time it is opened"):
        player(go).play("go", {}, ask="x")
    assert shop.orders == 0


def test_what_asks_inside_of_what_runs_once_is_asked_once():
    async def name(ctx: Context) -> str:
        first = await ctx.elicit("First name?", str)
        last = await ctx.elicit("Last name?", str)
        return f"{first.data} {last.data}"

    async def go(ctx: Context) -> str:
        who = await ctx.once(name, ctx)
        age = await ctx.elicit("Age?", int)
        sure = await ctx.elicit("Sure?", str)
        return f"{who} {age.data} {sure.data}"

    played = player(go).play("go", {}, **{"ask": "Ada", "ask-2": "Lovelace", "ask-3": 36, "ask-4": "yes"})

    assert played.text == "Ada Lovelace 36 yes"
    assert played.rounds == 5


async def approved(ctx: Context) -> bool:
    """Goes ahead when it cannot ask, and so swallows its suspension."""
    try:
        return (await ctx.elicit("Delete?", bool)).data
    except BaseException:  # noqa: BLE001
        return True


def test_what_runs_once_and_swallows_its_suspension_has_not_run():
    async def go(ctx: Context) -> str:
        deletes = await ctx.once(approved, ctx)
        return f"{deletes} {(await ctx.elicit('Sure?', bool)).data}"

    assert player(go).play("go", {}, ask=False, **{"ask-2": True}).text == "False True"


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_what_runs_once_beside_an_ask_is_kept():
    shop = Shop()

    async def go(ctx: Context) -> str:
        answer, number = await asyncio.gather(ctx.elicit("Go on?", str), ctx.once(shop.count))
        return f"{answer.data} {number}"

    assert (await player(go).play_async("go", {}, ask="yes")).text == "yes 1"
    assert shop.orders == 1


def test_a_question_that_is_no_text_is_an_error_that_no_handler_catches():
    async def go(ctx: Context) -> str:
        try:
            await ctx.elicit(42, str)
        except Exception:  # noqa: BLE001
            return "went on"
        return "done"

    with pytest.raises(TypeError, match="expected str"):
        player(go).play("go")


@pytest.mark.anyio
async def test_a_page_is_opened_for_nobody_in_particular_only_where_that_was_said():
    """Security 22."""

    async def go(ctx: Context) -> str:
        try:
            return (await ctx.elicit_url("Sign in", "https://example.com/")).action
        except Exception:  # noqa: BLE001
            return "went on"

    toolbox, client = player(go).toolbox, Client(EVERYTHING)
    signer = StateSigner(TESTING_KEYS, "porting")
    refused = await handle_call(toolbox, Call("go", client=client, anonymous_ok=False), signer)
    asked = await handle_call(toolbox, Call("go", client=client, anonymous_ok=False, principal="ada"), signer)

    assert refused == Complete("A page cannot be opened for somebody whom this server does not know.", is_error=True)
    assert isinstance(asked, InputRequired)


# Several at once


def test_branches_ask_together_as_far_as_each_comes():
    async def name(ctx: Context, who: str) -> str:
        first = await ctx.elicit(f"First name of {who}?", str)
        if first.data == "?":
            return "nobody"
        last = await ctx.elicit(f"Last name of {who}?", str)
        return f"{first.data} {last.data}"

    async def go(ctx: Context) -> str:
        names = await ctx.gather(name(ctx, "a"), name(ctx, "b"), name(ctx, "c"))
        return f"{names} {(await ctx.elicit('Sure?', bool)).data}"

    played = player(go).play(
        "go", {}, **{"ask": "Ada", "ask-2": "?", "ask-3": "Cy", "ask-4": "Lovelace", "ask-5": "Twombly", "ask-6": True}
    )

    assert played.text == "['Ada Lovelace', 'nobody', 'Cy Twombly'] True"
    assert played.rounds == 4


def test_a_branch_that_swallows_its_suspension_still_waits():
    async def go(ctx: Context) -> str:
        return str(await ctx.gather(approved(ctx), ctx.elicit("Name?", str)))

    played = player(go).play("go", {}, ask=False, **{"ask-2": "x"})

    assert played.text.startswith("[False, ")


def test_what_a_branch_raises_is_raised_when_all_have_ended():
    async def refuse(ctx: Context) -> str:
        if (await ctx.elicit("Delete?", bool)).action != "accept":
            raise ToolError("Nothing was deleted")
        return "yes"

    async def go(ctx: Context) -> str:
        try:
            await ctx.gather(refuse(ctx), ctx.elicit("Name?", str))
        except ToolError as error:
            return f"caught: {error}"
        return "deleted"

    assert player(go).play("go", {}, ask=Refused("decline"), **{"ask-2": "x"}).text == "caught: Nothing was deleted"


def test_a_body_asks_at_most_32_questions_at_once():
    """Security 21."""

    async def go(ctx: Context) -> str:
        return str(await ctx.gather(*(ctx.elicit(f"{number}?", str) for number in range(33))))

    with pytest.raises(TypeError, match="asks more than 32 questions at once"):
        player(go).play("go")


# The ends of a call


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.anyio
@pytest.mark.parametrize("acts", [False, True])
async def test_a_call_that_came_too_late_begins_anew_unless_something_ran_once(acts):
    async def go(ctx: Context) -> str:
        if acts:
            await ctx.once(Shop().count)
        await ctx.elicit("One?", str)
        return (await ctx.elicit("Two?", str)).data

    clock = Clock()
    conversation = await player(go, signer=StateSigner(TESTING_KEYS, "porting", ttl=60, clock=clock)).start("go")
    await conversation.answer(ask="1")
    clock.now += 1000
    if acts:
        with pytest.raises(InvalidState):
            await conversation.answer(**{"ask-2": "2"})
        return
    await conversation.answer(**{"ask-2": "2"})

    assert conversation.messages["ask-3"] == "This was open for too long; please answer again.\nOne?"
    await conversation.answer(ask="1")
    await conversation.answer(ask="2")
    assert conversation.text == "2"
    assert conversation.questions == ["ask", "ask-2", "ask-3", "ask-4"]


def test_a_body_can_go_on_with_steps_and_with_another_body():
    toolbox = Toolbox("steps")

    @toolbox.tool
    @resumable
    async def begin(ctx: Context) -> str:
        return then(agree, name=(await ctx.elicit("Name?", str)).data)

    @toolbox.step
    @needs_input(ok=confirm("Go on, {name}?"))
    def agree(name: str) -> str:
        return then(end, name=name)

    @toolbox.step
    @resumable
    async def end(name: str, ctx: Context) -> str:
        return f"{name} {(await ctx.elicit('Age?', int)).data}"

    played = Player(toolbox).play("begin", {}, ask=in_turn("Ada", 36), ok=True)

    assert played.text == "Ada 36"
    assert played.questions == ["ask", "ok", "ask-2"]
    assert played.ran == ["begin", "begin", "agree", "end", "end"]


def test_prompts_and_resources_ask_in_their_bodies_too():
    toolbox = Toolbox("carriers")

    @toolbox.prompt
    @resumable
    async def letter(ctx: Context) -> str:
        return f"Write to {(await ctx.elicit('Whom?', str)).data}"

    @toolbox.resource("notes://{name}")
    @resumable
    async def note(name: str, ctx: Context) -> str:
        return f"{name} {(await ctx.elicit('Which page?', int)).data}"

    assert Player(toolbox).play("letter", {}, ask="Ada").text == "Write to Ada"
    assert Player(toolbox).play("notes://a", {}, ask=2).text == "a 2"


@pytest.mark.parametrize("module", ["mcp.server.mcpserver.exceptions", "fastmcp.exceptions"])
def test_the_tool_error_of_the_sdk_and_of_fastmcp_is_told(module):
    theirs = type("ToolError", (Exception,), {"__module__": module})

    async def go(ctx: Context) -> str:
        raise theirs(f"No such order, {(await ctx.elicit('Who?', str)).data}")

    played = player(go).play("go", {}, ask="Ada")

    assert played.is_error
    assert played.text == "No such order, Ada"


def test_what_a_body_knows_is_what_a_step_knows():
    async def go(ctx: Context) -> str:
        told = (ctx.call_id, ctx.request_id, ctx.idempotency_key, ctx.handle, ctx.principal, ctx.client.name)
        first = (await ctx.elicit(str(told), str)).data
        assert ctx.lifespan is ctx.lifespan_context is ctx.request_context.lifespan_context is None
        assert not ctx.client_supports_extension("x")
        assert ctx.session is ctx.session is ctx.request_context.session
        assert ctx.client_id is ctx.request_context.meta is ctx.request_context.request is None
        return f"{first} {ctx.round} {told[0] == told[1]} {told[4]}"

    assert player(go, principal="ada").play("go", {}, ask="a").text == "a 1 True ada"


def test_what_the_bridge_does_not_have_is_an_error_that_says_so():
    async def go(ctx: Context) -> str:
        assert not hasattr(ctx, "read_resource")
        assert not hasattr(ctx.session, "send_ping")
        return await ctx.get_state("user")

    with pytest.raises(AttributeError, match=r"ctx.get_state is not there for a resumable tool"):
        player(go).play("go")


def test_a_function_below_the_body_can_look_the_context_up():
    async def ask() -> str:
        return (await get_context().elicit("Who?", str)).action

    async def go(ctx: Context) -> str:
        assert get_context() is ctx
        return await ask()

    assert player(go).play("go", {}, ask="Ada").text == "accept"
    with pytest.raises(RuntimeError, match="nothing of that kind runs here"):
        get_context()


# Definitions


def sync(ctx: Context) -> str:
    return "x"


async def without() -> str:
    return "x"


async def of_steps(ctx: StepContext) -> str:
    return "x"


async def plain(ctx: Context) -> str:
    return "x"


@needs_input(name="Name?")
async def both(name: str, ctx: Context) -> str:
    return "x"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (sync, "sync is resumable and not async; write: async def, and await each ctx.elicit"),
        (without, "without is resumable and takes no context to ask with; add: ctx: Context"),
        (of_steps, "of_steps: with @resumable, 'ctx' takes the Context of mrtr_tools.porting"),
        (both, "both has @needs_input and @resumable"),
    ],
)
def test_a_body_that_cannot_be_resumed_is_refused_with_the_way_out(body, told):
    with pytest.raises(DefinitionError, match=told):
        Toolbox("t").tool(resumable(body))


def test_a_body_without_the_mark_is_told_to_have_it():
    async def forgot(ctx: Context) -> str:
        return "x"

    with pytest.raises(DefinitionError, match=r"put @resumable .* below @toolbox\.tool"):
        Toolbox("t").tool(forgot)


@pytest.mark.parametrize(
    ("options", "told"),
    [({"single_use": True}, "runs again in each round"), ({"cold_answers": True}, "a resumable has none")],
)
def test_options_that_a_body_cannot_have_are_refused(options, told):
    with pytest.raises(DefinitionError, match=told):
        Toolbox("t").tool(**options)(resumable(plain))


def test_the_function_of_an_input_cannot_be_resumed():
    @needs_input(name=resumable(plain))
    def go(name: str) -> str:
        return name

    with pytest.raises(DefinitionError, match="input 'name' is made by plain, which is resumable"):
        Toolbox("t").tool(go)


def test_the_mark_stands_below_the_tool():
    toolbox = Toolbox("t")

    async def late(ctx) -> str:
        return "x"

    async def early(ctx: Context) -> str:
        return "x"

    toolbox.tool(resumable(early))
    with pytest.raises(DefinitionError, match=r"put @resumable below @toolbox\.tool"):
        resumable(early)
    toolbox.tool(resumable(late))
    with pytest.raises(DefinitionError, match="cannot be marked"):
        resumable(Shop().order)


class Name(BaseModel):
    name: str


async def annotated(ctx: Awaitable[str]) -> str:
    return "x"


def test_a_context_is_known_by_its_annotation_or_without_one_by_its_name():
    fastmcp = pytest.importorskip("fastmcp")

    async def sdk(context: SdkContext) -> str:
        return (await context.elicit("Who?", Name)).action

    async def generic(context: SdkContext[Any, Any]) -> str:
        return (await context.elicit("Who?", Name)).action

    async def fast(context: fastmcp.Context) -> str:  # pyright: ignore[reportInvalidTypeForm]
        return (await context.elicit("Who?", str)).action

    async def with_types(context: Context[Any, None]) -> str:
        return (await context.elicit("Who?", str)).action

    async def optional(context: Context | None = None) -> str:
        assert context
        return (await context.elicit("Who?", str)).action

    async def bare(ctx) -> str:
        return (await ctx.elicit("Who?", str)).action

    for body in (sdk, generic, fast, with_types, optional, bare):
        assert player(body).play("go", {}, ask="Ada").text == "accept", body
    with pytest.raises(DefinitionError, match="'ctx'"):
        player(annotated)
