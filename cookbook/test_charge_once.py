from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from cookbook import charge_once as recipe
from mrtr_tools.testing import Player

YES: Mapping[str, JsonValue] = {"ok": {"action": "accept", "content": {"ok": True}}}


@pytest.fixture(autouse=True)
def fresh_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "charges", {})
    monkeypatch.setattr(recipe, "lost_answers", [])


def test_it_charges_after_a_yes() -> None:
    played = Player(recipe.toolbox).play("pay", {"amount": 25}, ok=True)

    assert played.text == "Paid 25 EUR, receipt R1"
    assert list(recipe.charges.values()) == [25]


def test_an_answer_that_got_lost_is_asked_for_again_and_nothing_is_charged_twice() -> None:
    recipe.lost_answers.extend(["one", "another"])

    assert Player(recipe.toolbox).play("pay", {"amount": 25}, ok=True).text == "Paid 25 EUR, receipt R1"
    assert list(recipe.charges.values()) == [25]


@pytest.mark.anyio
async def test_a_round_that_is_sent_twice_charges_once() -> None:
    """As after a process died inside: the next one has the same key."""
    conversation = await Player(recipe.toolbox).start("pay", {"amount": 25})
    repeat = conversation.fork()
    recipe.lost_answers.extend(["one", "two", "three"])
    await conversation.send(YES)
    await repeat.send(YES)

    assert conversation.is_error
    assert repeat.text == "Paid 25 EUR, receipt R1"
    assert len(recipe.charges) == 1


def test_two_calls_are_two_charges() -> None:
    player = Player(recipe.toolbox)
    player.play("pay", {"amount": 25}, ok=True)
    player.play("pay", {"amount": 25}, ok=True)

    assert len(recipe.charges) == 2
