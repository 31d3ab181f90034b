"""Steps share no objects, and answers pass through JSON at once. Promise 9."""

from dataclasses import dataclass, field
from datetime import date

from pydantic import BaseModel

from mrtr_tools import Toolbox, needs_input, then
from tests.rounds_by_hand import again, begin, play, result
from tests.wire_by_hand import accept


@dataclass
class Flight:
    number: str
    price: int
    stops: list[str] = field(default_factory=list)


def test_promise_9_what_happens_to_a_value_after_then_does_not_reach_the_step():
    toolbox, kept = Toolbox("t"), Flight("LH1", 120)

    @toolbox.tool
    def start(names: list[str]) -> str:
        going = then(end, flight=kept, names=names)
        kept.price = 900
        names.append("Eve")
        return going

    @toolbox.step
    def end(flight: Flight, names: list[str]) -> str:
        return f"{flight.price} {names}"

    assert result(begin(toolbox, "start", {"names": ["Ann"]})) == "120 ['Ann']"


def test_promise_9_what_a_step_does_to_its_values_does_not_reach_the_next():
    toolbox = Toolbox("t")
    flights: list[Flight] = []

    @toolbox.tool
    def start(names: list[str]) -> str:
        names.append("spoiled")
        return then(middle, flight=Flight("LH1", 120), names=["Ann"])

    @toolbox.step
    def middle(flight: Flight, names: list[str]) -> str:
        flights.append(flight)
        going = then(end, flight=flight, names=names)
        flight.price = 900
        return going

    @toolbox.step
    def end(flight: Flight, names: list[str]) -> str:
        flights.append(flight)
        return f"{flight.price} {names}"

    assert result(begin(toolbox, "start", {"names": ["Ann"]})) == "120 ['Ann']"
    assert flights[0] is not flights[1]


def test_promise_9_an_argument_that_a_step_changed_is_not_changed_for_the_next():
    toolbox = Toolbox("t")

    @toolbox.tool
    def start(names: list[str]) -> str:
        going = then(end, names=names)
        names.clear()
        return going

    @toolbox.step
    def end(names: list[str]) -> str:
        return str(names)

    arguments = {"names": ["Ann"]}
    assert result(begin(toolbox, "start", arguments)) == "['Ann']"
    assert arguments == {"names": ["Ann"]}


def test_promise_9_a_mutable_default_is_not_shared_between_calls():
    toolbox = Toolbox("t")

    @toolbox.tool
    def start(names: list[str] = []) -> int:  # noqa: B006
        names.append("x")
        return then(end)

    @toolbox.step
    def end(names: list[str] = []) -> int:  # noqa: B006
        names.append("x")
        return len(names)

    for _ in range(3):
        assert result(begin(toolbox, "start")) == 1


class Choice(BaseModel):
    day: date
    seats: int = 1


def test_promise_9_an_answer_passes_through_json_at_once():
    """What the step sees is the same whether its answer came in this round or an earlier one."""
    toolbox, seen = Toolbox("t"), []

    @toolbox.tool
    @needs_input(choice="Which?", name="Who?")
    def book(choice: Choice, name: str) -> str:
        seen.append(choice)
        return name

    for rounds in ([{"choice": 1, "name": 1}], [{"choice": 1}, {"name": 1}], [{"name": 1}, {"choice": 1}]):
        machine = begin(toolbox, "book")
        play(machine)
        answers = {"choice": accept(day="2026-07-28"), "name": accept(name="Ann")}
        for keys in rounds:
            play(machine := again(machine, {key: answers[key] for key in keys}))
        assert result(machine) == "Ann"
    assert seen == [Choice(day=date(2026, 7, 28))] * 3
