"""Limits of a call and of a round. Promise 7, Security 21."""

from typing import Any

import pytest

from mrtr_tools import AskAgain, DefinitionError, Elicit, Toolbox, confirm, needs_input, then
from mrtr_tools.events import NeedInput
from tests.rounds_by_hand import again, asked, begin, failure, play, result, through_json
from tests.wire_by_hand import YES, accept


def asking(**options: Any) -> Toolbox:
    toolbox = Toolbox("t")

    @toolbox.tool(**options)
    def start(times: int) -> str:
        return then(ask, left=times)

    @toolbox.step
    @needs_input(ok=confirm("{left}?"))
    def ask(left: int) -> str:
        return then(ask, left=left - 1) if left > 1 else "done"

    return toolbox


@pytest.mark.parametrize(("options", "limit"), [({}, 10), ({"max_rounds": 3}, 3), ({"max_rounds": 25}, 25)], ids=str)
def test_promise_7_a_call_asks_so_often_and_no_more_and_the_error_names_the_step(options: dict[str, int], limit: int):
    """Security 21."""
    machine = begin(asking(**options), "start", {"times": limit + 1})
    for _ in range(limit):
        (key,) = asked(machine)
        machine = again(machine, {key: YES})
    text = failure(machine)
    assert str(limit) in text
    assert "'ask'" in text


def test_promise_7_as_many_questions_as_the_limit_allows_are_answered():
    machine = begin(asking(), "start", {"times": 10})
    for _ in range(10):
        (key,) = asked(machine)
        machine = again(machine, {key: YES})
    assert result(machine) == "done"


def test_promise_7_a_client_that_never_answers_comes_to_the_same_end():
    machine = begin(asking(), "start", {"times": 1})
    for _ in range(10):
        assert asked(machine) == ["ok"]
        machine = again(machine, {})
    assert "'ask'" in failure(machine)


def test_promise_7_the_last_round_may_still_be_answered():
    machine = begin(asking(max_rounds=1), "start", {"times": 1})
    assert asked(machine) == ["ok"]
    assert result(again(machine, {"ok": YES})) == "done"


def endless(functions: int) -> Toolbox:
    toolbox = Toolbox("t")

    @toolbox.tool
    def start() -> str:
        return then(turn, left=functions - 2)

    @toolbox.step
    def turn(left: int) -> str:
        return then(turn, left=left - 1) if left else "done"

    return toolbox


def test_promise_7_a_round_runs_a_thousand_functions():
    assert result(begin(endless(1000), "start")) == "done"


def test_promise_7_the_thousand_and_first_function_does_not_run():
    ran: list[str] = []
    machine = begin(endless(1001), "start")
    event = play(machine, ran)
    assert not isinstance(event, NeedInput)
    assert event.reply.is_error
    assert event.cause is None
    assert "1000" in str(event.reply.value)
    assert "'turn'" in str(event.reply.value)
    assert len(ran) == 1000


def test_promise_7_each_round_has_a_thousand_functions_of_its_own():
    toolbox = Toolbox("t")

    @toolbox.tool
    def start() -> str:
        return then(turn, left=700)

    @toolbox.step
    @needs_input(ok=confirm("On?"), only_if=lambda left: left == 300)
    def turn(left: int) -> str:
        return then(turn, left=left - 1) if left else "done"

    machine = begin(toolbox, "start")
    play(machine)
    assert result(again(machine, {"ok": YES})) == "done"


def test_promise_7_input_functions_count_too():
    toolbox, ran = Toolbox("t"), []

    def made() -> int:
        ran.append("made")
        return len(ran)

    @toolbox.tool
    @needs_input(x=made)
    def start(x: int) -> str:
        ran.append("start")
        raise AskAgain(x="again")

    assert "1000" in failure(begin(toolbox, "start"))
    assert len(ran) == 1000


def test_a_wrong_answer_uses_up_a_round_as_well():
    toolbox = Toolbox("t")

    @toolbox.tool(max_rounds=3)
    @needs_input(day="Day?")
    def book(day: int) -> str:
        return str(day)

    machine = begin(toolbox, "book")
    for _ in range(3):
        assert asked(machine) == ["day"]
        machine = again(machine, {"day": accept(day="x")})
    assert "'book'" in failure(machine)


def many(count: int) -> Any:
    names = [f"q{number}" for number in range(count)]
    found: dict[str, Any] = {}
    exec(f"def many({', '.join(f'{name}: str' for name in names)}) -> str:\n    return 'x'", found)
    return needs_input(only_if=None, **dict[str, Any].fromkeys(names, "?"))(found["many"])


def test_no_more_than_32_inputs_are_open_at_once():
    toolbox = Toolbox("t")
    toolbox.tool(many(32))
    assert len(asked(begin(toolbox, "many"))) == 32
    with pytest.raises(DefinitionError, match="32"):
        toolbox.tool(many(33), name="too_many")


def test_questions_of_functions_count_among_the_32_that_may_be_open():
    toolbox = Toolbox("t")
    with pytest.raises(DefinitionError, match="32"):

        @toolbox.tool
        @needs_input(a=many(20), b=many(20))
        def start(a: str, b: str) -> str:
            return a + b


@pytest.mark.parametrize(
    "made",
    [Elicit("file \ud800?"), Elicit("Which?", choices=["a\ud800", "b"]), Elicit("Which?", choices={"a": "\ud800"})],
    ids=["text", "choice", "label"],
)
def test_promise_11_a_question_with_text_that_is_no_unicode_never_reaches_the_progress(made: Elicit):
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(name=lambda: made)
    def start(name: str) -> str:
        return name

    machine = begin(toolbox, "start")
    play(machine)
    assert through_json(machine.progress) == machine.progress
