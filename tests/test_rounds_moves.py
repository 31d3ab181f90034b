"""Rounds that end without a question, because a driver has too much to do: when that is allowed, and how often."""

from typing import cast

from mrtr_tools import Toolbox, confirm, needs_input, then
from mrtr_tools.events import HandBack, RunStep
from mrtr_tools.marks import Then
from mrtr_tools.rounds import Round
from tests.rounds_by_hand import again, asked, begin, play, result
from tests.wire_by_hand import YES


def relay(ran: list[int], **options: object) -> Toolbox:
    """Five steps one after the other, with a question before the fourth."""
    toolbox = Toolbox("relay")

    @toolbox.tool(**options)  # type: ignore[call-overload]
    def start() -> str:
        return then(carry, left=5)

    @toolbox.step
    def carry(left: int) -> str:
        ran.append(left)
        if left == 3:
            return then(ask, left=2)
        return then(carry, left=left - 1) if left > 1 else "there"

    @toolbox.step
    @needs_input(ok=confirm("Go on?"))
    def ask(left: int) -> str:
        return then(carry, left=left)

    return toolbox


def after_a_then(machine: Round) -> Round:
    """Run one function, without looking at what comes next."""
    event = machine.next_event()
    assert isinstance(event, RunStep)
    going = cast("Then", event.step.signature.function(**event.arguments))
    machine.returned(going, [going])
    return machine


def test_after_a_then_a_call_can_go_on_in_another_request():
    ran: list[int] = []
    machine = after_a_then(begin(relay(ran), "start"))
    assert machine.hand_back()
    assert machine.next_event() == HandBack()
    assert machine.progress.rounds == 1
    assert asked(again(machine)) == ["ok"]
    assert ran == [5, 4, 3]


def test_never_before_the_first_step():
    machine = begin(relay([]), "start")
    assert not machine.hand_back()
    assert isinstance(machine.next_event(), RunStep)
    assert not machine.hand_back()


def test_not_where_a_round_begins_nor_with_a_question_out():
    machine = begin(relay([]), "start")
    play(machine)
    assert not machine.hand_back()
    second = again(machine, {"ok": YES})
    assert not second.hand_back()


def test_promise_7_at_most_twice_in_a_row():
    machine = begin(relay([]), "start")
    for _ in range(2):
        assert after_a_then(machine).hand_back()
        machine = again(machine)
    assert not after_a_then(machine).hand_back()
    assert asked(machine) == ["ok"]


def test_promise_7_at_most_three_times_a_call_and_a_question_ends_a_row():
    machine = begin(relay([]), "start")
    for _ in range(2):
        assert after_a_then(machine).hand_back()
        machine = again(machine)
    assert asked(machine) == ["ok"]
    assert machine.progress.moves_in_a_row == 0
    machine = again(machine, {"ok": YES})
    assert after_a_then(machine).hand_back()
    machine = again(machine)
    assert not after_a_then(machine).hand_back()
    assert result(machine) == "there"


def test_a_round_is_always_left_for_a_question():
    machine = after_a_then(begin(relay([], max_rounds=2), "start"))
    assert machine.hand_back()
    machine = after_a_then(again(machine))
    assert not machine.hand_back()
    assert asked(machine) == ["ok"]


def test_a_call_that_was_moved_runs_each_step_once():
    """Spec P18."""
    ran: list[int] = []
    machine = begin(relay(ran), "start")
    while not isinstance(event := machine.next_event(), HandBack):
        if not isinstance(event, RunStep):
            break
        after_a_then(machine).hand_back()
    machine = again(machine)
    assert asked(machine) == ["ok"]
    assert result(again(machine, {"ok": YES})) == "there"
    assert ran == [5, 4, 3, 2, 1]
