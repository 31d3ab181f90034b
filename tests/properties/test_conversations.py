"""Whole conversations, with tools and clients made up by Hypothesis.

A generated tool is a route through steps. Each step has stacked groups of inputs of all kinds, some under a condition
over what is known by then; a body may ask an input again, and hands on what it saw. What comes out at the end is all
that any function saw, so that two conversations with one result had the same answers everywhere.
"""

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings, strategies as st

from mrtr_tools import AskAgain, Elicit, Refused, Toolbox, confirm, needs_input, then
from mrtr_tools.calls import Call
from mrtr_tools.events import Event, Finished, NeedInput, RunStep
from mrtr_tools.rounds import Round
from tests.rounds_by_hand import FORMS, begin, play, run, through_json

few = settings(max_examples=30)


# Tools


@dataclass(frozen=True)
class Ask:
    """One input: its kind, and whether its text or function uses what is known above."""

    kind: str
    uses: bool


@dataclass(frozen=True)
class Part:
    """One group: its condition (always, a constant, or over what is known above), and its inputs."""

    condition: str
    asks: list[Ask]


@dataclass(frozen=True)
class Plan:
    """One step: its groups, and whether its body asks an input again now and then."""

    parts: list[Part]
    asks_again: bool


KINDS = ["text", "gate", "may refuse", "value", "question", "login", "stubborn login", "nested"]
asks = st.builds(Ask, st.sampled_from(KINDS), st.booleans())
parts = st.builds(
    Part, st.sampled_from(["always", "always", "yes", "no", "known"]), st.lists(asks, min_size=1, max_size=3)
)
plans = st.builds(Plan, st.lists(parts, max_size=3), st.booleans())


@st.composite
def toolboxes(draw: st.DrawFn) -> tuple[Toolbox, list[int]]:
    """A toolbox, and the route for its tool."""
    steps = draw(st.lists(plans, min_size=1, max_size=3))
    route = draw(st.lists(st.integers(1, len(steps) - 1), max_size=4)) if len(steps) > 1 else []
    return built(steps), route


def taking(
    function: Callable[..., Any], parameters: Mapping[str, Any], defaults: Mapping[str, Any] | None = None
) -> Any:
    """The function, with parameters by name."""

    def taker(**values: Any) -> Any:
        return function(values)

    kind, empty = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.empty
    taker.__signature__ = inspect.Signature(
        [inspect.Parameter(name, kind, default=(defaults or {}).get(name, empty)) for name in parameters]
    )
    taker.__annotations__ = dict(parameters)
    return taker


def even(values: Mapping[str, Any]) -> bool:
    return sum(map(ord, repr(values))) % 2 == 0


def built(steps: list[Plan]) -> Toolbox:
    toolbox, functions = Toolbox("generated"), []
    for number, plan in enumerate(steps):
        function = step(plan, functions)
        functions.append(function)
        if number == 0:
            toolbox.tool(function, name="start", max_rounds=1000)
        else:
            toolbox.step(function, name=f"step{number}")
    return toolbox


def step(plan: Plan, functions: list[Any]) -> Any:
    parameters: dict[str, Any] = {"route": list[int], "trace": list[str]}
    defaults: dict[str, Any] = {}
    groups: list[dict[str, Any]] = []
    known: dict[str, Any] = {"route": list[int]}
    names = (f"i{number}" for number in range(100))
    for part in plan.parts:
        group: dict[str, Any] = {}
        if part.condition != "always":
            group["only_if"] = condition(part.condition, dict(known))
        taken: dict[str, Any] = {}
        for ask in part.asks:
            name = next(names)
            group[name] = source(ask, name, dict(known) if ask.uses else {})
            if ask.kind != "gate":
                taken[name] = str | Refused if ask.kind == "may refuse" else str
                if part.condition != "always":
                    defaults[name] = "left out"
        groups.append(group)
        parameters |= taken
        known |= taken
    again = [name for part, group in zip(plan.parts, groups, strict=True) for name in askable(part, group)]
    function = taking(body(again if plan.asks_again else [], functions), parameters, defaults)
    for group in reversed(groups):
        function = needs_input(**group)(function)
    return function


def askable(part: Part, group: Mapping[str, Any]) -> Iterator[str]:
    names = [name for name in group if name != "only_if"]
    return (name for name, ask in zip(names, part.asks, strict=True) if ask.kind in ("text", "login"))


def condition(kind: str, known: dict[str, Any]) -> Any:
    return taking(even, known) if kind == "known" else (lambda: kind == "yes")


def source(ask: Ask, name: str, known: dict[str, Any]) -> Any:
    shown = " ".join(f"{{{each}}}" for each in known)
    match ask.kind:
        case "text" | "may refuse":
            return f"{name}? {shown}"
        case "gate":
            return confirm(f"{name}? {shown}")
        case "value":
            return taking(lambda values: f"made of {values}", known)
        case "question":
            return taking(lambda values: Elicit(f"Which of {values}?", choices=["one", "two"]), known)
        case "login":
            return login(name, known, lambda values: f"login of {values}")
        case "stubborn login":
            return login(name, known, asking_again)
        case _:
            return login(name, known, lambda values: Elicit(f"Nested {values}?"))


def login(name: str, known: dict[str, Any], made: Callable[[Any], Any]) -> Any:
    """A function with questions of its own: a gate and a text over it, and a lower group that uses the text."""
    function = taking(made, {**known, "user": str, "token": str}, {"token": "no token"})
    function = needs_input(only_if=taking(even, {"user": str}), token="Token of {user}?")(function)
    return needs_input(user=f"User for {name}?", ok=confirm("Log in?"))(function)


def asking_again(values: dict[str, Any]) -> str:
    if asked_an_odd_time(values["user"]):
        raise AskAgain(user="once more")
    return f"stubborn login of {sorted(values)}"


def body(again: list[str], functions: list[Any]) -> Callable[[Any], Any]:
    def run_body(values: dict[str, Any]) -> Any:
        for name in again:
            user = re.search(r"'user': '([^']*)'", values[name])
            if asked_an_odd_time(user[1] if user else values[name]):
                raise AskAgain(**{f"{name}.user" if user else name: "once more"})
        seen = {name: value for name, value in values.items() if name not in ("route", "trace")}
        trace = [*values["trace"], repr(seen)]
        if not values["route"]:
            return trace
        first, *rest = values["route"]
        return then(functions[first], route=rest, trace=trace)

    return run_body


def asked_an_odd_time(answer: str) -> bool:
    """Whether an answer, which is the key it was given under, is the first, third, ... of its input."""
    match = re.fullmatch(r"i\d+(?:\.user)?(-(\d+))?", answer)
    return match is not None and int(match[2] or 1) % 2 == 1


# Clients


def answer(key: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """The one true answer under a key."""
    ((name, spec),) = request["params"]["requestedSchema"]["properties"].items()
    if spec["type"] == "boolean":
        return {"action": "accept", "content": {name: True}}
    if "enum" in spec:
        return {"action": "accept", "content": {name: spec["enum"][len(key) % 2]}}
    if even({key: name}) and key.startswith("i1"):
        return {"action": "accept", "content": {name: key}, "extra": "ignored"}
    return {"action": "accept", "content": {name: key}}


WRONG: list[Any] = [None, {"action": "maybe"}, {"action": "accept", "content": {}}, {"action": "accept", "content": []}]
UNKNOWN: dict[str, Any] = {
    "": {"action": "decline"},
    "i0-99": {"action": "accept", "content": {"i0": "i0-99"}},
    "start.i0": {"action": "cancel"},
    "i0.user.x": None,
    "step1": 7,
}


@dataclass
class Played:
    """What came of a conversation."""

    result: object = None
    ran: Counter[tuple[str, int]] = field(default_factory=Counter[tuple[str, int]])
    asked: list[list[str]] = field(default_factory=list[list[str]])
    events: list[Event] = field(default_factory=list[Event])

    @property
    def how_often(self) -> Counter[str]:
        """How often each function ran; at which `n` may differ when functions of one group ask again."""
        return Counter(name for name, _ in self.ran)


Client = Callable[[Mapping[str, Any], int], Mapping[str, Any]]


def eager(requests: Mapping[str, Any], number: int) -> Mapping[str, Any]:
    return {key: answer(key, request) for key, request in requests.items()}


def converse(tool: tuple[Toolbox, list[int]], client: Client, *, fresh: bool = False) -> Played:
    """Play a call to its end; with `fresh`, every event happens on a machine that knows nothing but the JSON."""
    toolbox, route = tool
    played, machine = Played(), begin(toolbox, "start", {"route": route, "trace": []})
    machine.progress.call = "call"
    begun = False
    while True:
        if fresh and machine._event is None:
            machine = moved(machine, machine.call.responses if not begun else None)
        begun = True
        event = machine.next_event()
        played.events.append(event)
        if isinstance(event, RunStep):
            if fresh:
                machine = moved(machine)
                assert machine.next_event() == event
            played.ran[(event.step.name, machine.progress.n)] += 1
            step_done(machine)
        elif isinstance(event, NeedInput):
            played.asked.append(list(event.requests))
            responses = client(event.requests, len(played.asked))
            assert event.requests
            machine, begun = moved(machine, responses), False
        else:
            assert isinstance(event, Finished)
            assert not event.reply.is_error, (event.reply.value, event.cause)
            played.result = event.reply.value
            return played


def step_done(machine: Round) -> None:
    """Run the function of a `RunStep`, and look no further."""
    looked, machine.next_event = machine.next_event, lambda: looked() if machine._event else None  # type: ignore[method-assign, assignment, return-value]
    try:
        run(machine)
    finally:
        del machine.next_event


def moved(machine: Round, responses: Mapping[str, Any] | None = None) -> Round:
    call = Call("start", machine.call.arguments, dict(responses or {}), "state", client=FORMS)
    progress = through_json(machine.progress)
    assert progress == machine.progress
    return Round(machine.toolbox, call, progress)


@few
@given(toolboxes())
def test_a_client_that_answers_everything_ends_within_the_rounds_asked_and_nothing_is_asked_twice(tool: Any):
    played = converse(tool, eager)
    keys = [key for keys in played.asked for key in keys]
    assert len(set(keys)) == len(keys)
    assert isinstance(played.result, list)
    assert max(played.ran.values()) == 1


@few
@given(toolboxes(), st.data())
def test_withholding_splitting_and_repeating_answers_changes_neither_the_result_nor_how_often_anything_runs(
    tool: Any, data: st.DataObject
):
    sent: dict[str, Any] = {}

    def hesitant(requests: Mapping[str, Any], number: int) -> Mapping[str, Any]:
        chosen = list(requests) if number > 60 else data.draw(st.lists(st.sampled_from(list(requests)), unique=True))
        fresh = {key: answer(key, requests[key]) for key in chosen}
        repeated = dict(sent)
        sent.update(fresh)
        return repeated | fresh

    plain, played = converse(tool, eager), converse(tool, hesitant)
    assert played.result == plain.result
    assert played.how_often == plain.how_often
    assert {key for keys in played.asked for key in keys} == {key for keys in plain.asked for key in keys}


@few
@given(toolboxes(), st.data())
def test_answers_that_do_not_fit_change_nothing_as_long_as_a_right_one_follows(tool: Any, data: st.DataObject):
    wrongs: Counter[str] = Counter()

    def clumsy(requests: Mapping[str, Any], number: int) -> Mapping[str, Any]:
        responses: dict[str, Any] = {}
        for key, request in requests.items():
            if wrongs[key] < 3 and data.draw(st.booleans()):
                wrongs[key] += 1
                responses[key] = data.draw(st.sampled_from(WRONG))
            else:
                responses[key] = answer(key, request)
        return responses

    plain, played = converse(tool, eager), converse(tool, clumsy)
    assert played.result == plain.result
    assert played.how_often == plain.how_often


@few
@given(toolboxes())
def test_unknown_keys_never_matter(tool: Any):
    def noisy(requests: Mapping[str, Any], number: int) -> Mapping[str, Any]:
        return UNKNOWN | dict(eager(requests, number))

    assert converse(tool, noisy).events == converse(tool, eager).events


@few
@given(toolboxes())
def test_a_call_that_moves_through_json_at_every_edge_is_the_same_conversation(tool: Any):
    assert converse(tool, eager, fresh=True).events == converse(tool, eager).events


@few
@given(toolboxes(), st.data())
def test_a_round_that_is_sent_again_gives_the_same_again(tool: Any, data: st.DataObject):
    """A client that never got the reply, or a proxy that sends twice."""
    toolbox, route = tool
    machine, responses = begin(toolbox, "start", {"route": route, "trace": []}), dict[str, Any]()
    event = play(machine)
    while isinstance(event, NeedInput):
        chosen = data.draw(st.lists(st.sampled_from(list(event.requests)), min_size=1, unique=True))
        responses = {key: answer(key, event.requests[key]) for key in chosen}
        one, two = moved(machine, responses), moved(machine, responses)
        event = play(one)
        assert play(two) == event
        assert two.progress == one.progress
        machine = one
    assert not event.reply.is_error, (event.reply.value, event.cause)
