"""Arguments and defaults stay what was shown, also in another build. Promise 8, Security 2."""

import os
import subprocess
import sys
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field

from mrtr_tools import Toolbox, confirm, needs_input, then
from mrtr_tools.events import NeedInput
from mrtr_tools.rounds import Round
from tests.rounds_by_hand import again, asked, begin, message, play, refused, result, tool
from tests.wire_by_hand import YES, accept

# Arguments


def ordered(source: str) -> Toolbox:
    names: dict[str, Any] = {"Cents": Annotated[int, AfterValidator(lambda euros: euros * 100)]}
    exec(source, names)
    toolbox = Toolbox("t")
    toolbox.tool(needs_input(price=lambda: 3)(needs_input(ok=confirm("Go?"))(names["order"])))
    return toolbox


FIRST = "def order(item: str, count: int, price: int) -> str:\n    return f'{item} {count}'"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            "def order(*, gift: int = 0, item: str, count: int, price: int):\n    return f'{item} {count} {gift}'",
            "tea 2 0",
        ),
        (
            "def order(item: str, count: int, price: int, gift: int = 0):\n    return f'{item} {count} {gift}'",
            "tea 2 0",
        ),
        ("def order(count: int, price: int, item: str) -> str:\n    return f'{item} {count}'", "tea 2"),
        ("def order(item: str, count: int, price: int) -> str:\n    return f'{count} {item}'", "2 tea"),
    ],
    ids=["new in front", "new at the end", "in another order", "another body"],
)
def test_promise_8_arguments_that_mean_the_same_still_fit(source: str, text: str):
    machine = begin(ordered(FIRST), "order", {"item": "tea", "count": 2})
    play(machine)
    assert result(again(machine, {"ok": YES}, toolbox=ordered(source))) == text


@pytest.mark.parametrize(
    "source",
    [
        "def order(item: str, count: str, price: int) -> str:\n    return f'{item} {count}'",
        "def order(item: str, count: int, price: int, where: str) -> str:\n    return f'{item} {count}'",
        "def order(item: str, count: Cents, price: int) -> str:\n    return f'{item} {count}'",
    ],
    ids=["another type", "one more that is required", "cents instead of euros"],
)
def test_arguments_that_mean_something_else_no_longer_fit(source: str):
    """Security 2: the approval was for what they meant."""
    machine = begin(ordered(FIRST), "order", {"item": "tea", "count": 2})
    play(machine)
    assert refused(machine, {"ok": YES}, toolbox=ordered(source)).data == {"reason": "no_longer_fits"}


def priced(currency: str) -> Toolbox:
    def pay(amount: int, currency: str = currency) -> str:
        return f"{amount} {currency}"

    return tool(pay, {"ok": confirm("Pay {amount} {currency}?")})


def test_a_default_that_another_build_changed_stays_what_was_shown():
    """Security 2."""
    machine = begin(priced("USD"), "pay", {"amount": 5})
    assert message(machine, "ok") == "Pay 5 USD?"
    machine = again(machine, {}, toolbox=priced("EUR"))
    assert message(machine, "ok") == "Pay 5 USD?"
    assert result(again(machine, {"ok": YES}, toolbox=priced("GBP"))) == "5 USD"


def test_an_argument_that_was_sent_with_the_value_of_the_default_stays_as_sent():
    machine = begin(priced("USD"), "pay", {"amount": 5, "currency": "USD"})
    play(machine)
    assert machine.progress.defaults == {}
    assert result(again(machine, {"ok": YES}, toolbox=priced("EUR"))) == "5 USD"


def test_the_default_of_a_new_argument_is_kept_from_the_round_that_took_it():
    days = iter(range(1, 100))

    def build(new: bool) -> Toolbox:
        def old_go(a: str) -> str:
            return a

        def new_go(a: str, day: int = Field(default_factory=lambda: next(days))) -> str:
            return f"day {day}"

        old_go.__name__ = new_go.__name__ = "go"
        return tool(new_go, {"a": "A?"}, {"ok": confirm("Book day {day}?")}) if new else tool(old_go, {"a": "A?"})

    machine = begin(build(new=False), "go")
    play(machine)
    later = build(new=True)
    machine = again(machine, {"a": accept(a="x")}, toolbox=later)
    shown = message(machine, "ok")
    assert shown == f"Book {result(again(machine, {'ok': YES}))}?"


def test_defaults_of_a_restarted_call_are_taken_anew():
    machine = begin(priced("USD"), "pay", {"amount": 5})
    play(machine)
    asked = message(again(machine, {"ok": YES}, toolbox=priced("EUR"), expired=True), "ok-2")
    assert asked == "This was open for too long; please answer again.\nPay 5 EUR?"


def test_promise_8_a_default_that_no_longer_fits_its_parameter_no_longer_fits():
    def build(annotation: Any, default: Any) -> Toolbox:
        def go(x):
            return str(x)

        go.__annotations__ = {"x": annotation, "return": str}
        go.__defaults__ = (default,)
        return tool(go, {"ok": confirm("Go?")})

    machine = begin(build(str, "a"), "go")
    play(machine)
    late = again(machine, {"ok": YES}, toolbox=build(int, 1))
    assert asked(late) == ["ok-2"]
    machine.progress.ran = True
    assert refused(machine, {"ok": YES}, toolbox=build(int, 1)).data == {"reason": "no_longer_fits"}


SETS = """
from mrtr_tools import Toolbox, confirm, needs_input
from tests.rounds_by_hand import begin
toolbox = Toolbox("t")
@toolbox.tool
@needs_input(ok=confirm("Go?"))
def go(tags: set[str], more: dict[str, frozenset[str]]) -> str:
    return "went"
arguments = {"tags": ["a", "b", "c", "d", "e"], "more": {"x": ["f", "g", "h", "i"]}}
print(begin(toolbox, "go", arguments).progress.given)
"""


def test_promise_8_a_set_among_the_arguments_is_the_same_on_every_machine():
    digests = {
        subprocess.run(
            [sys.executable, "-c", SETS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(digests) == 1


class Tag(BaseModel, frozen=True):
    """What a set may hold, though JSON has no sets and its own dict cannot be in one."""

    name: str


def test_a_set_of_models_is_an_argument_like_any_other():
    def go(tags: set[Tag]) -> int:
        return len(tags)

    machine = begin(tool(go, {"ok": confirm("Go?")}), "go", {"tags": [{"name": "a"}, {"name": "b"}]})
    assert asked(machine) == ["ok"]
    assert result(again(machine, {"ok": YES})) == 2


@pytest.mark.parametrize(("first", "second"), [({"x": 1}, {"x": 1.0}), ({"x": 2}, {"x": 2, "unknown": 3})], ids=str)
def test_arguments_that_a_client_writes_in_another_way_still_fit(first: dict[str, Any], second: dict[str, Any]):
    def go(x: float) -> str:
        return f"{x}"

    toolbox = tool(go, {"ok": confirm("Go?")})
    machine = begin(toolbox, "go", first)
    play(machine)
    machine.progress.ran = True
    other = Round(toolbox, begin(toolbox, "go", second, responses={"ok": YES}).call, machine.progress)
    assert result(other) == f"{float(first['x'])}"


# What goes wrong while arguments are read


def test_a_default_factory_that_fails_ends_the_call_as_unexpected():
    def boom() -> int:
        raise RuntimeError("database is down")

    def go(x: int = Field(default_factory=boom)) -> str:
        return str(x)

    event = play(begin(tool(go), "go"))
    assert not isinstance(event, NeedInput)
    assert event.reply.value == "The tool failed unexpectedly."
    assert isinstance(event.cause, RuntimeError)


def test_a_default_factory_whose_value_cannot_be_kept_ends_the_call_as_unexpected():
    def go(x: float = Field(default_factory=lambda: float("nan"))) -> str:
        return str(x)

    event = play(begin(tool(go, {"ok": confirm("Go?")}), "go"))
    assert not isinstance(event, NeedInput)
    assert event.reply.is_error
    assert isinstance(event.cause, TypeError)


# What was handed on unchanged, or left out


def spending(currency: str, *, of_step: str = "", argument: str = "currency") -> Toolbox:
    toolbox = Toolbox("t")
    source = f"""
def start({argument}: str = {currency!r}, amount: int = 1) -> str:
    return then(end, currency={argument})
def end(currency: str, note: str = {of_step!r}) -> str:
    return f"{{currency}} {{note}}"
"""
    names: dict[str, Any] = {"then": then}
    exec(source, names)
    toolbox.tool(names["start"])
    names["end"] = toolbox.step(needs_input(ok=confirm("{currency} {note}?"))(names["end"]))
    return toolbox


def test_a_default_that_was_handed_on_unchanged_stays_what_was_shown():
    """Security 2."""
    machine = begin(spending("USD"), "start")
    play(machine)
    assert machine.progress.same == ["currency"]
    assert result(again(machine, {"ok": YES}, toolbox=spending("EUR"))) == "USD "


def test_a_default_of_a_step_that_another_build_changed_stays_what_was_shown():
    """Security 2."""
    machine = begin(spending("USD", of_step="cheap"), "start")
    assert message(machine, "ok") == "USD cheap?"
    assert result(again(machine, {"ok": YES}, toolbox=spending("USD", of_step="dear"))) == "USD cheap"


@pytest.mark.parametrize("arguments", [{}, {"currency": "USD"}], ids=["a default", "an argument"])
def test_promise_8_a_value_that_was_handed_on_as_an_argument_that_is_gone_no_longer_fits(arguments: dict[str, Any]):
    machine = begin(spending("USD"), "start", arguments)
    play(machine)
    error = refused(machine, {"ok": YES}, toolbox=spending("USD", argument="money"))
    assert error.data == {"reason": "no_longer_fits"}
