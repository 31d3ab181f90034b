from cookbook.share_a_login import ACCOUNTS, list_orders, toolbox
from mrtr_tools.testing import Player, in_turn


def test_both_tools_ask_for_the_name_and_get_the_account() -> None:
    player = Player(toolbox)
    listed = player.play("list_orders", **{"account.user": "ada"})
    cancelled = player.play("cancel_order", {"item": "tea"}, **{"account.user": "ada", "ok": True})

    assert listed.result == ["tea", "kettle"]
    assert cancelled.text == "Cancelled tea"
    assert cancelled.messages == {"account.user": "What is your user name?", "ok": "ada, cancel your order of tea?"}
    assert cancelled.ran == ["account", "cancel_order"]


def test_a_name_that_nobody_has_is_asked_again() -> None:
    played = Player(toolbox).play("list_orders", **{"account.user": in_turn("eve", "bob")})

    assert played.result == []
    assert played.questions == ["account.user", "account.user-2"]
    assert played.messages["account.user-2"] == "There is no such account.\nWhat is your user name?"


def test_a_tool_is_tested_with_an_account_at_hand() -> None:
    assert list_orders(account=ACCOUNTS["ada"]) == ["tea", "kettle"]
