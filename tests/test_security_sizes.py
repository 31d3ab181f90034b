"""Attacks with size: what a call has to carry, and what comes as a state. Security 21; memory is measured, not time."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import pytest
from pydantic import Field
from pydantic_core import from_json, to_json

from mrtr_tools import Elicit, Toolbox, confirm, needs_input, then
from mrtr_tools.calls import Call, Complete, InputRequired
from mrtr_tools.errors import InvalidState
from mrtr_tools.runner import handle_call
from mrtr_tools.server.wire import CallFailed, result_for, result_object
from mrtr_tools.state import MAX_PAYLOAD, MAX_TOKEN
from tests.attacker import Server
from tests.rounds_by_hand import FORMS
from tests.wire_by_hand import accept

HUGE = 50 * 2**20
SECRET = "hunter2"


def hoarding() -> Toolbox:
    """Tools that carry more than a state holds, each in another way."""
    toolbox = Toolbox("t")

    @toolbox.tool
    def hand_on() -> str:
        return then(show, report=SECRET * 10_000, small="x", title=SECRET)

    @toolbox.step
    @needs_input(ok=confirm("Show it?"))
    def show(report: str, small: str, title: str) -> str:
        return report

    @toolbox.tool
    @needs_input(note=lambda: SECRET * 10_000)
    @needs_input(ok=confirm("Keep it?"))
    def make(note: str) -> str:
        return note

    @toolbox.tool
    @needs_input(pick=lambda: Elicit("Which?", choices=[f"{SECRET} {number}" for number in range(5000)]))
    def offer(pick: str) -> str:
        return pick

    @toolbox.tool
    @needs_input(ok=confirm("Use it?"))
    def assume(template: str = Field(default_factory=lambda: SECRET * 10_000)) -> str:
        return template

    @toolbox.prompt()
    @needs_input(note=lambda: SECRET * 10_000)
    @needs_input(ok=confirm("Keep it?"))
    def letter(note: str) -> str:
        return note

    return toolbox


async def reply_to(call: Call) -> Any:
    return await handle_call(hoarding(), call, Server(hoarding()).signer)


@pytest.mark.parametrize(
    ("tool", "named"),
    [
        ("hand_on", "value report (70002 bytes), question ok (25 bytes), value title (9 bytes)"),
        ("make", "answer note ("),
        ("offer", "question pick ("),
        ("assume", "default template (70002 bytes)"),
    ],
)
def test_what_is_too_large_to_carry_is_told_on_the_wire_by_name_and_size_and_by_nothing_it_holds(
    tool: str, named: str, caplog: pytest.LogCaptureFixture
):
    """Security 21, 23: the budget is 64 KiB; to whom it is told, and in the log."""
    shown = result_object(anyio.run(reply_to, Call(tool, client=FORMS)))

    assert shown["isError"] is True
    assert "structuredContent" not in shown
    text = to_json(shown).decode()
    assert f"may carry {MAX_PAYLOAD}; the largest: {named}" in text
    assert SECRET not in text
    assert named in caplog.text
    assert SECRET not in caplog.text


def test_a_prompt_that_is_too_large_to_carry_says_so_too():
    """Security 23: it has no other way to say so than an error."""
    call = Call("letter", method="prompts/get", client=FORMS)
    toolbox, reply = hoarding(), anyio.run(reply_to, call)

    assert isinstance(reply, Complete)
    with pytest.raises(CallFailed, match="the largest: answer note") as caught:
        result_for(call, toolbox.prompts["letter"], reply)
    assert SECRET not in str(caught.value)


def test_the_budget_holds_for_what_a_call_collects_over_many_rounds():
    """Security 21: each answer alone would fit."""
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(part0="?")
    @needs_input(part1="?")
    @needs_input(part2="?")
    @needs_input(part3="?")
    @needs_input(part4="?")
    def collect(*, part0: str, part1: str, part2: str, part3: str, part4: str) -> str:
        return "all"

    server = Server(toolbox)
    asked = server.ask("collect")
    for name in ("part0", "part1", "part2"):
        asked = server.ask("collect", state=asked.state, **{name: accept(**{name: "x" * 16_384})})
    done = server.end("collect", state=asked.state, part3=accept(part3="x" * 16_384))

    assert 48 * 1024 < len(str(asked.state)) < MAX_TOKEN
    assert done.is_error
    assert "answer part" in str(done.value)
    assert "xxx" not in str(done.value)


# A state


@contextmanager
def allocating(most: int) -> Iterator[None]:
    """What is inside allocates at most so many bytes at any time."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def gate() -> Server:
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(ok=confirm("Go?"))
    def go() -> str:
        return "gone"

    return Server(toolbox)


@pytest.mark.parametrize("letter", ["A", ".", "é", "\ud800", "\0"], ids=ascii)
def test_the_length_of_a_state_is_looked_at_before_anything_is_made_of_it(letter: str):
    """Security 21: 50 MB are refused without a copy; also the line in the log is made of no more than a state may have.

    Reported as ChronoAIProject/NyxID#1461.
    """
    server, token = gate(), letter * HUGE
    call = Call("go", state=token, client=FORMS)

    async def refuse() -> InvalidState:
        with pytest.raises(InvalidState) as caught:
            await handle_call(server.toolbox, call, server.signer)
        return caught.value

    anyio.run(refuse)  # whatever the first call of all allocates
    with allocating(10 * MAX_TOKEN):
        refused = anyio.run(refuse)

    assert (refused.reason, refused.message, refused.data) == ("length", InvalidState.MESSAGE, None)


def test_the_measure_would_see_a_state_that_is_decoded():
    """Of the longest that may be genuine, everything is."""
    server = gate()
    call = Call("go", state="A" * (MAX_TOKEN - 44) + "." + "A" * 43, client=FORMS)
    tracemalloc.start()
    try:
        with pytest.raises(InvalidState):
            server.signer.loads(str(call.state), call)
        assert tracemalloc.get_traced_memory()[1] > MAX_TOKEN
    finally:
        tracemalloc.stop()


def test_reading_a_request_copies_no_state():
    """Security 21."""
    params = {"name": "go", "requestState": "A" * HUGE}
    with allocating(100_000):
        call = Call.read(params, client=FORMS)

    assert call.state is params["requestState"]


# Odd texts and numbers in a state's place, or beside it


@pytest.mark.parametrize("token", ["\0", "\ud800", "A\0.B", "\u202e" * 10, "1e400", "null", "{}", "[[[["], ids=ascii)
def test_an_odd_text_in_place_of_a_state_is_refused_like_any_other(token: str):
    """Security 15, 21."""
    assert gate().refuse("go", state=token).data is None


@pytest.mark.parametrize("value", ["\0", "a\0b", "\0" * 1000, {"\0": "\0"}])
def test_nul_is_a_character_like_any_other(value: Any):
    """Security 21: it is bound, shown escaped, and cuts nothing off."""
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(ok=confirm("Use {value}?"))
    def use(value: Any) -> Any:
        return value

    server = Server(toolbox)
    asked = server.ask("use", {"value": value})
    shown: Any = asked.requests["ok"]

    assert "\0" not in shown["params"]["message"]
    assert server.end("use", {"value": value}, state=asked.state, ok=accept(ok=True)).value == value
    other = from_json(to_json(value).replace(b"\\u0000", b""))
    assert server.refuse("use", {"value": other}, state=asked.state, ok=accept(ok=True)).reason == "arguments"


def test_answers_of_many_kinds_at_once_cost_no_more_than_they_take_room():
    """Security 21: 256 answers of 4 KiB each to a question that is not open."""
    server = gate()
    asked = server.ask("go")
    call = Call("go", state=asked.state, responses={f"k{n}": accept(ok="x" * 4096) for n in range(256)}, client=FORMS)

    async def send() -> Any:
        return await handle_call(server.toolbox, call, server.signer)

    assert isinstance(anyio.run(send), InputRequired)
    with allocating(1_000_000):
        assert isinstance(anyio.run(send), InputRequired)
