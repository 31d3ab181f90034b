"""Await-style bodies that another build changes, with calls under way."""

from collections.abc import Callable

import pytest

from mrtr_tools import Toolbox, confirm, needs_input
from mrtr_tools.errors import InvalidState
from mrtr_tools.porting import resumable
from mrtr_tools.testing import Player
from tests.porting.loose import Context


def build(*questions: str, once: Callable[..., object] | None = None, version: int = 0) -> Toolbox:
    """A body that asks these questions in turn."""
    toolbox = Toolbox("t")

    @toolbox.tool(version=version)
    @resumable
    async def go(ctx: Context) -> str:
        if once is not None:
            await ctx.once(once)
        return " ".join([(await ctx.elicit(question, response_type=str)).data for question in questions])

    return toolbox


def number() -> int:
    return 1


def other() -> int:
    return 1


def test_a_question_that_is_asked_otherwise_ends_the_call():
    """Security 1."""
    for changed in (build("Name?", "How old are you?"), build("Who?", "Age?"), build("Age?", "Name?")):
        with pytest.raises(TypeError, match="has moved"):
            Player(build("Name?", "Age?"), upgrades=[build("Name?", "Age?"), changed]).play("go", {}, ask="x")


def test_a_question_that_is_gone_ends_the_call():
    with pytest.raises(TypeError, match="the question at 'ask' has moved: this time it is form 'Age"):
        Player(build("Name?", "Age?"), upgrades=[build("Age?")]).play("go", {}, ask="x")


def test_with_another_version_the_call_begins_anew():
    played = Player(build("Name?"), upgrades=[build("Who?", version=1)]).play("go", {}, ask="Ada")

    assert played.text == "Ada"
    assert played.messages == {
        "ask": "Name?",
        "ask-3": "This has changed in the meantime; please answer again.\nWho?",
    }


def test_where_something_ran_once_another_version_ends_the_call():
    with pytest.raises(InvalidState):
        Player(build("Name?", once=number), upgrades=[build("Who?", once=number, version=1)]).play("go", {}, ask="Ada")


def test_what_comes_behind_the_open_question_may_change():
    played = Player(build("Name?", "Age?"), upgrades=[build("Name?", "Size?", "Color?")]).play("go", {}, ask="x")

    assert played.text == "x x x"
    assert list(played.messages.values()) == ["Name?", "Size?", "Color?"]


def test_another_function_where_one_ran_ends_the_call():
    with pytest.raises(TypeError, match="what runs at 'once' has moved: this time it is other"):
        Player(build("Name?", once=number), upgrades=[build("Name?", once=other)]).play("go", {}, ask="Ada")


def steps() -> Toolbox:
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(name="Name?")
    @needs_input(ok=confirm("Go?"))
    def go(name: str) -> str:
        return name

    return toolbox


def test_a_body_that_became_steps_asks_anew():
    body = build("Name?", "Age?")
    played = Player(body, upgrades=[body, steps()]).play("go", {}, ask="x", name="Ada", ok=True)

    assert played.text == "Ada"
    assert played.questions == ["ask", "ask-2", "name", "ok"]


def test_steps_that_became_a_body_ask_anew():
    played = Player(steps(), upgrades=[steps(), build("Name?")]).play("go", {}, ask="Ada", name="x", ok=True)

    assert played.text == "Ada"
    assert played.questions == ["name", "ok", "ask"]
