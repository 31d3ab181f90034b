"""What an author expects of `Player`: answers are given as the values that the step will get."""

from enum import IntEnum
from typing import Literal

import pytest

from mrtr_tools import AskAgain, Refused, Toolbox, needs_input
from mrtr_tools.testing import Player, in_turn
from tests.authored import hotel


class Size(IntEnum):
    """How large."""

    SMALL = 1
    LARGE = 2


def sizes() -> Toolbox:
    """A tool with choices that are no texts."""
    toolbox = Toolbox("sizes")

    @toolbox.tool
    @needs_input(stars="How many stars?", size="Which size?", more="Which others?")
    def choose(stars: Literal[1, 2, 3], size: Size, more: list[Size]) -> str:
        return f"{stars} {size.name} {[each.name for each in more]}"

    return toolbox


def test_choices_are_answered_with_their_values() -> None:
    played = Player(sizes()).play("choose", {}, stars=2, size=Size.LARGE, more=[Size.SMALL])

    assert played.text == "2 LARGE ['SMALL']"


def test_choices_are_answered_as_they_look_on_the_wire_as_well() -> None:
    played = Player(sizes()).play("choose", {}, stars="2", size="2", more=["1"])

    assert played.text == "2 LARGE ['SMALL']"


def test_a_form_is_answered_with_a_model() -> None:
    played = Player(hotel.toolbox).play("check_in", {"room": "12"}, guest=hotel.Guest(name="Ada"))

    assert played.text == "Ada has 12"


def test_a_client_that_cannot_be_asked_is_a_player_like_any_other() -> None:
    played = Player(hotel.toolbox, capabilities={}).play("check_in", {"room": "12"})

    assert played.text == "Somebody has 12"


def test_a_question_without_an_answer_fails_the_test_with_its_text() -> None:
    with pytest.raises(AssertionError, match=r"check_in asks for 'guest': 'Who stays\?'"):
        Player(hotel.toolbox).play("check_in", {"room": "12"})


def test_a_refusal_ends_a_call_that_does_not_admit_one() -> None:
    played = Player(sizes()).play("choose", {}, stars=Refused("cancel"), size=Size.SMALL, more=[])

    assert (played.is_error, played.text) == (True, "The question 'stars' was cancelled.")


def counting() -> Toolbox:
    """A tool that asks for the same thing until it is large enough."""
    toolbox = Toolbox("counting")

    @toolbox.tool
    @needs_input(count="How many?")
    def order(count: int) -> str:
        if count < 3:
            raise AskAgain(count="too few")
        return f"{count} ordered"

    return toolbox


def test_answers_in_turn_are_given_one_each_time_that_the_question_comes() -> None:
    played = Player(counting()).play("order", count=in_turn(1, 2, 3))

    assert played.text == "3 ordered"
    assert played.questions == ["count", "count-2", "count-3"]


def test_a_refusal_can_be_one_of_the_answers_in_turn() -> None:
    played = Player(counting()).play("order", count=in_turn(1, Refused("decline")))

    assert (played.is_error, played.rounds) == (True, 3)


def test_what_is_asked_more_often_than_there_are_answers_in_turn_fails_the_test_with_its_text() -> None:
    with pytest.raises(AssertionError, match=r"asked more than 2 times: .*too few"):
        Player(counting()).play("order", count=in_turn(1, 2))


def test_each_use_of_in_turn_begins_anew() -> None:
    first, second = in_turn(3), in_turn(3)

    assert [Player(counting()).play("order", count=each).text for each in (first, second)] == ["3 ordered"] * 2
