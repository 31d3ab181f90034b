import pytest
from pydantic import JsonValue

from cookbook.handle_a_no import toolbox
from mrtr_tools import Refused
from mrtr_tools.testing import Player

REVIEW: dict[str, JsonValue] = {"product": "Kettle", "stars": 4}


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Ada", "Kettle: **** by Ada"),
        (Refused("decline"), "Kettle: **** by Anonymous"),
        (Refused("cancel"), "Nothing was posted. Call again when you know under which name."),
    ],
)
def test_a_name_a_no_and_no_answer_lead_to_different_ends(answer: object, text: str) -> None:
    played = Player(toolbox).play("post_review", REVIEW, name=answer)

    assert played.text == text
    assert not played.is_error


def test_a_client_that_can_show_no_form_posts_nothing() -> None:
    played = Player(toolbox, capabilities={}).play("post_review", REVIEW)

    assert played.text.startswith("Nothing was posted: this client cannot ask")
    assert played.questions == []
