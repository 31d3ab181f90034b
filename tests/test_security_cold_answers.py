"""Attacks on whole conversations: answers before the question, and what is almost a yes. Security 9."""

import pytest

from mrtr_tools import Elicit, Refused, Toolbox, confirm, needs_input, then
from tests.attacker import Server
from tests.wire_by_hand import CANCEL, DECLINE, accept

YES = accept(ok=True)


def desk(cold: bool = True) -> Toolbox:
    toolbox = Toolbox("desk")

    @needs_input(user="Who are you?")
    def login(user: str) -> str:
        return user

    @toolbox.tool(cold_answers=cold)
    @needs_input(color="Which color?")
    @needs_input(size=lambda: Elicit("Which size?"), who=login)
    @needs_input(ok=confirm("Paint it {color}?"))
    def paint(color: str, size: str, who: str) -> str:
        return f"{color} {size} {who}"

    @toolbox.tool(cold_answers=True)
    def begin() -> str:
        return then(follow)

    @toolbox.step
    @needs_input(color="Which color?")
    def follow(color: str) -> str:
        return color

    return toolbox


EVERYTHING = {
    "color": accept(color="red"),
    "size": accept(size="L"),
    "who": accept(who="eve"),
    "who.user": accept(user="eve"),
    "ok": YES,
}


def test_cold_answers_are_for_fixed_forms_of_the_tool_and_nothing_else() -> None:
    """Security 9: never a confirm, what a function asks, or a question of a function."""
    server = Server(desk())

    asked = server.ask("paint", **EVERYTHING)

    assert list(asked.requests) == ["size", "who.user"]
    asked = server.ask("paint", state=asked.state, **EVERYTHING)
    assert list(asked.requests) == ["ok"], "the confirm is asked although its yes came along twice"
    assert server.end("paint", state=asked.state, ok=YES).value == "red L eve"


def test_no_yes_is_taken_before_its_question() -> None:
    """Security 9: a model could approve in a person's place; also where everything else was answered cold."""
    toolbox = Toolbox("t")

    @toolbox.tool(cold_answers=True)
    @needs_input(color="Which color?", ready=confirm("Ready?"))
    @needs_input(ok=confirm("Paint it {color}?"))
    def paint(color: str, ok: bool | Refused) -> str:
        return f"{color} {ok}"

    server = Server(toolbox)
    cold = {"color": accept(color="red"), "ready": accept(ready=True), "ok": YES}

    ready = server.ask("paint", **cold)
    ok = server.ask("paint", state=ready.state, **cold)

    assert (list(ready.requests), list(ok.requests), server.ran) == (["ready"], ["ok"], [])
    assert server.end("paint", state=ok.state, **cold).value == "red True"


def test_cold_answers_are_not_for_later_steps() -> None:
    """Security 9."""
    assert list(Server(desk()).ask("begin", color=accept(color="red")).requests) == ["color"]


def test_without_the_option_no_cold_answer_is_taken() -> None:
    """Security 9: answers to what was never asked are not taken."""
    assert list(Server(desk(cold=False)).ask("paint", **EVERYTHING).requests) == ["color"]


def test_with_a_state_only_open_questions_are_answered() -> None:
    """Security 9: later rounds stay pinned, also for a tool that takes cold answers."""
    toolbox = Toolbox("two")

    @toolbox.tool(cold_answers=True)
    @needs_input(first="First?")
    @needs_input(second="Second?")
    def two(first: str, second: str) -> str:
        return f"{first} {second}"

    server = Server(toolbox)
    asked = server.ask("two", first="unreadable")
    assert asked.state is not None

    second = server.ask("two", state=asked.state, first=accept(first="a"), second=accept(second="too early"))

    assert list(second.requests) == ["second"]


@pytest.mark.parametrize(
    "almost",
    [
        accept(),
        accept(ok="true"),
        accept(ok=1),
        accept(ok="yes"),
        accept(ok=[True]),
        accept(ok={"ok": True}),
        accept(OK=True),
        accept(ok=None),
        {"action": "accept"},
        {"action": "accept", "content": True},
        {"action": "accept", "content": [True]},
        {"content": {"ok": True}},
        {"action": "ACCEPT", "content": {"ok": True}},
        {"action": ["accept"], "content": {"ok": True}},
        True,
    ],
)
def test_a_confirm_fails_closed(almost: object) -> None:
    """Security 9: what is not clearly a yes is asked again, three times, and then the call ends."""
    toolbox = Toolbox("gate")

    @toolbox.tool
    @needs_input(ok=confirm("Sure?"))
    def act() -> str:
        return "acted"

    server = Server(toolbox)
    asked = server.ask("act")
    for _ in range(3):
        asked = server.ask("act", state=asked.state, ok=almost)
        assert list(asked.requests) == ["ok"]

    assert server.end("act", state=asked.state, ok=almost).is_error
    assert server.ran == []


@pytest.mark.parametrize("no", [accept(ok=False), DECLINE, CANCEL, {"action": "decline", "content": {"ok": True}}])
def test_a_no_with_a_yes_inside_is_a_no(no: object) -> None:
    """Security 9: content counts only when the form was accepted. Reported as Kuadrant/mcp-gateway#1517."""
    toolbox = Toolbox("gate")

    @toolbox.tool
    @needs_input(ok=confirm("Sure?"))
    def act(ok: bool | Refused) -> str:
        return repr(ok)

    server = Server(toolbox)
    asked = server.ask("act")

    done = server.end("act", state=asked.state, ok=no)

    assert str(done.value).startswith("Refused(")
    assert not done.is_error
