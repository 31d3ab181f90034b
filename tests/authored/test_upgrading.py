"""What an author expects of `Player` when the tools are upgraded between two rounds."""

import pytest

from mrtr_tools import Toolbox, confirm, needs_input, then
from mrtr_tools.errors import InvalidState
from mrtr_tools.testing import Player


def old() -> Toolbox:
    """Asks for two things, then hands on."""
    toolbox = Toolbox("shop")

    @toolbox.tool
    @needs_input(name="Who?", day="Which day?")
    def order(name: str, day: str) -> str:
        return then(pay, name=name, day=day)

    @toolbox.step
    @needs_input(ok=confirm("Pay?"))
    def pay(name: str, day: str) -> str:
        return f"{name} paid for {day}"

    return toolbox


def new(name: str = "shop", *, alias: bool = True) -> Toolbox:
    """Asks for the hour where it asked for the day, and its step has another name."""
    toolbox = Toolbox(name)

    @toolbox.tool
    @needs_input(name="Who?", hour="Which hour?")
    def order(name: str, hour: int) -> str:
        return then(settle, name=name, hour=hour)

    @toolbox.step(aliases=("pay",) if alias else ())
    @needs_input(ok=confirm("Pay?"))
    def settle(name: str, hour: int = 12) -> str:
        return f"{name} paid for {hour} o'clock"

    return toolbox


@pytest.mark.anyio
async def test_a_conversation_goes_on_with_another_build() -> None:
    conversation = await Player(old()).start("order")
    conversation.switch(new())
    await conversation.answer(name="Ann", day="mon")

    assert list(conversation.open) == ["hour"]
    await conversation.answer(hour=9)
    await conversation.answer(ok=True)
    assert conversation.text == "Ann paid for 9 o'clock"
    assert conversation.questions == ["name", "day", "hour", "ok"]
    assert conversation.ran == ["order", "settle"]


@pytest.mark.anyio
async def test_a_conversation_can_go_back_to_the_build_before() -> None:
    """As it does while some machines have the new build and some the old one."""
    before, after = old(), new()
    conversation = await Player(before).start("order")
    conversation.switch(after)
    await conversation.answer(name="Ann")
    conversation.switch(before)
    await conversation.answer(hour=9)

    assert list(conversation.open) == ["day-2"]
    await conversation.answer(day="mon")
    await conversation.answer(ok=True)
    assert conversation.text == "Ann paid for mon"


def test_a_whole_call_is_played_over_an_upgrade() -> None:
    played = Player(old(), upgrades=[new()]).play("order", {}, name="Ann", day="mon", hour=9, ok=True)

    assert played.text == "Ann paid for 9 o'clock"
    assert played.questions == ["name", "day", "hour", "ok"]


def test_each_upgrade_serves_one_round_and_the_last_one_the_rest() -> None:
    played = Player(old(), upgrades=[old(), new()]).play("order", {}, name="Ann", day="mon", ok=True)

    assert (played.text, played.ran, played.rounds) == ("Ann paid for 12 o'clock", ["order", "settle"], 3)


def test_an_answer_to_what_no_build_asks_is_a_mistake_in_the_test() -> None:
    with pytest.raises(AssertionError, match="has no input 'minute'; it has day, hour, name, ok"):
        Player(old(), upgrades=[new()]).play("order", {}, minute=9)


def test_an_upgrade_that_forgot_the_old_name_of_a_step_fails_the_test_and_says_why() -> None:
    player = Player(old(), upgrades=[old(), new(alias=False)])

    with pytest.raises(InvalidState) as caught:
        player.play("order", {}, name="Ann", day="mon", ok=True)
    assert caught.value.data == {"reason": "no_longer_fits"}


def test_a_toolbox_of_another_name_is_another_server() -> None:
    """Its signer has another audience, as it would have in production."""
    with pytest.raises(InvalidState) as caught:
        Player(old(), upgrades=[new("store")]).play("order", {}, name="Ann", day="mon", hour=9, ok=True)

    assert (caught.value.reason, caught.value.data) == ("unknown_key", None)
