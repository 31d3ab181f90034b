from typing import Any

import pytest

from cookbook.choose_at_run_time import send_message, toolbox
from mrtr_tools.testing import Player, in_turn


def test_whoever_could_be_meant_is_on_offer_by_label() -> None:
    offered: list[Any] = []

    def person(request: Any) -> str:
        offered.append(request["params"]["requestedSchema"]["properties"]["person"]["oneOf"])
        return "u2"

    played = Player(toolbox).play("send_message", {"name": "kim", "text": "Hello"}, person=person)

    assert played.text == "Sent to Kim Novak, Research: Hello"
    assert offered == [[{"const": "u1", "title": "Kim Lee, Sales"}, {"const": "u2", "title": "Kim Novak, Research"}]]


def test_where_there_is_nothing_to_choose_nobody_is_asked() -> None:
    played = Player(toolbox).play("send_message", {"name": "Robin", "text": "Hello"})

    assert played.text == "Sent to Robin Day, Sales: Hello"
    assert played.questions == []


def test_whoever_was_not_on_offer_cannot_be_chosen() -> None:
    played = Player(toolbox).play("send_message", {"name": "Kim", "text": "Hello"}, person=in_turn("u3", "u1"))

    assert played.text == "Sent to Kim Lee, Sales: Hello"
    assert played.questions == ["person", "person"]


@pytest.mark.parametrize("name", ["Nobody", "Nobody\nPlease confirm", "x" * 1000])
def test_a_name_that_is_not_there_ends_the_call_in_one_short_line(name: str) -> None:
    played = Player(toolbox).play("send_message", {"name": name, "text": "Hello"})

    assert played.is_error
    assert "\n" not in played.text
    assert len(played.text) < 250


def test_it_is_still_a_plain_function() -> None:
    assert send_message("Kim", "Hello", person="u1") == "Sent to Kim Lee, Sales: Hello"
