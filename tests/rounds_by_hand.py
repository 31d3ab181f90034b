"""Plays rounds by hand, without a runner: what the tests of `Round` share."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from pydantic_core import from_json, to_json

from mrtr_tools import confirm, needs_input, then
from mrtr_tools.calls import Call, Client, Complete
from mrtr_tools.errors import InvalidState
from mrtr_tools.events import Event, Finished, HandBack, NeedInput, RunStep, StartTask
from mrtr_tools.marks import watched
from mrtr_tools.progress import Progress
from mrtr_tools.rounds import Round
from mrtr_tools.tools import Toolbox
from tests.wire_by_hand import accept

FORMS = Client({"elicitation": {"form": {}}})
MUTE = Client()


def begin(
    toolbox: Toolbox, tool: str, arguments: Mapping[str, Any] | None = None, *, client=FORMS, responses=None
) -> Round:
    """The first round of a call."""
    return Round(toolbox, Call(tool, arguments or {}, responses or {}, client=client))


def through_json(progress: Progress) -> Progress:
    """What another machine gets."""
    return Progress.from_json(from_json(to_json(progress.to_json())))


def again(
    machine: Round, responses: Mapping[str, Any] | None = None, *, toolbox=None, client=FORMS, expired=False
) -> Round:
    """The next round of the call, on another machine, perhaps of another build."""
    call = replace(machine.call, responses=responses or {}, state="state", client=client)
    progress = through_json(machine.progress)
    progress.born = progress.born or 1  # as when its first state is minted
    return Round(toolbox or machine.toolbox, call, progress, expired=expired)


def run(machine: Round) -> Event:
    """Do what a `RunStep` says, and give the next event."""
    event = machine.next_event()
    assert isinstance(event, RunStep), event
    try:
        context, made = watched(machine.toolbox.steps.of)
        value = context.run(event.step.signature.function, **event.arguments)
    except Exception as error:  # noqa: BLE001  as the runner does
        machine.raised(error)
    else:
        machine.returned(value, made)
    return machine.next_event()


def play_on(machine: Round, ran: list[str] | None = None) -> NeedInput | HandBack | StartTask | Finished:
    """Run functions to the end of the round; `ran` takes their names."""
    while isinstance(event := machine.next_event(), RunStep):
        if ran is not None:
            ran.append(event.step.name)
        run(machine)
    return event


def play(machine: Round, ran: list[str] | None = None) -> NeedInput | Finished:
    """Run functions to the end of a round that asks or is over."""
    event = play_on(machine, ran)
    assert isinstance(event, (NeedInput, Finished))
    return event


def asked(machine: Round) -> list[str]:
    """Play to questions; their wire keys."""
    event = play(machine)
    assert isinstance(event, NeedInput), event
    return list(event.requests)


def message(machine: Round, key: str) -> str:
    """Play to questions; the text of one."""
    event = play(machine)
    assert isinstance(event, NeedInput), event
    return event.requests[key]["params"]["message"]  # type: ignore[index, return-value]


def result(machine: Round) -> object:
    """Play to the result."""
    event = play(machine)
    assert isinstance(event, Finished), event
    assert not event.reply.is_error, (event.reply.value, event.cause)
    return event.reply.value


def failure(machine: Round) -> str:
    """Play to a tool error that was meant for the caller; its text."""
    event = play(machine)
    assert isinstance(event, Finished), event
    assert event.reply.is_error, event
    assert event.cause is None, event.cause
    return str(event.reply.value)


def crash(machine: Round) -> Exception:
    """Play to an unexpected end; the exception behind it, of which the caller sees nothing."""
    event = play(machine)
    assert isinstance(event, Finished), event
    assert event.reply == Complete("The tool failed unexpectedly.", is_error=True)
    assert event.cause is not None
    return event.cause


def tool(function: Callable[..., Any], *groups: dict[str, Any], **options: Any) -> Toolbox:
    """A toolbox with one tool, its groups from top to bottom."""
    toolbox = Toolbox("t")
    for group in reversed(groups):
        function = needs_input(**group)(function)
    toolbox.tool(**options)(function)
    return toolbox


def refused(machine: Round, responses: Any = None, **how: Any) -> InvalidState:
    """The next round, where the state must be refused: with the one message that there is."""
    with pytest.raises(InvalidState) as caught:
        again(machine, responses, **how)
    assert (caught.value.code, caught.value.message) == (-32602, "Invalid or expired requestState")
    return caught.value


def trip() -> Toolbox:
    """A tool with three questions that go out together."""
    toolbox = Toolbox("trip")

    @toolbox.tool
    @needs_input(day="Which day?", seats="How many seats?", name="Who?")
    def plan(day: str, seats: int, name: str) -> str:
        return f"{day} {seats} {name}"

    return toolbox


ANSWERS: Mapping[str, Any] = {"day": accept(day="mon"), "seats": accept(seats=2), "name": accept(name="Ann")}


def gate(cut: int = 1) -> Toolbox:
    """A tool that needs a yes `cut` times, one step for each."""
    toolbox = Toolbox("gate")

    @toolbox.tool(max_rounds=50)
    def delete_all() -> str:
        return then(delete, left=cut)

    @toolbox.step
    @needs_input(ok=confirm("Delete number {left}?"))
    def delete(left: int) -> str:
        return then(delete, left=left - 1) if left > 1 else "deleted"

    return toolbox


def weather(ran: list[str]) -> Toolbox:
    """A tool with one question; `ran` takes its name when it runs."""
    toolbox = Toolbox("weather")

    @toolbox.tool
    @needs_input(github_login="Please provide your GitHub username")
    def get_weather(location: str, github_login: str) -> str:
        ran.append("get_weather")
        return f"Sunny in {location}, {github_login}"

    return toolbox
