import pytest

from cookbook import survive_a_rolling_upgrade as recipe
from mrtr_tools import Toolbox
from mrtr_tools.testing import Player

LOGINS = {"github": "octocat", "google": "cat@gmail", "microsoft": "cat@outlook"}


@pytest.fixture(autouse=True)
def no_accounts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "accounts", {})


@pytest.mark.anyio
async def test_the_login_that_was_replaced_is_asked_and_the_one_that_was_kept_is_not() -> None:
    conversation = await Player(recipe.before).start("link_accounts")
    assert list(conversation.open) == ["github", "google"]

    conversation.switch(recipe.toolbox)
    await conversation.answer(github="octocat", google="cat@gmail")
    assert list(conversation.open) == ["microsoft"]

    await conversation.answer(microsoft="cat@outlook")
    await conversation.answer(ok=True)
    assert conversation.text == "octocat is linked with cat@outlook (with Microsoft)"


@pytest.mark.parametrize(
    ("builds", "questions", "linked"),
    [
        ([recipe.before, recipe.toolbox], ["github", "google", "microsoft", "ok"], "cat@outlook"),
        ([recipe.before, recipe.before, recipe.toolbox], ["github", "google", "ok"], "cat@gmail"),
        (
            [recipe.before, recipe.toolbox, recipe.before],
            ["github", "google", "microsoft", "google-2", "ok"],
            "cat@gmail",
        ),
    ],
    ids=["while it asks", "while it waits for a yes", "back and forth, as machines differ"],
)
def test_the_call_comes_to_its_end_wherever_the_upgrade_is(
    builds: list[Toolbox], questions: list[str], linked: str
) -> None:
    first, *upgrades = builds
    played = Player(first, upgrades=upgrades).play("link_accounts", {}, ok=True, **LOGINS)

    assert (played.is_error, played.questions) == (False, questions)
    assert recipe.accounts == {"octocat": linked}


def test_a_step_with_a_new_name_is_found_by_its_old_one_and_its_new_parameter_has_the_default() -> None:
    player = Player(recipe.before, upgrades=[recipe.before, recipe.toolbox])
    played = player.play("link_accounts", {}, ok=True, **LOGINS)

    assert played.ran == ["link_accounts", "link"]
    assert played.text == "octocat is linked with cat@gmail (with Google, before the upgrade)"


def test_without_an_upgrade_the_new_build_is_a_tool_like_any_other() -> None:
    played = Player(recipe.toolbox).play("link_accounts", {}, ok=True, github="octocat", microsoft="cat@outlook")

    assert played.questions == ["github", "microsoft", "ok"]
