"""`needs_input`, `then`, `AskAgain`, `Refused`: marks that leave the function as it is."""

import functools
import traceback

import pytest
from pydantic import BaseModel

from mrtr_tools import AskAgain, Elicit, Refused, Toolbox, confirm, needs_input, then
from mrtr_tools.marks import groups_of
from mrtr_tools.testing import Player
from tests.refusing import refused


class Flight(BaseModel):
    price: int


toolbox = Toolbox("marks")


@toolbox.step
@needs_input(ok=confirm("Fly for {flight.price}?"), seat="Which seat?")
def purchase(flight: Flight, seat: str, note: str = "", *, tags: list[str] = []) -> str:  # noqa: B006
    return f"{flight.price} {seat} {note} {tags}"


@toolbox.step
def refund(flight: Flight) -> str:
    return f"{flight.price} back"


# needs_input


def test_a_decorated_function_stays_the_very_same_function():
    """Reported as PrefectHQ/fastmcp#1116."""

    def work(name: str, login: str) -> str:
        return f"{name} {login}"

    assert needs_input(login="Who?")(work) is work
    assert Toolbox("a").tool(work) is work
    assert Toolbox("b").tool(name="other")(work) is work
    assert Toolbox("c").step(work) is work
    assert work("a", login="b") == "a b"


@pytest.mark.anyio
async def test_a_decorated_async_function_is_awaited_as_written():
    @Toolbox("async").tool
    @needs_input(login="Who?")
    async def work_async(name: str, login: str) -> str:
        return f"{name} {login}"

    assert await work_async("a", "b") == "a b"


def test_groups_stand_in_the_order_of_reading():
    @needs_input(a="1", b="2")
    @needs_input(c="3")
    def work(a: str, b: str, c: str) -> str: ...

    assert [list(group.inputs) for group in groups_of(work)] == [["a", "b"], ["c"]]


def test_a_mark_on_a_wrapper_or_partial_leaves_the_function_inside_alone():
    @needs_input(a="1")
    def work(a: str, b: str) -> str: ...

    wrapper = functools.wraps(work)(lambda *args, **kwargs: work("", ""))
    partial = functools.partial(work)
    for outer in (wrapper, partial):
        needs_input(b="2")(outer)

        assert [list(group.inputs) for group in groups_of(outer)] == [["b"], ["a"]]
    assert [list(group.inputs) for group in groups_of(work)] == [["a"]]


def test_one_mark_serves_several_functions():
    signed_in = needs_input(login="Who?")
    box = Toolbox("shared")

    @box.tool
    @signed_in
    def one(login: str) -> str:
        return f"one {login}"

    @box.tool
    @signed_in
    def two(login: str) -> str:
        return f"two {login}"

    assert Player(box).play("one", login="ann").text == "one ann"
    assert Player(box).play("two", login="bob").text == "two bob"


def test_a_function_marked_after_it_was_registered_is_refused():
    with refused("purchase", "below @toolbox.tool"):
        needs_input(note="Why?")(purchase)


# then


def test_then_is_equal_by_value():
    flight = Flight(price=3)

    assert then(purchase, flight=flight) == then(purchase, flight=Flight(price=3))
    assert then(purchase, flight=flight) != then(purchase, flight=Flight(price=4))
    assert then(purchase, flight=flight) != then(purchase, flight=flight, seat="1A")
    assert then(refund, flight=flight) != then(purchase, flight=flight)
    assert then(refund, flight=flight) != "refund"


def test_then_is_equal_by_what_was_handed_on_at_that_moment():
    """Promise 9: steps never share objects."""
    tags = ["a"]
    going = then(purchase, flight=Flight(price=3), tags=tags)
    tags.append("b")

    assert going == then(purchase, flight=Flight(price=3), tags=["a"])


def test_then_shows_the_call_it_stands_for_without_what_it_carries():
    """Security: what a step carries may be secret, and a repr ends up in logs."""
    assert repr(then(refund, flight=Flight(price=3))) == "then(refund, flight=...)"


def test_an_input_may_be_handed_on_or_left_out():
    assert then(purchase, flight=Flight(price=3), seat="1A") != then(purchase, flight=Flight(price=3))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, ["purchase", "'flight'", "is missing"]),
        ({"flight": Flight(price=1), "sale": 1}, ["purchase", "no 'sale'", "flight, seat, note, tags"]),
        ({"flight": Flight(price=1), "ok": True}, ["purchase", "no 'ok'"]),
        ({"flight": {"price": 1}}, ["purchase", "'flight'"]),
        ({"flight": None}, ["purchase", "'flight'"]),
        ({"flight": Flight(price=1), "note": 3}, ["purchase", "'note'", "valid string"]),
        ({"flight": Flight(price=1), "note": None}, ["purchase", "'note'"]),
        ({"flight": Flight(price=1), "seat": Refused("decline")}, ["purchase", "'seat'"]),
        ({"flight": Flight(price=1), "tags": ("a",)}, ["purchase", "'tags'", "list"]),
        ({"flight": Flight(price=1), "note": "\ud800"}, ["purchase", "'note'", "surrogate"]),
        ({"flight": type("Sale", (Flight,), {})(price=1)}, ["purchase", "'flight'", "Sale", "Flight"]),
    ],
)
def test_what_does_not_fit_is_a_type_error_at_the_line_of_the_then(values, words):
    with pytest.raises(TypeError) as caught:
        then(purchase, **values)

    text = str(caught.value)
    assert [word for word in words if word not in text] == [], text
    assert __file__ in {frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)}


@pytest.mark.parametrize(
    "target", [print, len, lambda: 3, 3, None, "purchase", toolbox, Flight, functools.partial(purchase)]
)
def test_then_goes_nowhere_but_to_a_step(target):
    with pytest.raises(TypeError, match=r"@toolbox\.step"):
        then(target)


def test_then_does_not_go_to_a_tool():
    @toolbox.tool
    def entry() -> str: ...

    with pytest.raises(TypeError, match=r"entry is none; move what both do into an @toolbox\.step"):
        then(entry)


def test_a_step_takes_any_name_from_then():
    @toolbox.step
    def odd(step: int, name: int, values: int, function: int) -> str: ...

    assert repr(then(odd, step=1, name=2, values=3, function=4)).endswith(
        "odd, step=..., name=..., values=..., function=...)"
    )


def test_then_to_a_step_of_another_toolbox_is_an_error_while_a_tool_runs():
    other = Toolbox("other")

    @other.tool
    def start() -> str:
        try:
            return then(refund, flight=Flight(price=3))
        except TypeError as error:
            return str(error)

    assert "step of this toolbox" in Player(other).play("start").text


def test_a_function_that_is_a_tool_and_a_step_is_a_target_of_then():
    box = Toolbox("both")

    @box.tool(name="ask_again")
    @box.step
    def again(n: int = 0) -> str:
        return then(again, n=n + 1) if n < 2 else f"{n}"

    assert Player(box).play("ask_again").text == "2"


# AskAgain, Refused


@pytest.mark.parametrize("reasons", [{}, {"date": ""}, {"date": 3}, {"date": None}])
def test_ask_again_takes_a_reason_for_each_input(reasons):
    with pytest.raises(TypeError, match="takes a reason for each input"):
        AskAgain(**reasons)


def test_ask_again_keeps_its_reasons_as_they_are_written():
    again = AskAgain(date="{Full}", reasons="x")

    assert again.reasons == {"date": "{Full}", "reasons": "x"}
    assert isinstance(again, Exception)


def test_refused_is_falsy_and_equal_by_value():
    assert not Refused("decline")
    assert Refused("decline") == Refused("decline") != Refused("cancel")
    assert {Refused("cancel")} == {Refused("cancel")}


def test_questions_are_values():
    assert confirm("Sure?") == confirm("Sure?") != confirm("Really?")
    assert Elicit("Which?", choices=["a"]) == Elicit("Which?", choices=["a"]) != Elicit("Which?")
