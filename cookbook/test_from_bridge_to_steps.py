import pytest

from cookbook import from_bridge_to_steps as recipe
from mrtr_tools import Refused, then
from mrtr_tools.testing import Player

DRAFT = "Dear Ada, about tea: all is well."
STAGES = {
    "send_on_the_bridge": {"ask": "tea", "ask-2": True},
    "send_half_way": {"ask": "tea", "ok": True},
    "send_as_steps": {"about": "tea", "ok": True},
}


@pytest.fixture(autouse=True)
def an_empty_desk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "drafts", [])
    monkeypatch.setattr(recipe, "sent", [])


@pytest.mark.parametrize("tool", STAGES)
def test_each_stage_asks_the_same_and_does_the_same_once(tool: str) -> None:
    played = Player(recipe.toolbox).play(tool, {"to": "Ada"}, **STAGES[tool])

    assert played.text == "Sent to Ada."
    assert list(played.messages.values()) == ["What do you write to Ada about?", f"Send this? {DRAFT}"]
    assert (recipe.drafts, recipe.sent) == ([DRAFT], [DRAFT])


@pytest.mark.parametrize("tool", STAGES)
def test_at_no_stage_anything_is_sent_without_a_yes(tool: str) -> None:
    last = list(STAGES[tool])[-1]
    played = Player(recipe.toolbox).play(tool, {"to": "Ada"}, **{**STAGES[tool], last: Refused("decline")})

    assert played.is_error == (last == "ok")
    assert recipe.sent == []


def test_a_body_runs_in_each_round_and_a_step_once() -> None:
    ran = {tool: Player(recipe.toolbox).play(tool, {"to": "Ada"}, **answers).ran for tool, answers in STAGES.items()}

    assert ran == {
        "send_on_the_bridge": ["send_on_the_bridge"] * 3,
        "send_half_way": ["send_half_way", "send_half_way", "send"],
        "send_as_steps": ["send_as_steps", "send"],
    }


def test_a_step_is_tested_by_what_it_returns() -> None:
    assert recipe.send_as_steps("Ada", "tea") == then(recipe.send, to="Ada", draft=DRAFT)
