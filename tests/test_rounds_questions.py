"""What is asked, and that an answer counts only for what was shown. Promise 4, Security 1."""

from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from mrtr_tools import Elicit, Refused, Toolbox, confirm, needs_input
from mrtr_tools.events import NeedInput
from tests.rounds_by_hand import again, asked, begin, crash, failure, message, play, result
from tests.wire_by_hand import CANCEL, DECLINE, NO, YES, YES_OR_NO, accept, form

# Fixed questions


def greeting(source: Any, annotation: Any = str) -> Toolbox:
    toolbox = Toolbox("t")

    def greet(name):
        return f"Hello {name}"

    greet.__annotations__ = {"name": annotation, "return": str}
    toolbox.tool(needs_input(name=source)(greet))
    return toolbox


OTHER_BUILDS = {
    "reworded": greeting("Which name?"),
    "of another type": greeting("Who?", int),
    "with choices": greeting("Who?", Literal["Ann", "Bob"]),
    "optional": greeting("Who?", str | None),
    "a confirm": greeting(confirm("Who?"), bool | Refused),
    "with a title": greeting("Who?", Annotated[str, Field(title="Name")]),
    "made by a function": greeting(lambda: Elicit("Who?")),
}


@pytest.mark.parametrize("build", OTHER_BUILDS.values(), ids=list(OTHER_BUILDS))
@pytest.mark.parametrize("response", [accept(name="Ann"), DECLINE, CANCEL, accept(name=7)], ids=str)
def test_promise_4_a_question_that_changed_while_it_was_open_is_asked_again(build: Toolbox, response: Any):
    """Security 1."""
    machine = begin(greeting("Who?"), "greet")
    play(machine)
    machine = again(machine, {"name": response}, toolbox=build)
    assert asked(machine) == ["name-2"]  # an answer to the old question, sent again, is none to this one
    assert machine.progress.misfits == {}


def test_promise_4_a_question_that_stands_takes_its_answer_from_another_build():
    machine = begin(greeting("Who?"), "greet")
    play(machine)
    assert result(again(machine, {"name": accept(name="Ann")}, toolbox=greeting("Who?"))) == "Hello Ann"


def test_promise_4_a_template_is_pinned_by_its_text_not_by_what_fills_it():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(name="Who flies?")
    @needs_input(seat="Which seat for {name}?")
    def fly(name: str, seat: str) -> str:
        return name + seat

    machine = begin(toolbox, "fly")
    play(machine)
    machine = again(machine, {"name": accept(name="Ann")})
    assert message(machine, "seat") == "Which seat for Ann?"
    assert result(again(machine, {"seat": accept(seat="1A")})) == "Ann1A"


def test_promise_4_a_later_question_cannot_be_answered_before_it_is_asked():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(name="Who flies?")
    @needs_input(ok=confirm("Fly {name}?"))
    def fly(name: str) -> str:
        return name

    machine = begin(toolbox, "fly", responses={"name": accept(name="Eve"), "ok": YES})
    assert asked(machine) == ["name"]
    machine = again(machine, {"name": accept(name="Ann"), "ok": YES})
    assert play(machine) == NeedInput({"ok": form("Fly Ann?", ok=YES_OR_NO)})


# Questions that a function makes


def selling(prices: list[int], ran: list[str]) -> Toolbox:
    toolbox = Toolbox("t")

    def quote() -> int:
        ran.append("quote")
        return prices[-1]

    def live() -> object:
        ran.append("live")
        return confirm(f"Pay {prices[-1]} now?")

    @toolbox.tool
    @needs_input(price=quote)
    @needs_input(ok=confirm("Pay {price}?"))
    def pay_quoted(price: int) -> str:
        return f"charged {price}"

    @toolbox.tool
    @needs_input(ok=live)
    def pay_live(ok: bool | Refused) -> str:
        return f"charged {prices[-1]} {ok}"

    return toolbox


def test_promise_4_the_price_that_was_shown_is_charged():
    """Security 1: the price moves between question and answer."""
    prices, ran = [100], []
    machine = begin(selling(prices, ran), "pay_quoted")
    assert message(machine, "ok") == "Pay 100?"
    prices.append(900)
    assert result(again(machine, {"ok": YES})) == "charged 100"
    assert ran == ["quote"]


def test_promise_4_a_question_of_a_function_is_kept_as_sent_and_nothing_is_rebuilt():
    prices, ran = [100], []
    machine = begin(selling(prices, ran), "pay_live")
    first = play(machine)
    assert first == NeedInput({"ok": form("Pay 100 now?", ok=YES_OR_NO)})
    prices.append(900)
    machine = again(machine, {})
    assert play(machine) == first
    machine = again(machine, {"ok": accept(ok="true")})
    assert play(machine) == NeedInput({"ok": form("Please answer ok with yes or no.\nPay 100 now?", ok=YES_OR_NO)})
    result(again(machine, {"ok": YES}))
    assert ran == ["live"]


@pytest.mark.parametrize("response", [NO, DECLINE], ids=["false", "declined"])
def test_promise_4_a_confirm_of_a_function_is_a_confirm(response: Any):
    machine = begin(selling([1], []), "pay_live")
    play(machine)
    assert result(again(machine, {"ok": response})) == "charged 1 Refused(action='decline')"


def test_promise_4_choices_are_frozen_when_they_are_sent():
    offered, ran = ["12A", "12B"], []
    toolbox = Toolbox("t")

    def seats() -> Elicit:
        ran.append("seats")
        return Elicit("Which seat?", choices=offered)

    @toolbox.tool
    @needs_input(seat=seats)
    def book(seat: str) -> str:
        return seat

    machine = begin(toolbox, "book")
    shown = play(machine)
    assert shown == NeedInput({"seat": form("Which seat?", seat={"type": "string", "enum": ["12A", "12B"]})})
    offered[:] = ["1A"]
    machine = again(machine, {"seat": accept(seat="1A")})
    event = play(machine)
    assert isinstance(event, NeedInput)
    assert event.requests["seat"]["params"]["requestedSchema"] == shown.requests["seat"]["params"]["requestedSchema"]  # type: ignore[index, union-attr]
    assert result(again(machine, {"seat": accept(seat="12B")})) == "12B"
    assert ran == ["seats"]


def test_promise_4_choices_with_labels_come_back_as_values():
    toolbox = Toolbox("t")

    def floors() -> Elicit:
        return Elicit("Which floor?", choices={"1": "First", "2": "Second"})

    @toolbox.tool
    @needs_input(floor=floors)
    def go(floor: int) -> str:
        return repr(floor)

    machine = begin(toolbox, "go")
    play(machine)
    assert asked(again(machine, {"floor": accept(floor="First")})) == ["floor"]
    assert result(again(machine, {"floor": accept(floor="2")})) == "2"


def test_promise_4_many_choices_are_known_only_at_run_time():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(topics=lambda topic_names: Elicit("Which?", choices=topic_names))
    def survey(topic_names: list[str], topics: list[str]) -> str:
        return "+".join(topics)

    machine = begin(toolbox, "survey", {"topic_names": ["a", "b", "c"]})
    play(machine)
    assert asked(again(machine, {"topics": accept(topics=["a", "d"])})) == ["topics"]
    assert result(again(machine, {"topics": accept(topics=["a", "c"])})) == "a+c"


class Address(BaseModel):
    street: str
    number: int = 1


def test_promise_4_a_function_asks_for_a_form_with_fields():
    toolbox = Toolbox("t")

    @toolbox.tool
    @needs_input(home=lambda: Elicit("Where?", form=Address))
    def move(home: Address) -> str:
        return f"{home.street} {home.number}"

    machine = begin(toolbox, "move")
    play(machine)
    assert asked(again(machine, {"home": accept(number=3)})) == ["home"]
    assert result(again(machine, {"home": accept(street="Elm", number=3)})) == "Elm 3"


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (str, "a text is a value"),
        (str, ""),
        (int, 3),
        (float, 2),
        (Colour, Colour.BLUE),
        (list[Address], [Address(street="Elm")]),
        (dict[str, Any], {"a": [1, {"b": None}]}),
        (str | None, None),
        (str | Refused, Refused("cancel")),
        (bool | Refused, False),
    ],
    ids=str,
)
def test_promise_4_what_a_function_returns_that_is_no_question_is_the_value(annotation: Any, value: object):
    toolbox = Toolbox("t")
    seen: list[object] = []

    def use(x):
        seen.append(x)
        return "used"

    use.__annotations__ = {"x": annotation, "return": str}
    toolbox.tool(needs_input(x=lambda: value)(needs_input(ok=confirm("Go?"))(use)))
    machine = begin(toolbox, "use")
    assert asked(machine) == ["ok"]
    assert result(again(machine, {"ok": YES})) == "used"
    assert seen == [value]
    assert type(seen[0]) is (float if annotation is float else type(value))
    assert seen[0] is not value or isinstance(value, (str, int, Enum, type(None)))


def test_promise_4_a_function_that_refuses_where_it_is_not_admitted_ends_the_call():
    assert "'name'" in failure(begin(greeting(lambda: Refused("decline")), "greet"))


@pytest.mark.parametrize(
    "made",
    [7, None, {1, 2}, confirm("Ok?"), Elicit("Which?", choices=[]), Elicit("Which?", choices=["a", "a"])],
    ids=["wrong type", "nothing", "a set", "a confirm that has nowhere to say no", "no choices", "equal choices"],
)
def test_promise_4_what_a_function_may_not_return_ends_the_call_at_once(made: object):
    assert isinstance(crash(begin(greeting(lambda: made), "greet")), TypeError)


def test_promise_4_a_function_may_be_used_by_two_tools():
    toolbox = Toolbox("t")

    @needs_input(name="Who are you?")
    def login(name: str) -> str:
        return name.upper()

    @toolbox.tool
    @needs_input(login=login)
    def one(login: str) -> str:
        return login

    @toolbox.tool
    @needs_input(who=login)
    def two(who: str) -> str:
        return who

    for tool, key in [("one", "login.name"), ("two", "who.name")]:
        machine = begin(toolbox, tool)
        assert asked(machine) == [key]
        assert result(again(machine, {key: accept(name="ann")})) == "ANN"


MAKERS: list[Callable[[], object]] = [lambda: Elicit("Who?"), lambda: Elicit("Who?", choices=["Ann", "Bob"])]


@pytest.mark.parametrize("made", MAKERS, ids=["text", "choices"])
def test_promise_4_an_answer_under_a_kept_question_goes_through_the_form_that_was_sent(made: Callable[[], object]):
    machine = begin(greeting(made), "greet")
    play(machine)
    play(machine := again(machine, {"name": accept(name=["Ann"])}))
    assert list(machine.progress.open) == ["name"]
    assert machine.progress.misfits == {"name": 1}
    assert result(again(machine, {"name": accept(name="Ann")})) == "Hello Ann"
