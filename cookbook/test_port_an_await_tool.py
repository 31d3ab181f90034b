import difflib
import inspect

import pytest

from cookbook import port_an_await_tool as recipe
from mrtr_tools import Refused
from mrtr_tools.testing import Player, in_turn

MONDAY = {"day": "Monday"}


@pytest.fixture(autouse=True)
def an_empty_cafe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "booked", [("Monday", 1)])


def test_it_asks_in_its_body_and_books_once() -> None:
    player = Player(recipe.toolbox)

    played = player.play("book_table", MONDAY, ask=in_turn({"table": 3, "guests": 4}, True))

    assert played.text == "Table 3 is yours on Monday."
    assert recipe.booked == [("Monday", 1), ("Monday", 3)]
    assert played.messages == {"ask": "Which of the tables [2, 3, 4] on Monday?", "ask-2": "Table 3 for 4?"}
    assert played.ran == ["book_table"] * 3


@pytest.mark.parametrize("answers", [(Refused("decline"),), ({"table": 3}, False), ({"table": 3}, Refused("cancel"))])
def test_without_a_yes_nothing_is_booked(answers: tuple[object, ...]) -> None:
    played = Player(recipe.toolbox).play("book_table", MONDAY, ask=in_turn(*answers))

    assert played.text == "Nothing was booked."
    assert recipe.booked == [("Monday", 1)]


@pytest.mark.anyio
async def test_the_tables_that_were_shown_stay_those_that_are_asked_for() -> None:
    conversation = await Player(recipe.toolbox).start("book_table", MONDAY)
    recipe.booked.append(("Monday", 2))
    await conversation.answer(ask={"table": 3, "guests": 2})

    assert conversation.messages["ask-2"] == "Table 3 for 2?"


def test_an_import_a_decorator_and_one_read_are_all_that_changed() -> None:
    before, after = recipe.BEFORE.strip().splitlines(), inspect.getsource(recipe.book_table).splitlines()

    changed = [line for line in difflib.ndiff(before, after) if line[0] in "+-"]

    assert changed == [
        "- @server.tool()",
        "+ @toolbox.tool",
        "+ @resumable",
        "-     tables = await free_tables(day)",
        "+     tables = await ctx.once(free_tables, day)",
    ]
