import pytest

from cookbook.loop_until_done import add_stop, book, toolbox
from mrtr_tools import Refused, then
from mrtr_tools.testing import Player, in_turn

ADA = {"traveller": "Ada"}


@pytest.mark.parametrize("end", [{}, Refused("decline")])
def test_it_asks_for_stops_until_there_is_none_and_books_them_all(end: object) -> None:
    played = Player(toolbox).play("plan_trip", ADA, stop=in_turn("Oslo", "Bergen", end), ok=True)

    assert played.text == "Booked: Oslo - Bergen"
    assert played.questions == ["stop", "stop-2", "stop-3", "ok"]
    assert played.ran == ["plan_trip", "add_stop", "add_stop", "add_stop", "book"]
    assert played.messages["stop"] == "Ada, where do you go next? Leave it empty when that is all."


def test_a_trip_to_nowhere_is_none() -> None:
    assert Player(toolbox).play("plan_trip", ADA, stop={}).text == "No trip, then."


def test_a_loop_without_an_end_is_ended_where_clients_stop() -> None:
    played = Player(toolbox).play("plan_trip", ADA, stop="Oslo")

    assert played.is_error
    assert len(played.questions) == 10


def test_a_turn_of_the_loop_is_tested_by_what_it_returns() -> None:
    assert add_stop("Ada", ["Oslo"], "Bergen") == then(add_stop, traveller="Ada", stops=["Oslo", "Bergen"])
    assert add_stop("Ada", ["Oslo"]) == then(book, route="Oslo")
