"""Attacks with what somebody was shown: a yes to another text, values that were never shown, values in logs."""

import logging
from collections.abc import Callable
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field, field_validator

from mrtr_tools import AskAgain, Refused, Toolbox, confirm, needs_input, then
from mrtr_tools.input_requests import Source
from tests.attacker import Clock, Server, message
from tests.wire_by_hand import YES, accept

Case = tuple[list[Server], Callable[[], Server]]
"""The builds that ask, one after the other, and the build that gets the answer."""

FIVE = {"price": 5}
SECRET = "s3cret"
NAME = accept(name="Ann")


# Security 1: what a text names is read anew in each round, and a yes is to the text that was shown


def with_tip(tip: int) -> Toolbox:
    toolbox = Toolbox("shop")

    @toolbox.tool
    @needs_input(tip="How much tip?", only_if=lambda price: price > 100)
    @needs_input(ok=confirm("Pay {price} and {tip}?"), name="Who?")
    def pay(price: int, name: str, tip: int = tip) -> str:
        return f"{name} paid {price} and {tip}"

    return toolbox


def skipped() -> Case:
    return [Server(with_tip(10))], lambda: Server(with_tip(900))


tips = {"now": 10}


class Asked(BaseModel):
    """Reads what is true now."""

    price: int

    @property
    def tip(self) -> int:
        return tips["now"]


class Filled(BaseModel):
    """Travels without its tip, and gets another one where it arrives."""

    price: int
    tip: int = Field(default_factory=lambda: tips["now"], exclude=True)


def with_bill(kind: type[Asked] | type[Filled]) -> Toolbox:
    toolbox = Toolbox("shop")

    @toolbox.tool(name="pay")
    def start(price: int) -> str:
        return then(settle, bill=kind(price=price))

    def settle(bill, name):
        return f"{name} paid {bill.price} and {bill.tip}"

    settle.__annotations__ = {"bill": kind, "name": str, "return": str}
    toolbox.step(needs_input(ok=confirm("Pay {bill.price} and {bill.tip}?"), name="Who?")(settle))
    return toolbox


def live(kind: type[Asked] | type[Filled]) -> Case:
    def later() -> Server:
        tips["now"] = 900
        return Server(with_bill(kind))

    tips["now"] = 10
    return [Server(with_bill(kind))], later


def with_parameter(tip: int | None) -> Toolbox:
    toolbox = Toolbox("shop")

    def settle(price: int, name: str, tip: int = tip or 0) -> str:
        return f"{name} paid {price} and {tip}"

    def settle_without(price: int, name: str) -> str:
        return f"{name} paid {price}"

    target, text = (settle_without, "Pay {price}?") if tip is None else (settle, "Pay {price} and {tip}?")
    toolbox.step(name="settle")(needs_input(ok=confirm(text), name="Who?")(target))

    @toolbox.tool(name="pay")
    def start(price: int) -> str:
        return then(target, price=price)

    return toolbox


def new_parameter() -> Case:
    return [Server(with_parameter(None)), Server(with_parameter(10))], lambda: Server(with_parameter(900))


CASES = {
    "a skipped input's default": skipped,
    "a property": lambda: live(Asked),
    "a field that does not travel": lambda: live(Filled),
    "a new parameter's default": new_parameter,
}


@pytest.mark.parametrize("answered", [False, True], ids=["while it is open", "after it was answered"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_yes_counts_for_the_text_that_was_shown_and_for_no_other(case: Callable[[], Case], answered: bool) -> None:
    """Security 1, 3: where the text is another by now, the yes was to something else."""
    builds, later = case()
    asked = builds[0].ask("pay", FIVE)
    for build in builds[1:]:
        asked = build.ask("pay", FIVE, state=asked.state)
    key = next(key for key in asked.requests if key != "name")
    assert message(asked, key) == "Pay 5 and 10?"
    responses = {key: YES}
    if answered:
        asked = builds[-1].ask("pay", FIVE, state=asked.state, **responses)
        assert list(asked.requests) == ["name"]
        responses = {}

    server = later()
    again = server.ask("pay", FIVE, state=asked.state, name=NAME, **responses)

    (other,) = again.requests
    assert (other != key, message(again, other), server.ran) == (True, "Pay 5 and 900?", [])
    assert list(server.ask("pay", FIVE, state=again.state, **{key: YES}).requests) == [other]
    assert server.end("pay", FIVE, state=again.state, **{other: YES}).value == "Ann paid 5 and 900"


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_yes_to_a_text_that_is_still_the_same_counts(case: Callable[[], Case]) -> None:
    """Security 1: nobody is asked twice for nothing."""
    builds, _ = case()
    asked = builds[0].ask("pay", FIVE)
    for build in builds[1:]:
        asked = build.ask("pay", FIVE, state=asked.state)
    key = next(key for key in asked.requests if key != "name")

    asked = builds[-1].ask("pay", FIVE, state=asked.state, **{key: YES})

    assert builds[-1].end("pay", FIVE, state=asked.state, name=NAME).value == "Ann paid 5 and 10"


def asked_by_a_function(tip: int) -> Toolbox:
    toolbox = Toolbox("shop")

    def sure(tip: int) -> Source:
        return confirm(f"Pay 5 and {tip}?")

    @toolbox.tool
    @needs_input(tip="How much tip?", only_if=lambda price: price > 100)
    @needs_input(ok=sure, name="Who?")
    def pay(price: int, name: str, ok: bool | Refused, tip: int = tip) -> str:
        return f"{name} paid {price} and {tip}"

    return toolbox


@pytest.mark.parametrize("answered", [False, True], ids=["while it is open", "after it was answered"])
def test_a_yes_to_a_question_that_a_function_made_of_other_values_is_no_yes(answered: bool) -> None:
    """Security 1: what a function made stands for what it was given."""
    old, server = Server(asked_by_a_function(10)), Server(asked_by_a_function(900))
    asked = old.ask("pay", FIVE)
    responses = {"ok": YES}
    if answered:
        asked, responses = old.ask("pay", FIVE, state=asked.state, **responses), {}

    again = server.ask("pay", FIVE, state=asked.state, name=NAME, **responses)

    assert message(again, "ok-2") == "Pay 5 and 900?"
    assert list(server.ask("pay", FIVE, state=again.state, ok=YES).requests) == ["ok-2"]
    assert server.end("pay", FIVE, state=again.state, **{"ok-2": YES}).value == "Ann paid 5 and 900"


def with_price(made: Callable[[], int]) -> Toolbox:
    toolbox = Toolbox("shop")

    @toolbox.tool
    @needs_input(price=made)
    @needs_input(ok=confirm("Buy it?"))
    def buy(price: int) -> str:
        return f"bought for {price}"

    return toolbox


def cheap() -> int:
    return 5


def dear() -> int:
    return 900


def test_a_value_that_another_function_made_is_made_again_and_the_yes_below_it_given_again() -> None:
    """Security 1: the next build gets its price elsewhere."""
    asked = Server(with_price(cheap)).ask("buy")
    server = Server(with_price(dear))

    again = server.ask("buy", state=asked.state, ok=YES)

    assert (list(again.requests), server.ran) == (["ok-2"], ["price"])
    assert server.end("buy", state=again.state, **{"ok-2": YES}).value == "bought for 900"


def test_a_value_that_the_same_function_made_is_kept() -> None:
    """Security 1: made once, as long as it is made in the same way."""
    asked = Server(with_price(cheap)).ask("buy")
    server = Server(with_price(cheap))

    assert server.end("buy", state=asked.state, ok=YES).value == "bought for 5"
    assert server.ran == ["buy"]


@pytest.mark.parametrize("day", ["mon", "tue"], ids=["the same answer", "another"])
def test_what_was_made_of_an_answer_that_is_asked_again_is_made_again(day: str) -> None:
    """Security 1: what was found for the old answer is no longer what the person thinks of, not even for the same."""
    toolbox = Toolbox("fares")
    fares = iter([100, 120])

    def fare(day: str) -> int:
        return next(fares)

    @toolbox.tool
    @needs_input(day="Which day?")
    @needs_input(fare=fare)
    @needs_input(ok=confirm("Fly for {fare}?"))
    def fly(day: str, fare: int) -> str:
        if fare == 100:
            raise AskAgain(day="That fare has gone.")
        return f"{day} for {fare}"

    server = Server(toolbox)
    asked = server.ask("fly")
    asked = server.ask("fly", state=asked.state, day=accept(day="mon"))
    again = server.ask("fly", state=asked.state, ok=YES)

    sure = server.ask("fly", state=again.state, **{"day-2": accept(day=day)})

    assert message(sure, "ok-2") == "Fly for 120?"
    assert server.ran == ["fare", "fly", "fare"]
    assert server.end("fly", state=sure.state, **{"ok-2": YES}).value == f"{day} for 120"


@pytest.mark.parametrize("early", [True, False], ids=["given before", "given with the new day"])
def test_a_yes_below_an_answer_that_is_asked_again_is_given_again(early: bool) -> None:
    """Security 1: whoever said yes had the old day in mind, although the text does not name it."""
    toolbox = Toolbox("table")

    @toolbox.tool
    @needs_input(day="Which day?")
    @needs_input(ok=confirm("Book it?"))
    def book(day: str) -> str:
        if day == "mon":
            raise AskAgain(day="mon is full")
        return day

    server = Server(toolbox)
    asked = server.ask("book")
    asked = server.ask("book", state=asked.state, day=accept(day="mon"))
    again = server.ask("book", state=asked.state, ok=YES)
    assert list(again.requests) == ["day-2"]
    answers = {"day-2": accept(day="tue")} | ({"ok": YES} if early else {"ok-2": YES})

    last = server.ask("book", state=again.state, **answers)

    assert list(last.requests) == ["ok-2"]
    assert server.end("book", state=last.state, **{"ok-2": YES}).value == "tue"


@needs_input(sure=confirm("Book it?"))
def agreed() -> str:
    return "agreed"


@pytest.mark.parametrize("made", [lambda: confirm("Book it?"), agreed], ids=["by a function", "inside a function"])
def test_a_yes_that_a_function_asks_for_is_given_again_as_well(made: Callable[[], Any]) -> None:
    """Security 1: below a day that is asked again."""
    toolbox = Toolbox("table")

    @toolbox.tool
    @needs_input(day="Which day?")
    @needs_input(ok=made)
    def book(day: str, ok: bool | str | Refused) -> str:
        if day == "mon":
            raise AskAgain(day="mon is full")
        return day

    server = Server(toolbox)
    asked = server.ask("book")
    asked = server.ask("book", state=asked.state, day=accept(day="mon"))
    (key,) = asked.requests
    yes = accept(**{key.rpartition(".")[2]: True})
    again = server.ask("book", state=asked.state, **{key: yes})
    assert list(again.requests) == ["day-2"]

    last = server.ask("book", state=again.state, **{"day-2": accept(day="tue"), key: yes})

    assert list(last.requests) == [f"{key}-2"]
    assert server.end("book", state=last.state, **{f"{key}-2": yes}).value == "tue"


def test_a_yes_is_given_again_where_another_build_asks_something_above_it() -> None:
    """Security 1: the yes was given without that answer."""

    def build(*, amount: bool) -> Toolbox:
        toolbox = Toolbox("shop")

        def pay(name: str, amount: int = 5) -> str:
            return f"{name} paid {amount}"

        needs_input(ok=confirm("Pay?"), name="Who?")(pay)
        toolbox.tool(needs_input(amount="How much?")(pay) if amount else pay)
        return toolbox

    old, server = Server(build(amount=False)), Server(build(amount=True))
    asked = old.ask("pay")
    asked = old.ask("pay", state=asked.state, ok=YES)

    again = server.ask("pay", state=asked.state, name=NAME)
    assert list(again.requests) == ["amount"]
    last = server.ask("pay", state=again.state, amount=accept(amount=900), ok=YES)

    assert list(last.requests) == ["ok-2"]
    assert server.end("pay", state=last.state, **{"ok-2": YES}).value == "Ann paid 900"


# Security 3: the key of a question that is withdrawn is used up


def gate(text: str | None = "Open?", version: int = 0) -> Toolbox:
    toolbox = Toolbox("gate")

    def enter(name: str) -> str:
        return f"{name} is in"

    groups: dict[str, Any] = {"name": "Who?"} | ({} if text is None else {"ok": confirm(text)})
    toolbox.tool(version=version)(needs_input(**groups)(enter))
    return toolbox


def late() -> tuple[Server, Server]:
    clock = Clock()
    server = Server(gate(), clock=clock, ttl=600)
    return server, Server(gate(), clock=Clock(clock.now + 700), ttl=600)


BEGINS_ANEW = {
    "it expired": late,
    "it no longer fits": lambda: (Server(gate()), Server(gate(version=1))),
    "it was reworded": lambda: (Server(gate()), Server(gate("Open the gate?"))),
}


@pytest.mark.parametrize("servers", BEGINS_ANEW.values(), ids=BEGINS_ANEW)
def test_an_answer_to_a_key_of_before_counts_for_nothing_afterwards(
    servers: Callable[[], tuple[Server, Server]],
) -> None:
    """Security 3, 8: neither at once, nor when it is sent again."""
    old, new = servers()
    asked = old.ask("enter")

    again = new.ask("enter", state=asked.state, ok=YES)
    assert "ok-2" in again.requests
    last = new.ask("enter", state=again.state, ok=YES, name=NAME, **{"name-2": NAME})

    assert list(last.requests) == ["ok-2"]
    assert new.end("enter", state=last.state, **{"ok-2": YES}).value == "Ann is in"


def test_a_question_that_was_taken_back_comes_under_another_key() -> None:
    """Security 3: one build does not have it; the yes that was on its way is to what stood there before."""
    asked = Server(gate()).ask("enter")
    without = Server(gate(None)).ask("enter", state=asked.state)
    assert list(without.requests) == ["name"]
    server = Server(gate("Open the other gate?"))

    again = server.ask("enter", state=without.state, ok=YES, name=NAME)

    assert (list(again.requests), server.ran) == (["ok-2"], [])


def test_a_question_that_is_open_when_the_call_goes_on_lends_its_key_to_no_other() -> None:
    """Security 3: nobody needs to be asked about the first file any more, and a yes to it may be on its way."""
    toolbox, precious = Toolbox("files"), {"a", "b"}

    @toolbox.tool
    def clean() -> str:
        return then(delete, path="a")

    @toolbox.step
    @needs_input(ok=confirm("Delete it?"), only_if=lambda path: path in precious)
    def delete(path: str, ok: bool | Refused = True) -> str:
        return then(delete, path="b") if path == "a" else "clean"

    server = Server(toolbox)
    asked = server.ask("clean")
    assert list(asked.requests) == ["ok"]
    precious.remove("a")

    second = server.ask("clean", state=asked.state)

    assert (list(second.requests), server.ran) == (["ok-2"], ["clean", "delete"])
    assert list(server.ask("clean", state=second.state, ok=YES).requests) == ["ok-2"]


# Security 7: a state is for the step it names, as a step


def test_a_state_whose_step_became_a_tool_no_longer_fits() -> None:
    """Security 7: nobody handed anything on to that tool, and its arguments are not what was handed on."""

    def build(*, as_tool: bool) -> Toolbox:
        toolbox = Toolbox("shop")

        def pay(price: int = 5) -> str:
            return f"paid {price}"

        needs_input(ok=confirm("Pay?"))(pay)
        (toolbox.tool if as_tool else toolbox.step)(pay)

        @toolbox.step
        def leave() -> str:
            return "left"

        @toolbox.tool
        def order() -> str:
            return then(leave) if as_tool else then(pay, price=900)

        return toolbox

    asked = Server(build(as_tool=False)).ask("order")

    refused = Server(build(as_tool=True)).refuse("order", state=asked.state, ok=YES)

    assert refused.data == {"reason": "no_longer_fits"}


# Promise 10: a then that stands in a result goes nowhere


@pytest.mark.parametrize(
    "wrap",
    [
        lambda going: [going],
        lambda going: {"next": going},
        lambda going: {"steps": [{"next": (going,)}]},
        lambda going: [[], [[going]]],
    ],
)
@pytest.mark.parametrize("annotation", [list, dict, object, Any], ids=["list", "dict", "object", "anything"])
def test_a_then_that_was_made_before_and_is_hidden_in_a_result_is_an_error(
    annotation: Any, wrap: Callable[[object], object]
) -> None:
    """Promise 10: no function that runs has made it, and an untyped result would show what it hands on."""
    toolbox = Toolbox("t")

    @toolbox.step
    def last(pin: str) -> str:
        return "done"

    made = then(last, pin=SECRET)

    def go():
        return wrap(made)

    go.__annotations__ = {"return": annotation}
    toolbox.tool(go)

    done = Server(toolbox).end("go")

    assert (done.value, done.is_error) == ("The tool failed unexpectedly.", True)


# Security 23: what was answered or handed on stands in no log, however it goes wrong


class Bill(BaseModel):
    """Takes a number, and says nothing of what it got instead."""

    price: int


class Guest(BaseModel):
    """Its validator refuses everybody."""

    name: str

    @field_validator("name")
    @classmethod
    def nobody(cls, name: str) -> str:
        raise ValueError("nobody may come")


def ending(annotation: Any, made: Callable[[str], object]) -> Toolbox:
    """A tool that is annotated to return something, and returns something else, made of its answer."""
    toolbox = Toolbox("t")

    def go(pin):
        return made(pin)

    go.__annotations__ = {"pin": str, "return": annotation}
    toolbox.tool(needs_input(pin="Which PIN?")(go))
    return toolbox


def handing(annotation: Any, made: Callable[[str], object]) -> Toolbox:
    """A tool that hands on what does not fit."""
    toolbox = Toolbox("t")

    def last(value):
        return ""

    last.__annotations__ = {"value": annotation, "return": str}
    toolbox.step(last)

    @toolbox.tool
    @needs_input(pin="Which PIN?")
    def go(pin: str) -> str:
        return then(last, value=made(pin))

    return toolbox


def making(annotation: Any, made: Callable[[str], object]) -> Toolbox:
    """A tool whose input is made by a function that gives what does not fit."""
    toolbox = Toolbox("t")

    def value(pin: str) -> object:
        return made(pin)

    def go(pin, value):
        return ""

    go.__annotations__ = {"pin": str, "value": annotation, "return": str}
    toolbox.tool(needs_input(pin="Which PIN?")(needs_input(value=value)(go)))
    return toolbox


def changed(pin: str) -> Bill:
    """A bill that was right when it was made."""
    bill = Bill(price=1)
    bill.price = pin  # type: ignore[assignment]
    return bill


MISFITS = [
    (Bill, changed),
    (dict[str, int], lambda pin: {pin: "x"}),
    (dict[str, float], lambda pin: {pin: float("nan")}),
    (int, lambda pin: pin),
    (Bill, lambda pin: {"price": pin}),
    (list[Bill], lambda pin: [{"price": 1}, {"price": pin}]),
    (Literal["a", "b"], lambda pin: pin),
    (dict[str, float], lambda pin: {"price": pin}),
]


@pytest.mark.parametrize(
    ("annotation", "made"), MISFITS, ids=["changed", "key", "no number", "int", "model", "list", "choice", "dict"]
)
@pytest.mark.parametrize("build", [ending, handing, making], ids=["result", "then", "input function"])
def test_a_value_that_does_not_fit_is_not_shown_in_the_log(
    build: Callable[..., Toolbox], annotation: Any, made: Callable[[str], object], caplog
) -> None:
    """Security 23: pydantic's errors quote what they are about, also as the cause of another error."""
    caplog.set_level(logging.DEBUG)
    server = Server(build(annotation, made))
    asked = server.ask("go")

    done = server.end("go", state=asked.state, pin=accept(pin=SECRET))

    assert (done.value, done.is_error) == ("The tool failed unexpectedly.", True)
    assert "go failed" in caplog.text
    assert "Traceback" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize("answer", [accept(guest=SECRET), accept(name=SECRET), {"action": SECRET}])
def test_an_answer_that_does_not_fit_its_form_is_not_shown_in_the_log(answer: dict[str, Any], caplog) -> None:
    """Security 23: neither while it is asked again, nor when the call gives up."""
    caplog.set_level(logging.DEBUG)
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(guest="Who comes?")
    def invite(guest: Guest | Refused) -> str:
        return ""

    server = Server(toolbox)
    asked = server.ask("invite")
    for _ in range(3):
        asked = server.ask("invite", state=asked.state, guest=answer)
    done = server.end("invite", state=asked.state, guest=answer)

    assert done.is_error
    assert SECRET not in caplog.text
    assert SECRET not in str(done.value)
