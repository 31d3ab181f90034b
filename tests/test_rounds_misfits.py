"""Answers that do not fit, and refusals. Promise 5."""

from typing import Any

import pytest

from mrtr_tools import AskAgain, Refused, Toolbox, confirm, needs_input
from mrtr_tools.events import NeedInput, RunStep
from mrtr_tools.progress import Progress
from mrtr_tools.rounds import Round
from tests.rounds_by_hand import ANSWERS, again, asked, begin, failure, gate, message, play, result, trip
from tests.wire_by_hand import CANCEL, DECLINE, NO, YES, accept, form

# Promise 5


def test_promise_5_an_answer_that_does_not_fit_is_asked_again_with_the_reason_under_the_same_key():
    machine = begin(trip(), "plan")
    play(machine)
    machine = again(machine, {**ANSWERS, "seats": accept(seats="two")})
    assert play(machine) == NeedInput(
        {"seats": form("seats must be a whole number.\nHow many seats?", seats={"type": "integer"})}
    )
    assert result(again(machine, {"seats": accept(seats=2)})) == "mon 2 Ann"


def test_promise_5_after_three_misfits_the_next_one_is_a_readable_tool_error():
    """Security 21."""
    machine = begin(trip(), "plan")
    play(machine)
    machine = again(machine, {"day": ANSWERS["day"], "name": ANSWERS["name"]})
    for _ in range(3):
        assert asked(machine) == ["seats"]
        machine = again(machine, {"seats": accept(seats="many")})
    assert asked(machine) == ["seats"]
    text = failure(again(machine, {"seats": accept(seats="many")}))
    assert "'seats'" in text
    assert "whole number" in text


def test_promise_5_a_round_without_an_answer_is_no_misfit():
    machine = begin(trip(), "plan")
    play(machine)
    for _ in range(8):
        play(machine := again(machine, {}))
    assert message(again(machine, {}), "seats") == "How many seats?"


def test_promise_5_misfits_count_for_each_input_and_end_with_its_answer():
    machine = begin(trip(), "plan")
    play(machine)
    for _ in range(3):
        play(machine := again(machine, {"seats": accept(seats="x"), "day": accept(day=7)}))
    machine = again(machine, {"seats": accept(seats=2), "day": accept(day="mon")})
    assert asked(machine) == ["name"]
    assert machine.progress.misfits == {}
    assert machine.progress.why == {}
    assert message(again(machine, {"name": accept(name=1)}), "name") == "name must be text.\nWho?"


def test_promise_5_the_reason_is_gone_when_the_input_was_answered():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(day="Which day?")
    def plan(day: int) -> str:
        if day == 1:
            raise AskAgain(day="That day is full")
        return str(day)

    machine = begin(toolbox, "plan")
    play(machine)
    machine = again(machine, {"day": accept(day="one")})
    assert message(machine, "day") == "day must be a whole number.\nWhich day?"
    machine = again(machine, {"day": accept(day=1)})
    assert message(machine, "day-2") == "That day is full\nWhich day?"
    machine = again(machine, {"day-2": accept(day="one")})
    assert message(machine, "day-2") == "day must be a whole number.\nWhich day?"


UNREADABLE: list[Any] = [
    None,
    True,
    7,
    "accept",
    [],
    {},
    {"content": {"ok": True}},
    {"action": "yes", "content": {"ok": True}},
    {"action": None},
    {"action": ["accept"], "content": {"ok": True}},
    {"action": {"accept": 1}},
]
NO_ANSWER: list[Any] = [
    {"action": "accept"},
    {"action": "accept", "content": None},
    {"action": "accept", "content": []},
    {"action": "accept", "content": True},
    accept(),
    accept(ok=None),
    accept(ok="true"),
    accept(ok="yes"),
    accept(ok=1),
    accept(ok=1.0),
    accept(ok=0),
    accept(ok=[True]),
    accept(OK=True),
    accept(yes=True),
]


@pytest.mark.parametrize("response", UNREADABLE + NO_ANSWER, ids=str)
def test_promise_5_a_confirm_is_a_yes_only_when_it_is_accepted_with_true(response: Any):
    machine = begin(gate(), "delete_all")
    play(machine)
    machine = again(machine, {"ok": response})
    assert asked(machine) == ["ok"]
    assert message(machine, "ok").endswith("\nDelete number 1?")
    assert result(again(machine, {"ok": YES})) == "deleted"


@pytest.mark.parametrize("response", [*UNREADABLE, *NO_ANSWER[:4]], ids=str)
def test_promise_5_a_response_that_cannot_be_read_is_asked_again(response: Any):
    machine = begin(trip(), "plan")
    play(machine)
    assert asked(again(machine, {**ANSWERS, "name": response})) == ["name"]


@pytest.mark.parametrize(
    "response",
    [
        NO,
        DECLINE,
        CANCEL,
        {"action": "decline", "content": {"ok": True}},
        {"action": "cancel", "content": {"ok": True}},
    ],
    ids=str,
)
def test_promise_5_a_gate_that_is_refused_ends_the_call_with_a_neutral_tool_error(response: Any):
    machine = begin(gate(), "delete_all")
    play(machine)
    text = failure(again(machine, {"ok": response}))
    assert "'ok'" in text
    assert "cancelled" in text if response["action"] == "cancel" else "declined" in text


def test_promise_5_a_yes_is_a_yes_whatever_else_came_with_it():
    machine = begin(gate(), "delete_all")
    play(machine)
    assert (
        result(again(machine, {"ok": {"action": "accept", "content": {"ok": True, "note": "x"}, "extra": 1}}))
        == "deleted"
    )


def agreeing() -> Toolbox:
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(ok=confirm("Go?"), name="Who?")
    def go(ok: bool | Refused, name: str | Refused = "nobody") -> list[str]:
        return [repr(ok), repr(name)]

    return toolbox


@pytest.mark.parametrize(
    ("response", "seen"),
    [
        (YES, True),
        (NO, Refused("decline")),
        (DECLINE, Refused("decline")),
        (CANCEL, Refused("cancel")),
        ({"action": "decline", "content": {"ok": True}}, Refused("decline")),
    ],
    ids=str,
)
def test_promise_5_a_confirm_whose_parameter_admits_it_gets_the_refusal(response: Any, seen: object):
    machine = begin(agreeing(), "go")
    play(machine)
    assert result(again(machine, {"ok": response, "name": accept(name="Ann")})) == [repr(seen), "'Ann'"]


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_promise_5_a_refusal_is_an_answer_where_the_parameter_admits_it(action: str):
    machine = begin(agreeing(), "go")
    play(machine)
    machine = again(machine, {"name": {"action": action, "content": {"name": "Eve"}}})
    assert asked(machine) == ["ok"]
    assert result(again(machine, {"ok": YES, "name": accept(name="Eve")})) == ["True", f"Refused(action='{action}')"]


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_promise_5_a_refusal_that_the_parameter_does_not_admit_ends_the_call(action: str):
    machine = begin(trip(), "plan")
    play(machine)
    text = failure(again(machine, {**ANSWERS, "name": {"action": action}}))
    assert "'name'" in text


def test_promise_5_a_false_that_is_no_confirm_is_an_answer():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(window="A window seat?")
    def book(window: bool) -> str:
        return repr(window)

    machine = begin(toolbox, "book")
    play(machine)
    assert result(again(machine, {"window": accept(window=False)})) == "False"


@pytest.mark.parametrize(
    ("annotation", "content", "seen"),
    [
        (str | None, {}, None),
        (str | None, {"x": None}, None),
        (int | None, {"x": ""}, None),
        (str | None, {"x": "a"}, "a"),
    ],
)
def test_promise_5_an_optional_field_may_be_left_empty(annotation: Any, content: dict[str, Any], seen: object):
    toolbox = Toolbox("t")

    def ask(x):
        return repr(x)

    ask.__annotations__ = {"x": annotation, "return": str}
    toolbox.tool(needs_input(x="Anything?")(ask))
    machine = begin(toolbox, "ask")
    play(machine)
    machine = again(machine, {"x": accept(**content)})
    assert result(machine) == repr(seen)
    assert Progress.from_json(machine.progress.to_json()) == machine.progress


def test_never_is_a_step_run_before_all_of_its_inputs_are_settled():
    for left_out in ANSWERS:
        machine: Round = begin(trip(), "plan")
        play(machine)
        machine = again(machine, {key: answer for key, answer in ANSWERS.items() if key != left_out})
        assert not isinstance(machine.next_event(), RunStep)
