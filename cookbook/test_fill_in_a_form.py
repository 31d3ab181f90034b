from datetime import date
from typing import Any

import pytest
from pydantic import JsonValue

from cookbook.fill_in_a_form import Registration, register, toolbox
from mrtr_tools.testing import Player, in_turn

EVENT: dict[str, JsonValue] = {"event": "PyCon"}
FILLED = Registration("Ada", 2, "both", ["web", "data"])


def test_an_instance_of_the_form_is_what_the_step_gets() -> None:
    played = Player(toolbox).play("register", EVENT, form=FILLED)

    assert played.text == "Ada: 2 for PyCon (both; web, data), 160 EUR"
    assert played.messages == {"form": "Register for PyCon"}
    assert played.text == register("PyCon", FILLED)


def test_the_form_shows_titles_limits_choices_and_defaults() -> None:
    seen: list[Any] = []

    def person(request: Any) -> Registration:
        seen.append(request["params"]["requestedSchema"])
        return FILLED

    Player(toolbox).play("register", EVENT, form=person)
    [form] = seen

    assert form["required"] == ["name", "tickets", "day", "tracks"]
    assert form["properties"]["name"] == {"type": "string", "title": "Your name", "minLength": 1, "maxLength": 80}
    assert form["properties"]["tickets"] == {"type": "integer", "minimum": 1, "maximum": 5}
    assert form["properties"]["day"] == {"type": "string", "enum": ["Saturday", "Sunday", "both"]}
    assert form["properties"]["tracks"]["items"] == {"type": "string", "enum": ["web", "data", "games"]}
    assert form["properties"]["lunch"] == {"type": "boolean", "default": True}
    assert form["properties"]["born"]["format"] == "date"


def test_what_does_not_fit_is_asked_again_with_the_reason() -> None:
    too_many: dict[str, object] = {"name": "Ada", "tickets": 9, "day": "both", "tracks": []}
    played = Player(toolbox).play("register", EVENT, form=in_turn(too_many, FILLED))

    assert not played.is_error
    assert played.questions == ["form", "form"]
    assert "tickets" in played.messages["form"]


@pytest.mark.parametrize(("born", "price"), [(None, 40), (date(1990, 1, 1), 40), (date(2005, 1, 1), 20)])
def test_what_may_be_left_empty_may_be_filled_in(born: date | None, price: int) -> None:
    played = Player(toolbox).play("register", EVENT, form=Registration("Ada", 1, "Sunday", [], born=born))

    assert played.text.endswith(f"{price} EUR")
