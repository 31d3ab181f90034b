"""Which answers are taken, and under which keys. Promise 3, and Security 3."""

from itertools import permutations
from typing import Any

import pytest

from mrtr_tools import AskAgain, Elicit, Refused, Toolbox, confirm, needs_input, then
from mrtr_tools.events import NeedInput
from tests.rounds_by_hand import ANSWERS, again, asked, begin, gate, play, result, trip
from tests.wire_by_hand import CANCEL, DECLINE, TEXT, YES, YES_OR_NO, accept, form

# Promise 3


@pytest.mark.parametrize("order", list(permutations(ANSWERS)), ids="-".join)
def test_promise_3_answers_may_come_one_at_a_time_in_any_order(order: tuple[str, ...]):
    machine, open_keys = begin(trip(), "plan"), list(ANSWERS)
    for key in order:
        assert asked(machine) == open_keys
        open_keys.remove(key)
        machine = again(machine, {key: ANSWERS[key]})
    assert result(machine) == "mon 2 Ann"


def test_promise_3_a_missing_answer_is_asked_again_under_the_same_key_with_the_same_question():
    machine = begin(trip(), "plan")
    play(machine)
    machine = again(machine, {"seats": ANSWERS["seats"]})
    assert play(machine) == NeedInput({"day": form("Which day?", day=TEXT), "name": form("Who?", name=TEXT)})
    assert play(again(machine, {})) == play(machine)


def test_promise_3_unknown_keys_are_ignored():
    machine = begin(trip(), "plan")
    play(machine)
    wild = {"day-2": accept(day="x"), "": None, "plan": 3, "Day": accept(day="y"), "seats.day": [], "name-1": CANCEL}
    machine = again(machine, wild)
    assert asked(machine) == ["day", "seats", "name"]
    assert result(again(machine, {**wild, **ANSWERS})) == "mon 2 Ann"


def test_promise_3_a_settled_answer_is_not_overwritten():
    machine = begin(trip(), "plan")
    play(machine)
    play(machine := again(machine, {"day": accept(day="mon")}))
    machine = again(machine, {**ANSWERS, "day": accept(day="tue")})
    assert result(machine) == "mon 2 Ann"


def test_promise_3_a_settled_answer_is_not_taken_back():
    machine = begin(trip(), "plan")
    play(machine)
    play(machine := again(machine, {"day": accept(day="mon")}))
    assert result(again(machine, {**ANSWERS, "day": DECLINE})) == "mon 2 Ann"


def test_promise_3_responses_are_read_once_when_the_round_begins():
    """What the first step's `ok` was answered with is not there for the second step's."""
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(ok=confirm("View?"))
    def view() -> str:
        return then(delete)

    @toolbox.step
    @needs_input(ok=confirm("Delete?"))
    def delete() -> str:
        return "deleted"

    machine = begin(toolbox, "view")
    play(machine)
    machine = again(machine, {"ok": YES, "ok-2": YES, "delete.ok": YES})
    assert play(machine) == NeedInput({"ok-2": form("Delete?", ok=YES_OR_NO)})
    assert asked(again(machine, {"ok": YES})) == ["ok-2"]
    assert result(again(machine, {"ok-2": YES})) == "deleted"


def test_promise_3_a_loop_never_uses_a_key_again():
    """Security 3: a client that sends all its answers so far is asked for each deletion."""
    machine, sent, keys = begin(gate(3), "delete_all"), {}, []
    for _ in range(3):
        (key,) = asked(machine)
        keys.append(key)
        assert asked(again(machine, sent)) == [key]
        sent[key] = YES
        machine = again(machine, sent)
    assert result(machine) == "deleted"
    assert keys == ["ok", "ok-2", "ok-3"]


def test_promise_3_a_key_that_was_declined_is_used_up_as_well():
    toolbox = Toolbox("t")

    @toolbox.tool
    def start() -> str:
        return then(ask, tries=0)

    @toolbox.step
    @needs_input(name="Who?")
    def ask(tries: int, name: str | Refused) -> str:
        return str(name) if name else then(ask, tries=tries + 1)

    machine = begin(toolbox, "start")
    play(machine)
    for key, response in [("name", DECLINE), ("name-2", CANCEL)]:
        machine = again(machine, {key: response})
        play(machine)
    assert asked(machine) == ["name-3"]
    assert result(again(machine, {"name-3": accept(name="Ann"), "name": DECLINE})) == "Ann"


def test_promise_3_a_key_is_used_up_by_ask_again_also_when_a_function_asked():
    toolbox = Toolbox("t")

    def made() -> Elicit:
        return Elicit("Which?", choices=["a", "b"])

    @toolbox.tool
    @needs_input(seat=made)
    def book(seat: str) -> str:
        if seat == "a":
            raise AskAgain(seat="taken")
        return seat

    machine = begin(toolbox, "book")
    play(machine)
    machine = again(machine, {"seat": accept(seat="a")})
    assert asked(machine) == ["seat-2"]
    assert asked(again(machine, {"seat": accept(seat="b")})) == ["seat-2"]
    assert result(again(machine, {"seat": accept(seat="a"), "seat-2": accept(seat="b")})) == "b"


@pytest.mark.parametrize("names", [("ok", "ok-2"), ("login", "login.name"), ("a b",)], ids=" and ".join)
def test_promise_3_no_input_has_a_name_that_could_be_the_key_of_another(names: tuple[str, ...]):
    from mrtr_tools import DefinitionError

    toolbox = Toolbox("t")
    with pytest.raises(DefinitionError, match=names[-1]):

        @toolbox.tool
        @needs_input(only_if=None, **dict[str, Any].fromkeys(names, confirm("Go on?")))
        def start() -> str:
            return "done"
