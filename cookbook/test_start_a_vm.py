import pytest

from cookbook import start_a_vm as recipe
from mrtr_tools.testing import Player


@pytest.fixture(autouse=True)
def empty_cloud(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "MADE", {})


@pytest.mark.anyio
async def test_it_asks_then_is_a_task_then_asks_again() -> None:
    conversation = await Player(recipe.toolbox).start("start_vm", {"name": "web"})
    assert (list(conversation.open), conversation.task) == (["size"], None)

    await conversation.answer(size="large")
    assert conversation.task is not None
    assert conversation.messages["ok"] == "Pay 40 EUR a month for web?"
    assert recipe.MADE == {}

    await conversation.answer(ok=True)
    assert conversation.messages["network"] == "large machine number 1 runs. Which network may reach web?"

    await conversation.answer(network="office")
    assert conversation.text == "web is large machine number 1, open to the office"
    assert conversation.ran == ["start_vm", "provision", "open_to"]


@pytest.mark.anyio
async def test_who_does_not_pay_gets_no_machine() -> None:
    conversation = await Player(recipe.toolbox).start("start_vm", {"name": "web"})
    await conversation.answer(size="small")
    await conversation.answer(ok=False)

    assert conversation.is_error
    assert recipe.MADE == {}


def test_a_client_that_knows_no_tasks_gets_the_same() -> None:
    player = Player(recipe.toolbox, capabilities={"elicitation": {"form": {}}})
    played = player.play("start_vm", {"name": "web"}, size="small", ok=True, network="internet")

    assert (played.task, played.text) == (None, "web is small machine number 1, open to the internet")


@pytest.mark.anyio
async def test_an_answer_that_is_sent_twice_starts_one_machine() -> None:
    conversation = await Player(recipe.toolbox).start("start_vm", {"name": "web"})
    repeat = conversation.fork()
    await conversation.answer(size="large")
    await repeat.answer(size="large")
    assert repeat.task == conversation.task

    await conversation.answer(ok=True)
    assert len(recipe.MADE) == 1
