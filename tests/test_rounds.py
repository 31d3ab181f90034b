"""`Round` by hand: what comes next, and what is left of it between rounds. Promise 11."""

from dataclasses import dataclass

import pytest
from pydantic import JsonValue
from pydantic_core import to_json

from mrtr_tools import Context, Toolbox, confirm, needs_input, then
from mrtr_tools.calls import Client, Complete
from mrtr_tools.errors import InvalidParams
from mrtr_tools.events import Finished, NeedInput, RunStep
from mrtr_tools.rounds import Round
from tests.rounds_by_hand import FORMS, again, asked, begin, failure, play, result, run, through_json, weather
from tests.wire_by_hand import TEXT, YES, YES_OR_NO, accept, form


@dataclass
class Flight:
    number: str
    price: int


def flights(ran: list[str]) -> Toolbox:
    toolbox = Toolbox("flights")

    @toolbox.tool
    def book_flight(origin: str, destination: str) -> str:
        ran.append("book_flight")
        return then(purchase, destination=destination, flight=Flight("LH1", 120))

    @toolbox.step
    @needs_input(ok=confirm("Fly to {destination} for {flight.price}?"))
    def purchase(destination: str, flight: Flight, ctx: Context) -> str:
        ran.append(f"purchase {flight.price}")
        return f"{flight.number} to {destination} {ctx.round}"

    return toolbox


def test_a_question_is_asked_and_its_answer_finishes_the_call():
    ran: list[str] = []
    first = begin(weather(ran), "get_weather", {"location": "Paris"})
    assert first.next_event() == NeedInput(
        {"github_login": form("Please provide your GitHub username", github_login=TEXT)}, keep=True
    )
    second = again(first, {"github_login": accept(github_login="octocat")})
    step = second.toolbox.tools["get_weather"].step
    assert second.next_event() == RunStep(step, {"location": "Paris", "github_login": "octocat"})
    assert second.next_event() is second.next_event()
    assert run(second) == Finished(Complete("Sunny in Paris, octocat", {"result": "Sunny in Paris, octocat"}), None)
    assert ran == ["get_weather"]


def test_work_then_a_question_then_work():
    ran: list[str] = []
    first = begin(flights(ran), "book_flight", {"origin": "FRA", "destination": "Rome"})
    assert first.next_event() == RunStep(first.carrier.step, {"origin": "FRA", "destination": "Rome"})
    assert run(first) == NeedInput({"ok": form("Fly to Rome for 120?", ok=YES_OR_NO)})
    second = again(first, {"ok": YES})
    assert second.step.name == "purchase"
    assert result(second) == "LH1 to Rome 1"
    assert ran == ["book_flight", "purchase 120"]


def test_a_tool_that_asks_nothing_finishes_in_one_round():
    toolbox = Toolbox("t")

    @toolbox.tool
    def add(a: int, b: int = 2) -> int:
        return a + b

    assert play(begin(toolbox, "add", {"a": 1})) == Finished(Complete(3, {"result": 3}))


def test_the_end_stays_the_end():
    toolbox = weather([])
    machine = again(begin_and_ask(toolbox), {"github_login": accept(github_login="o")})
    assert play(machine) is machine.next_event()
    with pytest.raises(RuntimeError, match="no function is running"):
        machine.returned("more")


def begin_and_ask(toolbox: Toolbox) -> Round:
    machine = begin(toolbox, "get_weather", {"location": "Paris"})
    play(machine)
    return machine


def test_questions_stay_the_same_however_often_they_are_looked_at():
    machine = begin_and_ask(weather([]))
    before = machine.progress.to_json()
    assert machine.next_event() == machine.next_event()
    assert machine.progress.to_json() == before


def test_reporting_when_nothing_runs_is_a_mistake_of_the_driver():
    machine = begin_and_ask(weather([]))
    with pytest.raises(RuntimeError, match="next_event"):
        machine.returned("x")
    with pytest.raises(RuntimeError, match="next_event"):
        machine.raised(ValueError("x"))


def test_an_unknown_tool_is_refused():
    with pytest.raises(InvalidParams, match="Unknown tool"):
        begin(weather([]), "get_whether")


def test_a_step_is_no_tool():
    with pytest.raises(InvalidParams, match="Unknown tool"):
        begin(flights([]), "purchase")


def test_arguments_that_do_not_fit_are_a_tool_error_before_anything_runs():
    ran: list[str] = []
    assert "destination" in failure(begin(flights(ran), "book_flight", {"origin": "FRA"}))
    assert ran == []


# Promise 11


def loop() -> Toolbox:
    toolbox = Toolbox("t")

    @toolbox.tool(max_rounds=100)
    def start(note: str) -> str:
        return then(turn, left=70, note=note)

    @toolbox.step
    @needs_input(ok=confirm("One more, {left} to go?"))
    def turn(left: int, note: str) -> str:
        return then(turn, left=left - 1, note=note)

    return toolbox


def test_promise_11_progress_is_json_at_every_edge_and_does_not_grow_over_64_rounds():
    machine, sizes = begin(loop(), "start", {"note": "n" * 1000}), []
    for _ in range(64):
        key = next(iter(machine.progress.open), "")
        while isinstance(machine.next_event(), RunStep):
            assert through_json(machine.progress) == machine.progress
            run(machine)
            assert through_json(machine.progress) == machine.progress
        (key,) = asked(machine)
        sizes.append(len(to_json(machine.progress.to_json())))
        machine = again(machine, {key: YES})
    assert len(set(sizes[12:60])) == 1  # the numbers in it have two digits by then
    assert sizes[-1] - sizes[0] < 40
    assert sizes[-1] < 400  # the argument that is handed on and on costs nothing


def test_promise_11_a_step_leaves_nothing_of_the_one_before_but_the_names_used():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(a="A?", b="B?")
    def start(a: str, b: str) -> str:
        return then(end)

    @toolbox.step
    @needs_input(c="C?")
    def end(c: str) -> str:
        return c

    machine = begin(toolbox, "start")
    play(machine)
    play(machine := again(machine, {"a": accept(a=3), "b": accept(b="x" * 100)}))
    play(machine := again(machine, {"a": accept(a="y" * 100)}))
    (pin,) = [item.pin for item in machine.step.inputs.values()]
    plain: dict[str, JsonValue] = {
        "call": machine.progress.call,
        "born": machine.progress.born,
        "step": "end",
        "n": 1,
        "ran": True,
        "rounds": 3,
        "given": machine.progress.given,
        "open": {"c": ["c", pin]},
        "used": {"a": 1, "b": 1},
    }
    assert machine.progress.to_json() == plain


def test_what_the_client_can_do_is_read_anew_in_every_round():
    machine = begin(weather([]), "get_weather", {"location": "Paris"}, client=FORMS)
    play(machine)
    last = again(machine, {"github_login": accept(github_login="o")}, client=Client({}))
    assert result(last) == "Sunny in Paris, o"
