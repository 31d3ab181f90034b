"""Inputs that functions make: when these run, and their own questions. Promises 1 and 3."""

from itertools import permutations
from typing import Any

import pytest

from mrtr_tools import Elicit, Refused, Toolbox, confirm, needs_input, then
from mrtr_tools.events import RunStep
from tests.rounds_by_hand import again, asked, begin, failure, message, play, result
from tests.wire_by_hand import YES, accept

# Functions with questions of their own


def logins(ran: list[str]) -> Toolbox:
    toolbox = Toolbox("t")

    @needs_input(name="Your GitHub name?", token="Your token for {host}?")
    def github(host: str, name: str, token: str) -> str:
        ran.append("github")
        return f"{name}@{host}"

    @needs_input(name="Your Google name?")
    @needs_input(ok=confirm("Use {name}?"))
    def google(name: str) -> str:
        ran.append("google")
        return name

    @toolbox.tool
    @needs_input(github=github, google=google, day="Which day?")
    def sync(host: str, github: str, google: str, day: str) -> str:
        ran.append("sync")
        return f"{github} {google} {day}"

    return toolbox


LOGINS: dict[str, Any] = {
    "github.name": accept(name="octocat"),
    "github.token": accept(token="t"),
    "google.name": accept(name="ann"),
    "day": accept(day="mon"),
}


def test_the_questions_of_all_functions_of_a_group_go_out_together_before_any_of_them_runs():
    ran: list[str] = []
    machine = begin(logins(ran), "sync", {"host": "h.example"})
    assert asked(machine) == list(LOGINS)
    assert message(machine, "github.token") == "Your token for h.example?"
    assert ran == []


@pytest.mark.parametrize("order", list(permutations(LOGINS)), ids="-".join)
def test_each_function_runs_once_after_its_own_questions_in_whatever_order_they_are_answered(order: tuple[str, ...]):
    ran: list[str] = []
    machine = begin(logins(ran), "sync", {"host": "h"})
    play(machine)
    for key in order:
        play(machine := again(machine, {key: LOGINS[key]}))
    assert asked(machine) == ["google.ok"]
    assert ran == ["github"]
    assert result(again(machine, {"google.ok": accept(ok=True)})) == "octocat@h ann mon"
    assert ran == ["github", "google", "sync"]


def test_a_function_takes_its_own_answers_and_what_it_names_of_the_step():
    machine = begin(logins([]), "sync", {"host": "h"})
    play(machine)
    machine = again(machine, LOGINS)
    event = machine.next_event()
    assert isinstance(event, RunStep)
    assert event.step.name == "github"
    assert event.arguments == {"host": "h", "name": "octocat", "token": "t"}


def test_functions_inside_functions_ask_under_longer_keys():
    toolbox, ran = Toolbox("t"), []

    @needs_input(code="Which code?")
    def second(code: str) -> str:
        ran.append("second")
        return code * 2

    @needs_input(factor=second, name="Who?")
    def login(factor: str, name: str) -> object:
        ran.append("login")
        return Elicit(f"Account of {name}, {factor}?", choices=["a", "b"])

    @toolbox.tool
    @needs_input(account=login)
    def enter(account: str) -> str:
        return account

    machine = begin(toolbox, "enter")
    assert asked(machine) == ["account.factor.code", "account.name"]
    machine = again(machine, {"account.name": accept(name="ann")})
    assert asked(machine) == ["account.factor.code"]
    machine = again(machine, {"account.factor.code": accept(code="1")})
    assert message(machine, "account") == "Account of ann, 11?"
    assert ran == ["second", "login"]
    assert result(again(machine, {"account": accept(account="b")})) == "b"
    assert ran == ["second", "login"]


def test_a_function_may_skip_a_question_of_its_own():
    toolbox = Toolbox("t")

    @needs_input(kind="Which kind?")
    @needs_input(name="Who?", only_if=lambda kind: kind == "person")
    def login(kind: str, name: str = "robot") -> str:
        return f"{kind} {name}"

    @toolbox.tool
    @needs_input(who=login)
    def enter(who: str) -> str:
        return who

    machine = begin(toolbox, "enter")
    play(machine)
    assert result(again(machine, {"who.kind": accept(kind="machine")})) == "machine robot"
    assert asked(again(machine, {"who.kind": accept(kind="person")})) == ["who.name"]


def test_a_refused_question_of_a_function_ends_the_call_unless_it_is_admitted_there():
    toolbox = Toolbox("t")

    @needs_input(name="Who?", mail="Which mail?")
    def login(name: str, mail: str | Refused) -> str:
        return f"{name} {mail or 'no mail'}"

    @toolbox.tool
    @needs_input(who=login)
    def enter(who: str | Refused) -> str:
        return str(who)

    machine = begin(toolbox, "enter")
    play(machine)
    assert result(again(machine, {"who.name": accept(name="a"), "who.mail": {"action": "decline"}})) == "a no mail"
    assert "'who.name'" in failure(again(machine, {"who.name": {"action": "decline"}}))


def test_questions_made_by_two_functions_of_a_group_go_out_together_with_the_fixed_ones():
    toolbox, ran = Toolbox("t"), []

    def make(name: str):
        def made() -> Elicit:
            ran.append(name)
            return Elicit(f"{name}?")

        return made

    @toolbox.tool
    @needs_input(a=make("a"), b="B?", c=make("c"), d=lambda: "value")
    def fill(a: str, b: str, c: str, d: str) -> str:
        return a + b + c + d

    machine = begin(toolbox, "fill")
    assert asked(machine) == ["a", "b", "c"]
    machine = again(machine, {"c": accept(c="C")})
    assert asked(machine) == ["a", "b"]
    assert result(again(machine, {"a": accept(a="A"), "b": accept(b="B")})) == "ABCvalue"
    assert ran == ["a", "c"]


def test_a_function_with_a_default_for_a_neighbours_name_has_the_default_whoever_is_answered_first():
    toolbox = Toolbox("t")

    @needs_input(q="Q?")
    def made(q: str, b: str = "default") -> str:
        return q + b

    @toolbox.tool
    @needs_input(b="B?", a=made)
    def fill(a: str, b: str) -> str:
        return a

    for order in permutations([("b", accept(b="B")), ("a.q", accept(q="Q"))]):
        machine = begin(toolbox, "fill")
        play(machine)
        for key, response in order:
            play(machine := again(machine, {key: response}))
        assert result(machine) == "Qdefault"


def test_a_handed_on_input_is_not_asked_and_its_function_does_not_run():
    toolbox, ran = Toolbox("t"), []

    def quote() -> int:
        ran.append("quote")
        return 1

    @toolbox.tool
    def start() -> str:
        return then(pay, price=7, name="Ann")

    @toolbox.step
    @needs_input(price=quote, name="Who?", ok=confirm("Sure?"))
    def pay(price: int, name: str) -> str:
        return f"{name} {price}"

    machine = begin(toolbox, "start")
    assert asked(machine) == ["ok"]
    assert result(again(machine, {"ok": YES})) == "Ann 7"
    assert ran == []


def test_a_handed_on_input_of_a_skipped_group_keeps_what_was_handed_on():
    toolbox = Toolbox("t")

    @toolbox.tool
    def start() -> str:
        return then(end, name="Ann")

    @toolbox.step
    @needs_input(name="Who?", mail="Which?", only_if=lambda: False)
    def end(name: str = "nobody", mail: str = "none") -> str:
        return f"{name} {mail}"

    assert result(begin(toolbox, "start")) == "Ann none"


def test_a_handed_on_refusal_is_a_refusal():
    toolbox = Toolbox("t")

    @toolbox.tool
    def start() -> str:
        return then(end, name=Refused("cancel"))

    @toolbox.step
    @needs_input(name="Who?")
    def end(name: str | Refused) -> str:
        return repr(name)

    assert result(begin(toolbox, "start")) == "Refused(action='cancel')"
