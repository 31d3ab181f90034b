from pydantic import JsonValue

from cookbook.update_work_item import toolbox, update_work_item
from mrtr_tools.testing import Player

RESOLVED: dict[str, JsonValue] = {"workItemId": 4522, "fields": {"System.State": "Resolved"}}


def test_a_duplicate_is_asked_for_its_original() -> None:
    played = Player(toolbox).play("update_work_item", RESOLVED, resolution="Duplicate", duplicate_of=4301)

    assert played.text == (
        "Bug #4522 resolved as Duplicate of Bug #4301. State set to Resolved and duplicate link created."
    )
    assert played.questions == ["resolution", "duplicate_of"]
    assert played.messages["resolution"] == ("Resolving Bug #4522 requires a resolution. How was this bug resolved?")
    assert played.ran == ["update_work_item"]


def test_any_other_resolution_is_the_last_question() -> None:
    played = Player(toolbox).play("update_work_item", RESOLVED, resolution="Fixed")

    assert played.text == "Bug #4522 resolved as Fixed. State set to Resolved."
    assert played.questions == ["resolution"]


def test_another_state_asks_nothing() -> None:
    played = Player(toolbox).play("update_work_item", {"workItemId": 7, "fields": {"System.State": "Active"}})

    assert played.text == "Bug #7 updated. State set to Active."
    assert played.questions == []


def test_it_is_still_a_plain_function() -> None:
    assert update_work_item(4522, {"System.State": "Resolved"}, resolution="Fixed").startswith("Bug #4522 resolved")
