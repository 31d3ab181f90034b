"""Answers that come before their question. Promise 4, Security 9."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from mrtr_tools import AskAgain, Elicit, Refused, Toolbox, confirm, needs_input
from mrtr_tools.calls import Call, Complete
from mrtr_tools.events import Finished, NeedInput
from mrtr_tools.rounds import Round
from tests.rounds_by_hand import again, asked, begin, failure, message, play, result, through_json
from tests.wire_by_hand import CANCEL, DECLINE, YES, accept, form

# Cold answers


def cold(ran: list[str] | None = None, **options: Any) -> Toolbox:
    toolbox = Toolbox("bugs")

    @toolbox.tool(**{"cold_answers": True, **options})
    @needs_input(
        resolution="Resolving Bug #{work_item_id} requires a resolution. How was this bug resolved?",
        only_if=lambda fields: fields.get("System.State") == "Resolved",
    )
    @needs_input(
        duplicate_of="Since this is a duplicate, which work item is the original?",
        only_if=lambda resolution: resolution == "Duplicate",
    )
    def update_work_item(
        work_item_id: Annotated[int, Field(alias="workItemId")],
        fields: dict[str, str],
        resolution: Literal["Fixed", "Won't Fix", "Duplicate", "By Design"] | None = None,
        duplicate_of: Annotated[float | None, Field(alias="duplicateOfId")] = None,
    ) -> str:
        if ran is not None:
            ran.append("update")
        return f"{work_item_id} {resolution} {duplicate_of:.0f}" if duplicate_of else f"{work_item_id} {resolution}"

    return toolbox


RESOLVED = {"workItemId": 4522, "fields": {"System.State": "Resolved"}}
DUPLICATE = accept(resolution="Duplicate")
ORIGINAL = accept(duplicateOfId=4301)


def test_promise_4_cold_answers_are_taken_in_a_call_without_state_and_nothing_is_kept_before():
    machine = begin(cold(), "update_work_item", RESOLVED)
    choices = {"type": "string", "enum": ["Fixed", "Won't Fix", "Duplicate", "By Design"]}
    text = "Resolving Bug #4522 requires a resolution. How was this bug resolved?"
    assert play(machine) == NeedInput({"resolution": form(text, resolution=choices)}, keep=False)
    machine = begin(cold(), "update_work_item", RESOLVED, responses={"resolution": DUPLICATE})
    original = form("Since this is a duplicate, which work item is the original?", duplicateOfId={"type": "number"})
    assert play(machine) == NeedInput({"duplicate_of": original}, keep=True)
    assert result(again(machine, {"duplicate_of": ORIGINAL})) == "4522 Duplicate 4301"


def test_promise_4_all_cold_answers_at_once_need_no_second_round():
    machine = begin(cold(), "update_work_item", RESOLVED, responses={"resolution": DUPLICATE, "duplicate_of": ORIGINAL})
    assert result(machine) == "4522 Duplicate 4301"


def test_promise_4_a_cold_call_may_go_on_with_state_as_well():
    machine = begin(cold(), "update_work_item", RESOLVED)
    play(machine)
    assert result(again(machine, {"resolution": accept(resolution="Fixed")})) == "4522 Fixed"


def test_promise_4_a_later_round_of_a_tool_with_cold_answers_takes_only_what_was_asked():
    machine = begin(cold(), "update_work_item", RESOLVED)
    play(machine)
    machine = again(machine, {"resolution": DUPLICATE, "duplicate_of": ORIGINAL})
    assert asked(machine) == ["duplicate_of"]


def test_promise_4_without_cold_answers_they_are_not_taken():
    toolbox = cold(cold_answers=False)
    machine = begin(toolbox, "update_work_item", RESOLVED, responses={"resolution": DUPLICATE})
    event = play(machine)
    assert isinstance(event, NeedInput)
    assert list(event.requests) == ["resolution"]
    assert event.keep


def test_promise_4_a_cold_answer_that_does_not_fit_is_asked_again_with_the_reason():
    machine = begin(cold(), "update_work_item", RESOLVED, responses={"resolution": accept(resolution="Magic")})
    event = play(machine)
    assert isinstance(event, NeedInput)
    assert event.keep
    assert message(machine, "resolution").startswith("resolution must be one of the choices offered.\nResolving Bug")


@pytest.mark.parametrize("response", [DECLINE, CANCEL, accept(resolution="Magic"), DUPLICATE, 7], ids=str)
def test_promise_4_a_cold_answer_to_what_is_not_asked_counts_for_nothing(response: Any):
    active = {"workItemId": 1, "fields": {"System.State": "Active"}}
    assert result(begin(cold(), "update_work_item", active, responses={"resolution": response})) == "1 None"
    machine = begin(cold(), "update_work_item", RESOLVED, responses={"duplicate_of": response})
    assert asked(machine) == ["resolution"]
    assert result(again(machine, {"resolution": accept(resolution="Fixed")})) == "4522 Fixed"


def test_promise_4_a_cold_decline_of_what_is_asked_is_an_answer():
    assert "'resolution'" in failure(begin(cold(), "update_work_item", RESOLVED, responses={"resolution": DECLINE}))


def test_promise_4_a_key_that_was_answered_cold_is_used_up():
    toolbox = Toolbox("t")

    @toolbox.tool(cold_answers=True)
    @needs_input(day="Which day?")
    def plan(day: str) -> str:
        if day == "mon":
            raise AskAgain(day="full")
        return day

    machine = begin(toolbox, "plan", responses={"day": accept(day="mon")})
    assert asked(machine) == ["day-2"]
    assert result(again(machine, {"day": accept(day="wed"), "day-2": accept(day="tue")})) == "tue"


def test_promise_4_cold_answers_are_never_taken_for_a_confirm_a_function_or_an_input_of_one():
    toolbox = Toolbox("t")

    @needs_input(name="Who?")
    def login(name: str) -> str:
        return name

    @toolbox.tool(cold_answers=True)
    @needs_input(day="Which day?", seat=lambda: Elicit("Which seat?"), login=login, ok=confirm("Sure?"))
    def plan(day: str, seat: str, login: str, ok: bool | Refused) -> str:
        return day

    responses = {
        "day": accept(day="mon"),
        "seat": accept(seat="1A"),
        "login": accept(login="eve"),
        "login.name": accept(name="eve"),
        "ok": YES,
    }
    assert set(asked(begin(toolbox, "plan", responses=responses))) == {"seat", "login.name", "ok"}


def test_promise_4_a_first_round_with_something_to_keep_carries_a_state():
    toolbox, ran = Toolbox("t"), []

    def find(item: str) -> int:
        ran.append(item)
        return 3

    @toolbox.tool(cold_answers=True)
    @needs_input(price=find)
    @needs_input(name="Who pays {price}?")
    def buy(item: str, price: int, name: str) -> str:
        return f"{price} {name}"

    @toolbox.tool(cold_answers=True)
    @needs_input(name="Who?")
    def greet(name: str, greeting: str = "Hello") -> str:
        return f"{greeting} {name}"

    for tool in ("buy", "greet"):
        event = play(begin(toolbox, tool, {"item": "tea"}))
        assert isinstance(event, NeedInput)
        assert event.keep


def test_promise_4_cold_answers_do_not_come_back_when_a_state_is_too_old():
    machine = begin(cold(), "update_work_item", RESOLVED)
    play(machine)
    late = Round(
        machine.toolbox,
        Call("update_work_item", RESOLVED, {"resolution": DUPLICATE}, "state", client=machine.call.client),
        through_json(machine.progress),
        expired=True,
    )
    event = play(late)
    assert isinstance(event, NeedInput)
    assert list(event.requests) == ["resolution-2"]
    assert event.keep


def test_promise_4_a_cold_call_without_a_question_to_answer_just_ends():
    ran: list[str] = []
    fields = {"workItemId": 1, "fields": {}}
    assert play(begin(cold(ran), "update_work_item", fields)) == Finished(Complete("1 None", {"result": "1 None"}))
    assert ran == ["update"]
