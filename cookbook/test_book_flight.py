import pytest

from cookbook import book_flight as recipe
from mrtr_tools import Refused, then
from mrtr_tools.testing import Player

TRIP = {"origin": "BER", "destination": "LIS"}


@pytest.fixture(autouse=True)
def empty_shop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "shop", {})


def test_it_searches_once_asks_and_buys_what_was_shown() -> None:
    played = Player(recipe.toolbox).play("book_flight", TRIP, ok=True)

    assert played.text == "Booked BER-LIS-1 to LIS for 120 EUR, ticket T1"
    assert played.messages == {"ok": "Fly to LIS for 120 EUR?"}
    assert played.ran == ["book_flight", "purchase"]
    assert list(recipe.shop.values()) == [recipe.Flight(number="BER-LIS-1", price=120)]


@pytest.mark.parametrize("no", [False, Refused("decline"), Refused("cancel")])
def test_nothing_is_bought_without_a_yes(no: object) -> None:
    played = Player(recipe.toolbox).play("book_flight", TRIP, ok=no)

    assert played.is_error
    assert recipe.shop == {}


@pytest.mark.anyio
async def test_a_step_is_tested_by_what_it_returns() -> None:
    flight = recipe.Flight(number="BER-LIS-1", price=120)

    assert await recipe.book_flight("BER", "LIS") == then(recipe.purchase, destination="LIS", flight=flight)
