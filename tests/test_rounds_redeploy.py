"""A call that began in one build and goes on in another. Promise 8, Security 7."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import Field

from mrtr_tools import Elicit, Refused, Toolbox, confirm, needs_input, then
from mrtr_tools.events import NeedInput
from mrtr_tools.rounds import Round
from tests.rounds_by_hand import again, asked, begin, message, play, refused, result, tool
from tests.wire_by_hand import TEXT, YES, accept, form

# Questions


def accounts(other: str, wording: str = "Your {name} account?") -> Toolbox:
    def link(github_login, other_login):
        return f"{github_login} {other_login}"

    link.__annotations__ = {"github_login": str, "return": str}
    source = f"def link(github_login: str, {other}: str) -> str:\n    return f'{{github_login}} {{{other}}}'\n"
    names: dict[str, Any] = {}
    exec(source, names)
    return tool(names["link"], {"github_login": "Your GitHub account?", other: wording.format(name=other)})


def test_promise_8_a_kept_answer_under_a_question_that_still_stands_survives_another_build():
    """Security 8: SEP-2322's first use case, in which Google becomes Microsoft while the person is typing."""
    machine = begin(accounts("google_login"), "link")
    assert asked(machine) == ["github_login", "google_login"]
    play(machine := again(machine, {"github_login": accept(github_login="octocat")}))
    machine = again(machine, {"google_login": accept(google_login="g")}, toolbox=accounts("microsoft_login"))
    assert play(machine) == NeedInput({"microsoft_login": form("Your microsoft_login account?", microsoft_login=TEXT)})
    assert result(again(machine, {"microsoft_login": accept(microsoft_login="m")})) == "octocat m"


def test_promise_8_answers_that_come_together_after_another_build_are_taken_where_the_question_stands():
    machine = begin(accounts("google_login"), "link")
    play(machine)
    responses = {"github_login": accept(github_login="octocat"), "google_login": accept(google_login="g")}
    machine = again(machine, responses, toolbox=accounts("microsoft_login"))
    assert asked(machine) == ["microsoft_login"]
    assert result(again(machine, {"microsoft_login": accept(microsoft_login="m")})) == "octocat m"


def test_promise_8_a_kept_answer_under_a_reworded_question_is_asked_again():
    def build(wording: str) -> Toolbox:
        def go(a: str, b: str) -> str:
            return a + b

        return tool(go, {"a": wording, "b": "B?"})

    machine = begin(build("A?"), "go")
    play(machine)
    play(machine := again(machine, {"a": accept(a="old")}))
    machine = again(machine, {"b": accept(b="b")}, toolbox=build("Which A?"))
    assert message(machine, "a-2") == "Which A?"
    assert asked(again(machine, {"a": accept(a="old")})) == ["a-2"]
    assert result(again(machine, {"a-2": accept(a="new")})) == "newb"


def test_promise_8_a_yes_to_a_reworded_confirm_is_no_yes():
    def build(wording: str) -> Toolbox:
        def go(name: str) -> str:
            return name

        return tool(go, {"ok": confirm(wording), "name": "Who?"})

    machine = begin(build("View?"), "go")
    play(machine)
    play(machine := again(machine, {"ok": YES}))
    machine = again(machine, {"name": accept(name="n"), "ok": YES}, toolbox=build("Delete?"))
    assert message(machine, "ok-2") == "Delete?"
    assert result(again(machine, {"ok-2": YES})) == "n"


def test_promise_8_a_kept_refusal_that_is_no_longer_admitted_is_asked_again():
    def lenient(name: str | Refused, b: str) -> str:
        return f"{name}"

    def strict(name: str, b: str) -> str:
        return f"{name}"

    groups = {"name": "Who?", "b": "B?"}
    lenient.__name__ = strict.__name__ = "go"
    machine = begin(tool(lenient, groups), "go")
    play(machine)
    play(machine := again(machine, {"name": {"action": "decline"}}))
    machine = again(machine, {"b": accept(b="b")}, toolbox=tool(strict, groups))
    assert asked(machine) == ["name-2"]


def test_promise_8_a_new_question_above_is_asked_and_the_answers_below_are_kept():
    def old(a: str, b: str) -> str:
        return a + b

    def new(first: str, a: str, b: str) -> str:
        return first + a + b

    old.__name__ = new.__name__ = "go"
    machine = begin(tool(old, {"a": "A?", "b": "B?"}), "go")
    play(machine)
    play(machine := again(machine, {"a": accept(a="a")}))
    machine = again(machine, {"b": accept(b="b")}, toolbox=tool(new, {"first": "First?"}, {"a": "A?", "b": "B?"}))
    assert asked(machine) == ["first"]
    assert result(again(machine, {"first": accept(first="f")})) == "fab"


def test_promise_8_an_open_question_of_a_function_stays_as_it_was_sent():
    def build(text: str) -> Toolbox:
        def go(seat: str) -> str:
            return seat

        return tool(go, {"seat": lambda: Elicit(text, choices=[text])})

    machine = begin(build("old"), "go")
    play(machine)
    machine = again(machine, {}, toolbox=build("new"))
    assert message(machine, "seat") == "old"
    assert result(again(machine, {"seat": accept(seat="old")})) == "old"


# Steps


def chain(step: Callable[..., Any], *groups: dict[str, Any], then_with: dict[str, Any], **options: Any) -> Toolbox:
    toolbox = Toolbox("t")

    @toolbox.tool(version=options.pop("version", 0))
    def start(kept: str = "kept") -> str:
        return then(step, **then_with)

    for group in reversed(groups):
        step = needs_input(**group)(step)
    toolbox.step(**options)(step)
    return toolbox


def renamed(name: str, *aliases: str) -> Toolbox:
    def pay(price: int, a: str, b: str) -> str:
        return f"{price} {a} {b}"

    return chain(
        pay, {"a": "A?", "b": "B?", "ok": confirm("Pay {price}?")}, then_with={"price": 3}, name=name, aliases=aliases
    )


def test_promise_8_a_step_that_was_renamed_is_found_by_its_alias_with_its_answers_and_open_questions():
    machine = begin(renamed("pay"), "start")
    play(machine)
    play(machine := again(machine, {"a": accept(a="x")}))
    machine = again(machine, {"b": accept(b="y")}, toolbox=renamed("settle", "pay"))
    assert asked(machine) == ["ok"]
    assert machine.progress.step == "settle"
    play(machine := again(machine, {}, toolbox=renamed("finish", "pay", "settle")))
    assert result(again(machine, {"ok": YES})) == "3 x y"


def test_promise_8_pins_compare_under_the_new_name_so_that_an_alias_may_go_one_build_later():
    machine = begin(renamed("pay"), "start")
    play(machine)
    play(machine := again(machine, {"a": accept(a="x"), "b": accept(b="y")}, toolbox=renamed("settle", "pay")))
    assert result(again(machine, {"ok": YES}, toolbox=renamed("settle"))) == "3 x y"


def test_promise_8_a_kept_answer_survives_a_rename_also_when_the_alias_goes_later():
    machine = begin(renamed("pay"), "start")
    play(machine)
    play(machine := again(machine, {"a": accept(a="x")}))
    play(machine := again(machine, {"b": accept(b="y")}, toolbox=renamed("settle", "pay")))
    assert result(again(machine, {"ok": YES}, toolbox=renamed("settle"))) == "3 x y"


def test_promise_8_a_step_that_is_gone_no_longer_fits():
    machine = begin(renamed("pay"), "start")
    play(machine)
    assert refused(machine, {"a": accept(a="x")}, toolbox=renamed("settle")).data == {"reason": "no_longer_fits"}


def step_of(source: str, then_with: dict[str, Any] | None = None, **options: Any) -> Toolbox:
    names: dict[str, Any] = {"Field": Field}
    exec(source, names)
    return chain(names["end"], {"ok": confirm("Go?")}, then_with=then_with or {"price": 3}, **options)


OLD = "def end(price: int) -> str:\n    return f'{price}'"


def under_way(toolbox: Toolbox | None = None) -> Round:
    machine = begin(toolbox or step_of(OLD), "start")
    assert asked(machine) == ["ok"]
    return machine


def test_promise_8_a_new_parameter_takes_its_default():
    new = step_of("def end(price: int, currency: str = 'EUR') -> str:\n    return f'{price} {currency}'")
    assert result(again(under_way(), {"ok": YES}, toolbox=new)) == "3 EUR"


def test_promise_8_a_new_parameter_without_a_default_no_longer_fits():
    new = step_of(
        "def end(price: int, currency: str) -> str:\n    return f'{price} {currency}'", {"price": 3, "currency": ""}
    )
    assert refused(under_way(), {"ok": YES}, toolbox=new).data == {"reason": "no_longer_fits"}


def test_promise_8_a_parameter_that_is_gone_is_not_missed():
    old = step_of("def end(price: int, note: str) -> str:\n    return note", {"price": 3, "note": "n"})
    assert result(again(under_way(old), {"ok": YES}, toolbox=step_of(OLD))) == "3"


def test_promise_8_a_parameter_of_another_type_takes_what_fits():
    new = step_of("def end(price: float) -> str:\n    return f'{price}'")
    assert result(again(under_way(), {"ok": YES}, toolbox=new)) == "3.0"


def test_promise_8_a_parameter_of_another_type_that_does_not_fit_no_longer_fits():
    new = step_of("def end(price: dict[str, int]) -> str:\n    return f'{price}'", {"price": {}})
    assert refused(under_way(), {"ok": YES}, toolbox=new).data == {"reason": "no_longer_fits"}


def test_promise_8_a_handed_on_value_may_become_a_question():
    toolbox = Toolbox("t")

    @toolbox.tool
    def start(kept: str = "kept") -> str:
        return then(end, price=3)

    @toolbox.step
    @needs_input(ok=confirm("Go?"), price="Which price?")
    def end(price: int) -> str:
        return f"{price}"

    assert result(again(under_way(), {"ok": YES}, toolbox=toolbox)) == "3"


def test_promise_8_another_version_of_the_tool_refuses_older_states():
    new = step_of(OLD, version=2)
    assert refused(under_way(), {"ok": YES}, toolbox=new).data == {"reason": "no_longer_fits"}
    assert refused(under_way(new), {"ok": YES}, toolbox=step_of(OLD)).data == {"reason": "no_longer_fits"}
    assert result(again(under_way(new), {"ok": YES}, toolbox=step_of(OLD, version=2))) == "3"


@pytest.mark.parametrize("early", [True, False], ids=["given before", "given in the round of the new build"])
def test_promise_8_a_yes_to_a_text_with_an_answer_that_is_asked_again_is_no_yes(early: bool):
    """Security 1: in another build the amount is asked anew, so the yes to the old amount counts for nothing."""

    def build(wording: str) -> Toolbox:
        def pay(amount: int, name: str) -> str:
            return f"{name} paid {amount}"

        return tool(pay, {"amount": wording}, {"ok": confirm("Pay {amount}?"), "name": "Who?"})

    machine = begin(build("Amount?"), "pay")
    play(machine)
    play(machine := again(machine, {"amount": accept(amount=1)}))
    responses = {"name": accept(name="Ann")}
    if early:
        play(machine := again(machine, {"ok": YES}))
    else:
        responses["ok"] = YES
    machine = again(machine, responses, toolbox=build("Amount in cents?"))
    assert asked(machine) == ["amount-2"]
    machine = again(machine, {"amount-2": accept(amount=900), "ok": YES})
    assert message(machine, "ok-2") == "Pay 900?"
    assert result(again(machine, {"ok-2": YES})) == "Ann paid 900"
