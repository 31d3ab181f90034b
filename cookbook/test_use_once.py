from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from cookbook import use_once as recipe
from mrtr_tools.testing import Conversation, Player

CODE = {"code": "SPRING"}
YES: Mapping[str, JsonValue] = {"ok": {"action": "accept", "content": {"ok": True}}}
NO: Mapping[str, JsonValue] = {"ok": {"action": "accept", "content": {"ok": False}}}


@pytest.fixture(autouse=True)
def full_drawer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "vouchers", {"SPRING": 2})
    monkeypatch.setattr(recipe, "wallets", {})


def test_it_redeems_after_a_yes() -> None:
    played = Player(recipe.toolbox).play("redeem_voucher", CODE, ok=True)

    assert played.text == "Redeemed SPRING: there are 10 EUR in your wallet"
    assert recipe.vouchers == {"SPRING": 1}


async def sent_twice(
    first: Mapping[str, JsonValue], second: Mapping[str, JsonValue]
) -> tuple[Conversation, Conversation]:
    """One state, sent with two answers."""
    conversation = await Player(recipe.toolbox).start("redeem_voucher", CODE)
    fork = conversation.fork()
    await conversation.send(first)
    await fork.send(second)
    return conversation, fork


@pytest.mark.anyio
async def test_sent_twice_it_redeems_once_and_says_the_same() -> None:
    first, second = await sent_twice(YES, YES)

    assert first.text == second.text == "Redeemed SPRING: there are 10 EUR in your wallet"
    assert recipe.vouchers == {"SPRING": 1}


@pytest.mark.anyio
async def test_sent_again_with_another_answer_it_is_refused() -> None:
    with pytest.raises(Exception, match="with other answers"):
        await sent_twice(NO, YES)

    assert recipe.vouchers == {"SPRING": 2}
