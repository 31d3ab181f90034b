from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from cookbook import echo_task as recipe
from mrtr_tools.testing import Player

FORMS: Mapping[str, JsonValue] = {"elicitation": {"form": {}}}


@pytest.mark.anyio
async def test_a_client_that_knows_tasks_is_asked_inside_one() -> None:
    conversation = await Player(recipe.toolbox).start("echo")

    assert conversation.task is not None
    assert conversation.messages == {"echo_input": "Please provide the input string to echo back"}

    await conversation.answer(echo_input="Hello World!")

    assert conversation.text == "Echo: Hello World!"
    assert conversation.ran == ["echo", "give_back"]


@pytest.mark.anyio
async def test_any_other_client_is_asked_without_one() -> None:
    conversation = await Player(recipe.toolbox, FORMS).start("echo")
    await conversation.answer(echo_input="Hello World!")

    assert conversation.task is None
    assert conversation.text == "Echo: Hello World!"
