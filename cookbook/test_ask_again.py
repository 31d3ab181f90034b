from datetime import date
from typing import Any

import pytest

from cookbook import ask_again as recipe
from mrtr_tools.testing import Player

MONDAY, TUESDAY, WEDNESDAY = date(2026, 8, 3), date(2026, 8, 4), date(2026, 8, 5)


@pytest.fixture(autouse=True)
def a_free_week(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "calendar", {MONDAY: 4, TUESDAY: 2, WEDNESDAY: 8})
    monkeypatch.setattr(recipe, "taken", set[str]())


def days(request: Any) -> list[str]:
    choices: list[str] = request["params"]["requestedSchema"]["properties"]["day"]["enum"]
    return choices


def test_only_days_with_seats_enough_are_on_offer() -> None:
    offered: list[str] = []

    def person(request: Any) -> date:
        offered.extend(days(request))
        return MONDAY

    played = Player(recipe.toolbox).play("reserve_table", {"guests": 3}, name="Ada", day=person)

    assert played.text == "Ada, we expect 3 of you on Monday, 03 August."
    assert offered == ["2026-08-03", "2026-08-05"]
    assert recipe.calendar[MONDAY] == 1


def test_a_day_that_filled_up_meanwhile_is_asked_again_and_no_longer_on_offer() -> None:
    offered: list[list[str]] = []

    def person(request: Any) -> date:
        offered.append(days(request))
        recipe.calendar[MONDAY] = 0  # somebody else was quicker
        return MONDAY if len(offered) == 1 else WEDNESDAY

    played = Player(recipe.toolbox).play("reserve_table", {"guests": 2}, name="Ada", day=person)

    assert played.text == "Ada, we expect 2 of you on Wednesday, 05 August."
    assert played.questions == ["name", "day", "day-2"]
    assert played.messages["day-2"].startswith("Monday, 03 August has just filled up.\n")
    assert offered == [["2026-08-03", "2026-08-04", "2026-08-05"], ["2026-08-04", "2026-08-05"]]


def test_when_no_day_is_left_nobody_is_asked_for_one() -> None:
    played = Player(recipe.toolbox).play("reserve_table", {"guests": 9}, name="Ada")

    assert played.is_error
    assert played.questions == ["name"]
