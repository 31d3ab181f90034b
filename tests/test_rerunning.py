"""`Player(double_run=True)`: what differs when a round is run again from the same state."""

import itertools
import random

import pytest

from mrtr_tools import Context, ElicitUrl, Toolbox, confirm, needs_input, then
from mrtr_tools.porting import resumable
from mrtr_tools.testing import Player
from tests.authored import hotel
from tests.porting.loose import Context as AskingContext


def count() -> itertools.count:
    return itertools.count(1)


def played(function, *, groups=(), **answers):
    toolbox = Toolbox("twice")
    for group in groups:
        function = needs_input(**group)(function)
    toolbox.tool(function)
    return Player(toolbox, double_run=True).play(function.__name__, {}, **answers)


def test_a_call_that_follows_from_its_state_is_played_as_ever():
    player = Player(hotel.toolbox, double_run=True)

    once = player.play("check_in", {"room": "12"}, guest=hotel.Guest(name="Ada"))

    assert once.text == "Ada has 12"
    assert once.ran == Player(hotel.toolbox).play("check_in", {"room": "12"}, guest=hotel.Guest(name="Ada")).ran


def test_another_text_is_found():
    numbers = count()

    def lottery() -> str:
        return f"number {next(numbers)}"

    with pytest.raises(AssertionError, match=r"'lottery'.* ends with .*number 1.* and then with .*number 2"):
        played(lottery)


def test_another_question_is_found():
    numbers = count()

    def draw(price: int) -> str:
        return "drawn"

    with pytest.raises(AssertionError, match=r"asks 'ok' otherwise: its message is Pay 1\? and then Pay 2\?"):
        played(draw, groups=({"ok": confirm("Pay {price}?")}, {"price": lambda: next(numbers)}))


def test_another_choice_is_found():
    @resumable
    async def choose(ctx: AskingContext) -> str:
        return (await ctx.elicit("Which?", [str(random.random())])).data

    with pytest.raises(AssertionError, match="asks 'ask' otherwise: its requestedSchema is"):
        played(choose)


def test_other_questions_are_found():
    numbers = count()

    @resumable
    async def ask(ctx: AskingContext) -> str:
        if next(numbers) % 2:
            await ctx.gather(ctx.elicit("One?", str), ctx.elicit("Two?", str))
        return (await ctx.elicit("One?", str)).data

    with pytest.raises(AssertionError, match="asks for 'ask', 'ask-2' and then for 'ask'"):
        played(ask)


def test_another_way_is_found():
    numbers = count()
    toolbox = Toolbox("ways")

    @toolbox.step
    def left() -> str:
        return "done"

    @toolbox.step
    def right() -> str:
        return "done"

    @toolbox.tool
    def go() -> str:
        return then(left) if next(numbers) % 2 else then(right)

    with pytest.raises(AssertionError, match="runs 'go', 'left' and then 'go', 'right'"):
        Player(toolbox, double_run=True).play("go")


def test_an_end_in_place_of_a_question_is_found():
    numbers = count()

    @resumable
    async def ask(ctx: AskingContext) -> str:
        return "known" if next(numbers) == 2 else (await ctx.elicit("Who?", str)).data

    with pytest.raises(AssertionError, match="asks for 'ask' in one run, and ends in the other"):
        played(ask)


def test_a_failure_in_the_second_run_is_found():
    numbers = count()

    def fail() -> str:
        return str(1 // (2 - next(numbers)))

    with pytest.raises(AssertionError, match="ends well and then with ZeroDivisionError"):
        played(fail)


def test_what_the_author_raises_is_raised_as_ever():
    def fail() -> str:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        played(fail)


def test_the_names_of_the_call_are_no_difference():
    @needs_input(page=ElicitUrl("Open", "https://example.com/{ctx.handle}"))
    def sign_in(ctx: Context) -> str:
        return f"{ctx.call_id} {ctx.handle} {ctx.idempotency_key}"

    def name(ctx: Context) -> str:
        return f"{ctx.call_id} {ctx.handle} {ctx.idempotency_key}"

    assert played(sign_in, page=True).text
    assert played(name).text


def test_what_runs_once_is_no_difference():
    async def draw() -> float:
        return random.random()

    @resumable
    async def choose(ctx: AskingContext) -> str:
        number = await ctx.once(draw)
        sure = await ctx.elicit(f"Take {number}?", bool)
        return f"{number} {sure.data} {await ctx.once(draw)}"

    assert played(choose, ask=True).text.count("True") == 1


def test_what_is_of_single_use_acts_in_both_runs_and_is_claimed_in_the_first():
    charged: list[int] = []
    toolbox = Toolbox("till")

    @toolbox.tool(single_use=True)
    @needs_input(ok=confirm("Pay {amount}?"))
    def pay(amount: int) -> str:
        charged.append(amount)
        return f"paid {amount}"

    played = Player(toolbox, double_run=True).play("pay", {"amount": 3}, ok=True)

    assert (played.text, charged) == ("paid 3", [3, 3])
