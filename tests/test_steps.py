"""`read_step`: input functions, aliases, pins, and what is handed on."""

import functools
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from mrtr_tools import Context, Elicit, Refused, Toolbox, confirm, needs_input
from mrtr_tools.steps import read_step
from mrtr_tools.testing import Player
from tests.refusing import refused


@pytest.fixture
def box():
    return Toolbox("steps")


# Input functions


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda nothing: nothing, ["'nothing'", "is no parameter", "known by then: new"]),
        (lambda login: login, ["'login'", "asked later or together with it"]),
        (lambda reason: reason, ["'reason'", "asked later or together with it"]),
        (lambda later: later, ["'later'", "asked later or together with it"]),
    ],
)
def test_an_input_function_over_what_is_not_known_by_then_is_refused(box, function, words):
    """Promise 2."""
    with refused("rename", "'login'", *words):

        @box.tool
        @needs_input(login=function, reason="Why?")
        @needs_input(later="And then?")
        def rename(new: str, login: str, reason: str, later: str) -> str: ...


class Asker:
    def __call__(self, new: str) -> str:
        return new


@pytest.mark.parametrize("function", [len, Asker, Asker(), str.upper])
def test_an_input_function_that_is_no_function_is_refused(box, function):
    with refused("not a function or method"):

        @box.tool
        @needs_input(login=function)
        def rename(new: str, login: str) -> str: ...


def test_an_input_function_that_is_a_generator_is_refused(box):
    def suggest(new: str):
        yield new

    with refused("suggest", "generator"):

        @box.tool
        @needs_input(login=suggest)
        def rename(new: str, login: str) -> str: ...


def test_an_input_of_an_input_function_is_its_own_parameter(box):
    @needs_input(code="The code?")
    def signed_in() -> str: ...

    with refused("signed_in", "'login.code'", "is no parameter", "code: str"):

        @box.tool
        @needs_input(login=signed_in)
        def rename(login: str) -> str: ...


def test_a_text_of_an_input_function_may_name_only_its_own_parameters(box):
    @needs_input(code="The code for {new}?")
    def signed_in(code: str) -> str: ...

    with refused("signed_in", "'new'", "is no parameter"):

        @box.tool
        @needs_input(login=signed_in)
        def rename(new: str, login: str) -> str: ...


def test_an_input_function_may_be_a_lambda_a_method_or_a_partial(box):
    class Directory:
        def find(self, new: str) -> str:
            return f"method {new}"

    def suggest(new: str, prefix: str) -> str:
        return f"{prefix} {new}"

    @box.tool
    @needs_input(a=lambda new: f"lambda {new}", b=Directory().find, c=functools.partial(suggest, prefix="partial"))
    def rename(new: str, a: str, b: str, c: str) -> str:
        return f"{a}, {b}, {c}"

    assert Player(box).play("rename", {"new": "x"}).text == "lambda x, method x, partial x"


def test_an_input_function_takes_the_context_and_its_own_defaults(box):
    async def suggest(ctx: Context, new: str, sep: str = "+") -> str:
        return f"{new}{sep}{ctx.round}"

    @box.tool
    @needs_input(login=suggest)
    def rename(new: str, login: str) -> str:
        return login

    assert Player(box).play("rename", {"new": "x"}).text == "x+0"


def test_a_text_that_an_input_function_returns_is_the_value(box):
    """Security 6: never a template."""

    @box.tool
    @needs_input(login=lambda: "{new}")
    def rename(new: str, login: str) -> str:
        return login

    assert Player(box).play("rename", {"new": "x"}).text == "{new}"


def test_an_input_that_no_form_shows_may_come_from_a_function(box):
    class Price(BaseModel):
        amount: dict[str, list[int]]

    @box.tool
    @needs_input(price=lambda: Price(amount={"EUR": [3]}))
    @needs_input(ok=confirm("Pay {price.amount}?"))
    def pay(price: Price) -> str:
        return str(price.amount)

    played = Player(box).play("pay", ok=True)

    assert played.text == "{'EUR': [3]}"
    assert played.messages == {"ok": "Pay {'EUR': [3]}?"}


def test_an_input_of_an_input_function_has_a_path_as_its_name(box):
    @needs_input(user="Who?")
    @needs_input(code="The code, {user}?")
    def signed_in(user: str, code: Annotated[int, Field(alias="theCode")]) -> str:
        return f"{user}/{code}"

    @box.tool
    @needs_input(login=signed_in)
    def rename(login: str) -> str:
        return login

    assert set(box.tools["rename"].step.inputs) == {"login", "login.user", "login.code"}
    played = Player(box).play("rename", **{"login.user": "ann", "login.code": 7})
    assert played.text == "ann/7"
    assert played.questions == ["login.user", "login.code"]


def test_input_functions_that_ask_for_each_other_are_refused(box):
    def first(second: str) -> str: ...

    def other(first: str) -> str: ...

    needs_input(second=other)(first)
    needs_input(first=first)(other)

    with refused("first"):
        box.tool(first)


def test_one_input_function_serves_two_inputs_of_a_step(box):
    @needs_input(user="Who?")
    def login(user: str) -> str:
        return user

    @box.tool
    @needs_input(buyer=login, seller=login)
    def trade(buyer: str, seller: str) -> str:
        return f"{buyer} {seller}"

    assert Player(box).play("trade", **{"buyer.user": "ann", "seller.user": "bob"}).text == "ann bob"


# What a step is told by then


def test_values_are_handed_on_as_new_json():
    class Flight(BaseModel):
        price: int = Field(alias="Price")

    def purchase(flight: Flight, answer: str | Refused, seats: set[int], note: str = "") -> str: ...

    step = read_step(purchase, "purchase")

    assert step.hand_on({"flight": Flight(Price=3), "answer": Refused("cancel"), "seats": {1}}) == {
        "flight": {"price": 3},
        "answer": [None, "cancel"],
        "seats": [1],
        "note": "",  # so that another build's default does not take its place
    }
    assert step.carried["answer"].load([None, "cancel"]) == Refused("cancel")
    assert step.carried["answer"].load(["yes"]) == "yes"


@pytest.mark.parametrize("data", ["yes", [], [None], [None, "maybe"], [1], None, {}])
def test_what_may_be_refused_is_read_back_strictly(data):
    step = read_step(_refusable, "refusable")
    with pytest.raises(ValueError, match=r"."):
        step.carried["answer"].load(data)


def _refusable(answer: str | Refused) -> str: ...


# Pins


def _pin(message="Who?", annotation: object = str, *, name="rename", source=None, aliases=()):
    def rename(login) -> str: ...

    rename.__annotations__["login"] = annotation
    step = read_step(needs_input(login=source or message)(rename), name, aliases=aliases)
    return step.inputs["login"]


def test_a_question_is_pinned_by_step_kind_text_and_form():
    """Promise 4: reworded or reshaped while open, it is asked again."""
    pins = [
        _pin(),
        _pin("Who are you?"),
        _pin(annotation=int),
        _pin(annotation=Annotated[str, Field(title="Login")]),
        _pin(annotation=Literal["a", "b"]),
        _pin(annotation=Literal["b", "a"]),
        _pin(name="other"),
        _pin(source=lambda: "ann"),
        _pin(source=confirm("Who?"), annotation=bool | Refused),
        _pin(annotation=bool | Refused),
    ]

    assert len({next(iter(item.pins)) for item in pins}) == len(pins)
    assert _pin().pins == _pin().pins


def test_a_question_keeps_its_pin_under_an_older_name_of_its_step():
    assert set(_pin().pins) < set(_pin(name="new", aliases=("rename",)).pins)


def test_an_elicit_without_more_is_the_same_question_as_its_text():
    assert _pin().pins == _pin(source=Elicit("Who?")).pins
